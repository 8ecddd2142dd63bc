// SPDX-License-Identifier: BSD-3-Clause
#include "vector/index_list.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "copy/moves.hpp"

namespace tonari {
namespace {

constexpr std::size_t long_run = 16;  // consecutive values that are worth a copy of their own

bool together_with(const ValuePlace& a, const ValuePlace& b) {
  return a.space == b.space && a.sets == b.sets;
}

// One copy per value, of a size that the compiler knows for the usual ones.
template <class Copy>
void for_width(std::size_t width, Copy copy) {
  switch (width) {
    case 4:
      return copy(std::integral_constant<std::size_t, 4>());
    case 8:
      return copy(std::integral_constant<std::size_t, 8>());
    case 16:
      return copy(std::integral_constant<std::size_t, 16>());
    case 24:
      return copy(std::integral_constant<std::size_t, 24>());
    case 32:
      return copy(std::integral_constant<std::size_t, 32>());
    default:
      return copy(width);
  }
}

}  // namespace

IndexList::IndexList(std::span<const ValuePlace> places)
    : count_(static_cast<std::int64_t>(places.size())) {
  for (std::size_t i = 0; i < places.size();) {
    std::size_t end = i + 1;
    while (end < places.size() && together_with(places[i], places[end]) &&
           places[end].at == places[end - 1].at + 1)
      ++end;
    const bool alone = (i == 0 || !together_with(places[i], places[i - 1])) &&
                       (end == places.size() || !together_with(places[i], places[end]));
    if (alone || end - i >= long_run)
      pieces_.push_back(
          {places[i].space, places[i].sets, places[i].at, static_cast<std::int64_t>(end - i), -1});
    else
      for (std::size_t k = i; k < end; ++k) add_single(places[k]);
    i = end;
  }
}

std::optional<ValueSpace> IndexList::regular() const {
  constexpr std::int64_t least_per_run = 8;
  const auto elsewhere = [&](const IndexPiece& piece) { return piece.space != pieces_[0].space; };
  if (pieces_.empty() || std::ranges::any_of(pieces_, elsewhere)) return std::nullopt;
  Layout places;  // of values of one byte
  for (const IndexPiece& piece : pieces_)
    if (piece.offsets < 0)
      places.add(piece.at, static_cast<std::size_t>(piece.count));
    else
      for (const std::int32_t offset : offsets(piece)) places.add(piece.at + offset, 1);
  const auto runs = static_cast<std::int64_t>(places.runs().size());
  if (runs > 1 && count_ < runs * least_per_run) return std::nullopt;
  return pieces_[0].space;
}

void IndexList::add_single(const ValuePlace& place) {
  const auto fits = [&](const IndexPiece& piece) {
    const std::int64_t offset = place.at - piece.at;
    return piece.offsets >= 0 && piece.space == place.space && piece.sets == place.sets &&
           offset >= std::numeric_limits<std::int32_t>::min() &&
           offset <= std::numeric_limits<std::int32_t>::max();
  };
  if (pieces_.empty() || !fits(pieces_.back()))
    pieces_.push_back(
        {place.space, place.sets, place.at, 0, static_cast<std::int64_t>(offsets_.size())});
  offsets_.push_back(static_cast<std::int32_t>(place.at - pieces_.back().at));
  ++pieces_.back().count;
}

namespace {

// copy(packed, at): a value's places in bytes, `packed` among those one behind the other, `at` from
// where offsets count. Four at a time: counting and comparing would take as many instructions as
// copying.
template <class Copy>
inline void each_value(std::span<const std::int32_t> offsets, std::size_t width, Copy copy) {
  const auto one = [&](std::size_t k) {
    copy(k * width, std::ptrdiff_t{offsets[k]} * static_cast<std::ptrdiff_t>(width));
  };
  const std::size_t fours = offsets.size() & ~std::size_t{3};
  std::size_t k = 0;
  for (; k < fours; k += 4) one(k), one(k + 1), one(k + 2), one(k + 3);
  for (; k < offsets.size(); ++k) one(k);
}

}  // namespace

void gather_values(std::byte* to, const std::byte* from, std::span<const std::int32_t> offsets,
                   std::size_t width) {
  for_width(width, [&](auto size) {
    each_value(offsets, size, [&](std::size_t packed, std::ptrdiff_t at) {
      std::memcpy(to + packed, from + at, size);
    });
  });
}

void scatter_values(std::byte* to, const std::byte* from, std::span<const std::int32_t> offsets,
                    std::size_t width) {
  for_width(width, [&](auto size) {
    each_value(offsets, size, [&](std::size_t packed, std::ptrdiff_t at) {
      std::memcpy(to + at, from + packed, size);
    });
  });
}

}  // namespace tonari
