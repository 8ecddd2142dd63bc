// SPDX-License-Identifier: BSD-3-Clause
// Agreement on block sizes: both ends of a message must expect the same size, and ranks that
// forward a block must know its size.
#pragma once

#include <vector>

#include "channels/arguments.hpp"
#include "engine/comm/context.hpp"
#include "engine/wait/agree.hpp"

namespace tonari {

// The part of one agreement (engine/wait/agree.hpp) that tells common sizes without exchanging any.
// Either all blocks have one size, or blocks on a grid have the same sizes by number on all ranks.
struct SizePrint {
  SizePrint() = default;
  // `binding` has the blocks that do not exist as the program gave them: on a mesh they tell what
  // their size is elsewhere.
  SizePrint(const LocalTopology& topology, Collective collective, const Binding& binding);

  Ballot one_size{0, true}, by_number{0, true};
  std::size_t entries = 1;    // of the result where all blocks have one size
  std::vector<Bytes> listed;  // by number; empty if this rank's ends differ, and on graphs
};

// What the agreement says of the two ballots.
struct ComparedSizes {
  bool one_size = false, by_number = false;  // the same on all ranks
  std::uint64_t size = 0;                    // the one
};

// Collective, unless what was compared tells the sizes. Returns the size of every block, the same
// on all ranks that send or receive it; allgathers and graphs have one entry for all blocks. The
// result is empty if ranks differ but every block's two ends agree. Throws Errc::mismatch (naming
// receiver, block, sender and both sizes) on all ranks if two ends disagree.
std::vector<Bytes> agree_on_sizes(Context& context, Collective collective, const Binding& binding,
                                  const SizePrint& print, const ComparedSizes& compared);

// The same with their average; or what was promised.
Sizes sizes_of_call(Context& context, Collective collective, const Binding& binding,
                    const SizePrint& print, const ComparedSizes& compared);

// Collective. The same for blocks whose two ends are known to agree.
Sizes sizes_of_equal_ends(Context& context, Collective collective, const Binding& binding);

}  // namespace tonari
