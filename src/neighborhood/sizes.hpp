// SPDX-License-Identifier: BSD-3-Clause
// Agreement on block sizes: both ends of a message must expect the same size, and ranks that
// forward a block must know its size.
#pragma once

#include <array>
#include <vector>

#include "channels/arguments.hpp"
#include "engine/comm/context.hpp"
#include "engine/wait/agree.hpp"

namespace tonari {

// Collective. Returns the size of every block, the same on all ranks that send or receive it;
// allgathers and graphs have one entry for all blocks. The result is empty if ranks differ but
// every block's two ends agree. Throws Errc::mismatch (naming receiver, block, sender and both
// sizes) on all ranks if two ends disagree. `found` is what SizePrint::common returned; unless it
// is empty, nothing has to be exchanged.
std::vector<Bytes> agree_on_sizes(Context& context, Collective collective, const Binding& binding,
                                  std::vector<Bytes> found);

// Collective. The same for blocks whose two ends are known to agree.
std::vector<Bytes> common_sizes(Context& context, Collective collective, const Binding& binding);

// Bytes per block, the same on all ranks; collective where sizes are not common.
double average_size(Context& context, const std::vector<Bytes>& common, const Binding& binding);

// The part of one agreement (engine/wait/agree.hpp) that tells common sizes without exchanging any.
// Either all blocks have one size, or blocks on a grid have the same sizes by number on all ranks.
class SizePrint {
 public:
  SizePrint() = default;
  // `binding` has the blocks that do not exist as the program gave them: on a mesh they tell what
  // their size is elsewhere.
  SizePrint(const LocalTopology& topology, Collective collective, const Binding& binding);

  static constexpr std::size_t count = 2;
  std::array<Ballot, count> ballots() const { return {one_size_, by_number_}; }
  // The sizes in the form of agree_on_sizes; empty if the ballots do not tell. Both arguments
  // belong to ballots().
  std::vector<Bytes> common(std::array<bool, count> same,
                            std::array<std::uint64_t, count> said) const;

 private:
  Ballot one_size_{0, true}, by_number_{0, true};
  std::size_t entries_ = 1;    // of the result where all blocks have one size
  std::vector<Bytes> listed_;  // by number; empty if this rank's ends differ, and on graphs
};

}  // namespace tonari
