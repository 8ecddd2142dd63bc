// SPDX-License-Identifier: BSD-3-Clause
// Every kind of exchange between all ranks, with blocks that differ per exchange, pair of ranks and
// element: what tests/peers/chaos.cpp runs while ranks die and stop.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace tonari::test {

class VerifiedExchange {
 public:
  virtual ~VerifiedExchange() = default;
  // Fills this rank's blocks, and exchanges. Returns the library's code.
  virtual int run(int number) = 0;
  // Of what the last one brought: how many words are wrong.
  virtual long wrong(int number) const = 0;
  // What it is made of, on this rank alone where that may be.
  virtual void free() = 0;
};

// kind: alltoall, ..., allgatherw, each also as once-... and started-...; inplace, general, group,
// sparse, iso; array, mapped, array-reverse (of grids), blocks, blocks-reverse; vector, reverse and
// combine, and the same as one-shot calls: single, single-reverse, single-combine. Null if there is
// none. Collective. Throws NotMade (peers/verified_blocks.hpp).
std::unique_ptr<VerifiedExchange> make_exchange(const std::string& kind, int words);

}  // namespace tonari::test
