// SPDX-License-Identifier: BSD-3-Clause
// Agreement on block sizes: both ends of a message must expect the same size, and ranks that
// forward a block must know its size.
#pragma once

#include <span>
#include <vector>

#include "engine/comm/context.hpp"
#include "neighborhood/size_print.hpp"

namespace tonari {

// Collective, unless what was compared tells the sizes. Returns the size of every block, the same
// on all ranks that send or receive it; allgathers and graphs have one entry for all blocks. The
// result is empty if ranks differ but every block's two ends agree. Throws Errc::mismatch (naming
// receiver, block, sender and both sizes) on all ranks if two ends disagree.
std::vector<Bytes> agree_on_sizes(Context& context, Collective collective, const Binding& binding,
                                  const SizePrint& print, const ComparedSizes& compared);

// The same with their average, and with this rank's edges where sizes differ; or what was promised.
Sizes sizes_of_call(Context& context, Collective collective, const Binding& binding,
                    const SizePrint& print, const ComparedSizes& compared);

// Collective. The same for blocks whose two ends are known to agree.
Sizes sizes_of_equal_ends(Context& context, Collective collective, const Binding& binding);

// Collective, together: makes each price the highest that a rank has. Few of them take one
// agreement.
void raise_to_heaviest(MPI_Comm comm, std::span<double> prices);

}  // namespace tonari
