// Agreement on block sizes: what one rank sends another must expect, and ranks that forward a block must know its size.
#pragma once

#include <vector>

#include "channels/arguments.hpp"
#include "engine/context.hpp"

namespace tonari {

// Collective. The size of every block, the same on all ranks that send or receive it (allgathers and graphs: one entry, for all blocks); empty if ranks differ but
// every block's two ends agree. Throws Errc::mismatch (naming receiver, block, sender and both sizes) on all ranks if two ends disagree. quick: all sizes on this
// rank were found equal to those of all ranks, and equal at both ends, so nothing has to be exchanged.
std::vector<Bytes> agree_on_sizes(Context& context, Collective collective, const Binding& binding, bool quick);

// Collective. The same for blocks whose two ends are known to agree.
std::vector<Bytes> common_sizes(Context& context, Collective collective, const Binding& binding);

// Bytes per block, the same on all ranks; collective where sizes are not common.
double average_size(Context& context, const std::vector<Bytes>& common, const Binding& binding);

// A number that is equal on all ranks exactly if the sizes of all blocks are, and whether the sizes at both ends are.
struct SizePrint {
  std::uint64_t hash;
  bool ends_match;
};
SizePrint size_print(const Place& place, Collective collective, const Binding& binding);

}  // namespace tonari
