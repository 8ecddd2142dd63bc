// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/request_cache.hpp"

#include <algorithm>

namespace tonari {
namespace {

bool same_block(const Block& a, const Block& b) {
  if (a.bytes != b.bytes || (a.bytes > 0 && a.address != b.address) || !a.layout != !b.layout)
    return false;
  return !a.layout || a.layout == b.layout ||
         std::ranges::equal(a.layout->runs(), b.layout->runs());
}

}  // namespace

bool same_blocks(const Binding& a, const Binding& b) {
  return std::ranges::equal(a.send, b.send, same_block) &&
         std::ranges::equal(a.recv, b.recv, same_block);
}

RequestCache::Votes idle_matches(const RequestCache& cache, Collective collective,
                                 std::uint64_t settings, const Binding& binding) {
  return cache.votes([&](const CachedCall& call, const std::shared_ptr<Prepared>& prepared) {
    return prepared.use_count() == 1 && !prepared->running() && call.collective == collective &&
           call.settings == settings && same_blocks(call.binding, binding);
  });
}

}  // namespace tonari
