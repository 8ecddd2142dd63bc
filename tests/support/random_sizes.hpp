// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of random sizes: how long each block is, sides that hold such blocks, and both ways to
// wait for them.
#pragma once

#include "support/oracle.hpp"

namespace tonari::test {

// Block sizes in bytes: multiples of quantum; of block i as its sender has it.
struct Sizes {
  int quantum, most;
  bool equal, by_rank;
  std::uint32_t seed;

  int of(int block, int sender) const {
    if (equal) return quantum * most;
    Random random(seed + 1000u * static_cast<unsigned>(block) +
                  (by_rank ? 7u * static_cast<unsigned>(sender + 1) : 0u));
    return quantum * pick(random, 0, most);
  }
};

inline Sizes random_sizes(Random& random, Operation op, bool may_differ_by_rank) {
  static const int ints[] = {0, 1, 7, 64, 1000, 5000};
  static const int quanta[] = {1, 4, 4, 12, 28};
  Sizes sizes{quanta[pick(random, 0, 4)], 0, form(op) == 0 || gathers(op), false,
              static_cast<std::uint32_t>(random())};
  // large ones less often
  sizes.most = ints[std::min(pick(random, 0, 5), pick(random, 0, 7))] * 4 / sizes.quantum;
  if (may_differ_by_rank && form(op) != 0 && pick(random, 0, 2) == 0)
    sizes.equal = false, sizes.by_rank = true;
  return sizes;
}

inline Side make_side(Random& random, Operation op, bool sends, const std::vector<int>& sizes,
                      int quantum) {
  const auto style = static_cast<Style>(pick(random, 0, styles - 1));
  if (form(op) == 0 || (gathers(op) && sends))
    return regular_side(random, style, static_cast<int>(sizes.size()),
                        sizes.empty() ? quantum : sizes[0]);
  return form(op) == 1 ? v_side(random, style, sizes, quantum) : w_side(random, sizes);
}

// Half of the ranks wait, the others test.
inline int complete(tonari_request request, bool by_test) {
  if (!by_test) return tonari_wait(request);
  for (int flag = 0; !flag;)
    if (const int code = tonari_test(request, &flag)) return code;
  return TONARI_SUCCESS;
}

}  // namespace tonari::test
