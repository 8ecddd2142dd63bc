// SPDX-License-Identifier: BSD-3-Clause
// T(n) is the least time to reach n others. The first message of the best tree then goes to a
// helper that reaches x more of them:
//
//   T(n) = min over x of max(A(x) + T(x), S(x) + T(n - 1 - x))
//
//   root  |S|S|S|...            A = o + (b-1) G + L + o for a message of b bytes
//          \  \  \              S = max(o, g + (b-1) G)
//   helper  --A--|S|S|...
//
// A is the time until the helper may send, and S is the time until the next message may leave. The
// message has b = (x+1) k bytes in a scatter, and k in a broadcast.
//
// The first term rises with x and the second falls, so the minimum is where they cross: T(1) ...
// T(n) take O(n log n).
#include "planners/graphs/loggp_tree.hpp"

#include <algorithm>
#include <cmath>

namespace tonari {

LogGPTree::LogGPTree(Collective collective, const LogGP& machine, double block_bytes)
    : alltoall_(collective == Collective::alltoall), machine_(machine), block_bytes_(block_bytes) {}

double LogGPTree::bytes(std::int64_t blocks) const {
  return (alltoall_ ? static_cast<double>(blocks) : 1.0) * block_bytes_;
}
double LogGPTree::wire(std::int64_t blocks) const {
  return std::max(0.0, bytes(blocks) - 1) * machine_.G;
}
double LogGPTree::step(std::int64_t blocks) const {
  return std::max(machine_.o, machine_.g + wire(blocks));
}

// Bundles are packed and unpacked; single blocks, and the one block of an allgather, are not.
double LogGPTree::arrival(std::int64_t blocks) const {
  const double copies =
      alltoall_ && blocks > 1 ? 2 * (machine_.copy_block + bytes(blocks) * machine_.copy_byte) : 0;
  const double waiting =
      bytes(blocks) > static_cast<double>(machine_.eager) ? machine_.rendezvous : 0;
  return 2 * machine_.o + wire(blocks) + machine_.L + copies + waiting;
}

double LogGPTree::direct(std::int64_t n) const {
  return n > 0 ? static_cast<double>(n - 1) * step(1) + arrival(1) : 0;
}

LogGPTree::Sides LogGPTree::sides(std::int64_t n, std::int64_t x, bool receiver,
                                  double delay) const {
  const std::int64_t blocks = x + receiver;
  return {arrival(blocks) + (x > 0 ? delay + time_[x] : 0), step(blocks) + time_[n - blocks]};
}

LogGPTree::Branch LogGPTree::search(std::int64_t n, std::int64_t most, bool receiver,
                                    double delay) const {
  std::int64_t low = receiver ? 0 : 1, high = std::min(most, n - receiver);
  if (high < low) return {0, direct(n)};
  while (low < high) {  // the least x with which the helper is not done before the rank itself
    const std::int64_t middle = low + (high - low) / 2;
    const Sides s = sides(n, middle, receiver, delay);
    if (s.helper >= s.self)
      high = middle;
    else
      low = middle + 1;
  }
  Branch best{low, sides(n, low, receiver, delay).later()};
  if (low > (receiver ? 0 : 1)) {
    const double before = sides(n, low - 1, receiver, delay).later();
    if (before <= best.time) best = {low - 1, before};
  }
  return best;
}

double LogGPTree::time(std::int64_t n) {
  while (static_cast<std::int64_t>(time_.size()) <= n) {
    const auto next = static_cast<std::int64_t>(time_.size());
    time_.push_back(search(next, next, true, 0).time);
  }
  return time_[n];
}

LogGPTree::Branch LogGPTree::branch(std::int64_t n, std::int64_t most, bool receiver,
                                    double delay) {
  time(n);
  return search(n, most, receiver, delay);
}

// Up to the least n every T is direct, D(n) = (n-1) S(1) + A(1). So a helper that takes x over pays
// if both of these hold:
//
//   A(x+1) + D(x) < D(n)      This means n > x + A(x+1) / S(1), the least of which is that for
//                             x = 1.
//   S(x+1) + D(n-1-x) < D(n)  This means S(x+1) < (x+1) S(1). It holds for every x > 0, or else not
//                             for x = 1: then o counts for one block but not for two, and less for
//                             more.
std::int64_t LogGPTree::least(std::int64_t most) const {
  if (!(step(2) < 2 * step(1))) return 0;
  const double n = std::floor((1 + arrival(2) / step(1)) * (1 + 1e-9)) + 1;
  return n <= static_cast<double>(most) ? static_cast<std::int64_t>(n) : 0;
}

}  // namespace tonari
