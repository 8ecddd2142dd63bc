// SPDX-License-Identifier: BSD-3-Clause
#include "payload.hpp"

#include <cstdio>

namespace conformance {
namespace {

// From the highest bits on: 8 of a mark, 8 of the round, 16 each of rank, block and element.
constexpr std::int64_t mark = 0x5a;

int part(std::int64_t value, int shift) { return static_cast<int>(value >> shift & 0xffff); }

}  // namespace

std::int64_t payload(const Origin& origin) {
  return mark << 56 | std::int64_t{origin.round & 0xff} << 48 | std::int64_t{origin.rank} << 32 |
         std::int64_t{origin.block} << 16 | origin.element;
}

std::string described(std::int64_t value, int round) {
  if (value == untouched) return "nothing";
  char text[120];
  const int from = part(value, 48) & 0xff;
  if (value >> 56 == mark)
    std::snprintf(text, sizeof text, "element %d of block %d of rank %d", part(value, 0),
                  part(value, 16), part(value, 32));
  else
    std::snprintf(text, sizeof text, "%#llx, which nobody has sent",
                  static_cast<unsigned long long>(value));
  const bool other = value >> 56 == mark && from != round;
  return text + (other ? " from exchange " + std::to_string(from) : std::string());
}

}  // namespace conformance
