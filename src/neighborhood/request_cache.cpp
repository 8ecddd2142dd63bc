// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/request_cache.hpp"

#include <algorithm>

#include "request/prepared.hpp"

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

std::array<bool, RequestCache::places> RequestCache::idle_matches(Collective collective,
                                                                  std::uint64_t settings,
                                                                  const Binding& binding) const {
  std::array<bool, places> matches{};
  for (std::size_t k = 0; k < places; ++k) {
    const Entry& e = entries_[k];
    const bool idle = e.prepared && e.prepared.use_count() == 1 && !e.prepared->running;
    matches[k] = idle && e.key.collective == collective && e.key.settings == settings &&
                 same_blocks(e.key.binding, binding);
  }
  return matches;
}

std::shared_ptr<Prepared> RequestCache::take(std::size_t place) {
  entries_[place].taken = ++now_;
  return entries_[place].prepared;
}

void RequestCache::put(Key key, std::shared_ptr<Prepared> prepared) {
  Entry& oldest = *std::ranges::min_element(entries_, {}, &Entry::taken);
  oldest = {std::move(key), std::move(prepared), ++now_};
}

}  // namespace tonari
