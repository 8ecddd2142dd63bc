// SPDX-License-Identifier: BSD-3-Clause
// Lists of values in memory, cut into what can be copied at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tonari {

// The place of values: the program's own ones, its ghosts, or memory of the library.
enum class ValueSpace : std::uint8_t { owned, ghosts, scratch };

struct ValuePlace {
  ValueSpace space;
  std::int64_t at;  // counted in indices, each with all its components
  // for what arrives: it is the value; else it is combined with what is there
  bool sets = true;
};

// Neighbors in a list that are in one space: consecutive ones, or single ones.
struct IndexPiece {
  ValueSpace space;
  bool sets;
  std::int64_t at;  // the first, or what offsets count from
  std::int64_t count;
  std::int64_t offsets;  // into IndexList::offsets, or -1: consecutive
};

class IndexList {
 public:
  IndexList() = default;
  explicit IndexList(std::span<const ValuePlace> places);

  std::int64_t count() const { return count_; }
  std::span<const IndexPiece> pieces() const { return pieces_; }
  std::span<const std::int32_t> offsets(const IndexPiece& piece) const {
    return {offsets_.data() + piece.offsets, static_cast<std::size_t>(piece.count)};
  }
  // The space of all values, if they lie there in a few runs at regular distances: one behind the
  // other, or as the faces of a box do. A channel copies these as fast as gather_values does.
  std::optional<ValueSpace> regular() const;

 private:
  void add_single(const ValuePlace& place);

  std::int64_t count_ = 0;
  std::vector<IndexPiece> pieces_;
  std::vector<std::int32_t> offsets_;
};

// `to` gets values one behind the other; `width` is the size of a value in bytes.
void gather_values(std::byte* to, const std::byte* from, std::span<const std::int32_t> offsets,
                   std::size_t width);
void scatter_values(std::byte* to, const std::byte* from, std::span<const std::int32_t> offsets,
                    std::size_t width);

}  // namespace tonari
