// SPDX-License-Identifier: BSD-3-Clause
// The last exchanges that one-shot calls on a neighborhood prepared, for calls that come again.
#pragma once

#include <cstdint>

#include "channels/arguments.hpp"
#include "request/kept.hpp"

namespace tonari {

// Calls are the same if equal bytes lie at equal addresses in equal order. Datatypes are compared
// by layout, not by handle: a handle may have been freed and given to another type.
bool same_blocks(const Binding& a, const Binding& b);

struct CachedCall {
  Collective collective = Collective::alltoall;
  std::uint64_t settings = 0;  // fingerprint
  Binding binding;
};
using RequestCache = Kept<CachedCall>;

// The places of exchanges that were prepared for this and are not in use on this rank.
RequestCache::Votes idle_matches(const RequestCache& cache, Collective collective,
                                 std::uint64_t settings, const Binding& binding);

}  // namespace tonari
