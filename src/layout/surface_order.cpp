// SPDX-License-Identifier: BSD-3-Clause
#include "layout/surface_order.hpp"

#include <span>

#include "base/error.hpp"

namespace tonari {
namespace {

#include "layout/surface_orders.inc"

constexpr int power(int base, int exponent) {
  int result = 1;
  while (exponent-- > 0) result *= base;
  return result;
}

constexpr int zero = 1;  // the digit; 0 is -, 2 is +
constexpr std::string_view signs = "-0+";

}  // namespace

void check_surface_dims(int dims) {
  if (dims < 1 || dims > most_surface_dims)
    fail(Errc::argument, "a grid has 1 to ", most_surface_dims, " dimensions, not ", dims);
}

Region center(int dims) { return power(3, dims) / 2; }

std::string to_text(Region region, int dims) {
  std::string text(static_cast<std::size_t>(dims), '0');
  for (auto sign = text.rbegin(); sign != text.rend(); ++sign, region /= 3)
    *sign = signs[static_cast<std::size_t>(region % 3)];
  return text;
}

Region parse_region(std::string_view text) {
  if (text.find_first_not_of(signs) != text.npos)
    fail(Errc::argument, "'", text, "' is no region: write a sign for each dimension, as in +0-");
  check_surface_dims(static_cast<int>(text.size()));
  Region region = 0;
  for (char sign : text) region = 3 * region + static_cast<Region>(signs.find(sign));
  if (region == center(static_cast<int>(text.size())))
    fail(Errc::argument, "'", text, "' is no region: all its signs are 0");
  return region;
}

bool needs(Region neighbor, Region region, int dims) {
  for (; dims > 0; --dims, neighbor /= 3, region /= 3)
    if (neighbor % 3 != zero && neighbor % 3 != region % 3) return false;
  return true;
}

int shared_signs(Region a, Region b, int dims) {
  int shared = 0;
  for (; dims > 0; --dims, a /= 3, b /= 3) shared += a % 3 == b % 3 && a % 3 != zero;
  return shared;
}

std::vector<SurfaceRun> runs(const SurfaceOrder& order, Region neighbor) {
  std::vector<SurfaceRun> runs;
  const int size = static_cast<int>(order.regions.size());
  for (int i = 0; i < size; ++i) {
    if (!needs(neighbor, order.regions[static_cast<std::size_t>(i)], order.dims)) continue;
    if (runs.empty() || runs.back().first + runs.back().count < i) runs.push_back({i, 0});
    ++runs.back().count;
  }
  return runs;
}

// A region with k signs is needed by 2^k - 1 neighbors; a neighbor that needs a region and also the
// one before it saves a message.
int messages(const SurfaceOrder& order) {
  int count = basic_messages(order.dims);
  for (std::size_t i = 1; i < order.regions.size(); ++i)
    count -= (1 << shared_signs(order.regions[i - 1], order.regions[i], order.dims)) - 1;
  return count;
}

int neighbors(int dims) { return power(3, dims) - 1; }

int basic_messages(int dims) { return power(5, dims) - power(3, dims); }

// Eq. 1, (2 * 5^d + (-1)^d + 3) / 6. Why no order has fewer (the paper's proof is not printed; this
// one also says which orders reach it):
//
// Call the number of signs of a region its level. Two regions next to each other, of levels k <= l,
// save 2^k - 1 messages at most if k < l, and 2^(k-1) - 1 if k = l. Share the saving between the
// two as y(k) and y(l), where y(1) = 0 and y(k + 1) = 2^k - 1 - y(k): 0, 1, 2, 5, 10. Then y(k) +
// y(l) is never less than what the two save. Every region has at most two others beside it, so an
// order saves at most twice the sum of y(level) over all regions: for odd d that is the formula.
// For even d the formula has one message more, as in every order something is lost: if nothing
// were, regions beside each other would always be one level apart, or both of level 1, and both
// ends of the order of level 1, so that more regions had odd than even levels; but where d is even
// there are as many of either.
//
// What reaches it, then, steps between regions that differ in one sign that is 0 in one of them: a
// walk over the 3^d grid without its center, which surface_search.hpp looks for.
int least_messages(int dims) { return (2 * power(5, dims) + (dims % 2 == 0 ? 1 : -1) + 3) / 6; }

SurfaceOrder surface_order(int dims) {
  check_surface_dims(dims);
  const std::span<const std::uint8_t> all(surface_orders);
  std::size_t first = 0;
  for (int d = 1; d < dims; ++d) first += static_cast<std::size_t>(neighbors(d));
  const auto regions = all.subspan(first, static_cast<std::size_t>(neighbors(dims)));
  return {dims, {regions.begin(), regions.end()}};
}

}  // namespace tonari
