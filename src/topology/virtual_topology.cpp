// SPDX-License-Identifier: BSD-3-Clause
#include "topology/virtual_topology.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "base/error.hpp"

namespace tonari {
namespace {

// Ascending sizes whose product is `ranks`, the largest at most twice the smallest, with the least
// sum; empty if there are none.
class Factors {
 public:
  std::vector<int> find(int ranks, int n) {
    extend(ranks, n, 2);
    return best_;
  }

 private:
  void extend(int rest, int n, int least) {
    if (n == 1) {
      if (rest < least || rest > 2 * (sizes_.empty() ? rest : sizes_.front())) return;
      sizes_.push_back(rest);
      if (best_.empty() || sum(sizes_) < sum(best_)) best_ = sizes_;
      sizes_.pop_back();
      return;
    }
    for (int size = least;
         std::pow(size, n) <= rest && (sizes_.empty() || size <= 2 * sizes_.front()); ++size) {
      if (rest % size != 0) continue;
      sizes_.push_back(size);
      extend(rest / size, n - 1, size);
      sizes_.pop_back();
    }
  }
  static int sum(const std::vector<int>& sizes) {
    int all = 0;
    for (int size : sizes) all += size;
    return all;
  }
  std::vector<int> sizes_, best_;
};

int room(int ranks, std::int64_t layer) { return static_cast<int>((ranks + layer - 1) / layer); }

// The sizes are s + 1 as rarely as possible, then s, and the last one is cut to what is needed. So
// only the last layer of the last dimension is not full.
std::vector<int> roomy(int ranks, int n) {
  int s = std::max(2, static_cast<int>(std::pow(ranks, 1.0 / n)));
  while (s > 2 && std::pow(s, n) > ranks) --s;
  std::vector<int> sizes(static_cast<std::size_t>(n), s);
  double points = std::pow(s, n);
  for (int k = 0; k < n && points < ranks; ++k) {
    points = points / s * (s + 1);
    ++sizes[k];
  }
  std::int64_t layer = 1;
  for (int k = 0; k + 1 < n; ++k) layer *= sizes[k];
  sizes.back() = room(ranks, layer);
  return sizes;
}

void check_sizes(int ranks, std::span<const int> sizes) {
  std::int64_t points = 1;
  for (int size : sizes) {
    if (size < 1)
      fail(Errc::argument, "a virtual topology with a dimension of size ", size,
           ": give sizes of at least 1");
    if (points <= ranks) points *= size;
  }
  const std::int64_t layer = sizes.empty() ? 1 : points / sizes.back();
  if (points < ranks || (points > ranks && (sizes.empty() || points - layer >= std::max(ranks, 1))))
    fail(Errc::argument, "a virtual topology with ", points, " or more points for ", ranks,
         " ranks: there must be a point for every rank, and a rank in ",
         "every layer of the last dimension");
}

}  // namespace

int most_dimensions(int ranks) {
  return ranks < 4 ? 1 : std::bit_width(static_cast<unsigned>(ranks)) - 1;
}

int mesh_dimensions(std::string_view name) {
  if (!name.starts_with(mesh_prefix)) return 0;
  int n = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + mesh_prefix.size(), end, n);
  return error == std::errc() && rest == end ? std::max(n, 0) : 0;
}

std::vector<int> virtual_topology(int ranks, int n) {
  if (n < 1 || n > most_dimensions(ranks))
    fail(Errc::argument, "a virtual topology of ", n, " dimensions for ", ranks,
         " ranks: give 1 to ", most_dimensions(ranks));
  if (n == 1) return {std::max(ranks, 1)};
  const std::vector<int> exact = Factors().find(ranks, n);
  return exact.empty() ? roomy(ranks, n) : std::vector<int>(exact.rbegin(), exact.rend());
}

VirtualTopology::VirtualTopology(int ranks, std::span<const int> sizes)
    : ranks_(ranks), sizes_(sizes.begin(), sizes.end()) {
  check_sizes(ranks, sizes);
  std::int32_t stride = 1;
  for (std::int32_t size : sizes_) {
    stride_.push_back(stride);
    stride *= size;
  }
}

}  // namespace tonari
