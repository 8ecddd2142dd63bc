// SPDX-License-Identifier: BSD-3-Clause
#include "vector/lists.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tonari {

std::int64_t length_of(Numbers places, std::int64_t count) {
  std::int64_t length = 0;
  for (std::int64_t k = 0; k < count; ++k)
    length = std::max(length, places[static_cast<std::size_t>(k)] + 1);
  return length;
}

void check_places(Numbers places, std::int64_t count, std::int64_t length, const char* name,
                  const std::string& why) {
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t place = places[static_cast<std::size_t>(k)];
    if (place < 0 || place >= length)
      fail(Errc::argument, "`", name, "`[", k, "] is ", place, "; ", why);
  }
}

std::optional<RepeatedPlace> find_repeat(const std::vector<std::int64_t>& places) {
  std::vector<std::size_t> order(places.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return places[a] != places[b] ? places[a] < places[b] : a < b;
  });
  const auto at = std::ranges::adjacent_find(
      order, [&](std::size_t a, std::size_t b) { return places[a] == places[b]; });
  if (at == order.end()) return std::nullopt;
  return RepeatedPlace{places[at[0]], static_cast<std::int64_t>(at[0]),
                       static_cast<std::int64_t>(at[1])};
}

void check_list(std::int64_t count, const char* count_name, const void* list,
                const char* list_name) {
  if (count < 0) fail(Errc::argument, "`", count_name, "` is ", count, "; it must not be negative");
  if (count > 0 && !list)
    fail(Errc::argument, "`", list_name, "` is NULL, but `", count_name, "` is ", count);
}

}  // namespace tonari
