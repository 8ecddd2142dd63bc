// SPDX-License-Identifier: BSD-3-Clause
#include "plan/origins.hpp"

#include <set>

#include "base/error.hpp"

namespace tonari {

// Operations are given in an order in which they could run.
Origins::Origins(const Plan& plan) : plan_(plan) {
  for (OpId op = 0; op < plan.size(); ++op) {
    const Operation& o = plan[op];
    if (o.kind == Kind::exchange) fail(Errc::argument, "its plan swaps blocks in place");
    if (o.kind == Kind::recv)
      for (std::uint32_t k = 0; k < o.slice_count; ++k) write(plan.slices(op)[k], {op, k});
    if (o.kind == Kind::copy)
      for (std::uint32_t k = 0; k < o.slice_count / 2; ++k)
        write(plan.copy_targets(o)[k], of(plan.copy_sources(o)[k]));
  }
}

void Origins::write(Slice slice, Origin origin) {
  if (!of_.emplace(std::pair(slice.buffer, slice.block), origin).second)
    fail(Errc::argument, "its plan writes one block twice");
}

Origin Origins::of(Slice slice) const {
  if (slice.buffer == Buffer::send) return {foreign, slice.block};
  const auto found = of_.find({slice.buffer, slice.block});
  if (found == of_.end()) fail(Errc::internal, "a plan reads a block that nothing has written");
  return found->second;
}

std::vector<TagOrder> Origins::tag_orders() const {
  std::set<std::pair<std::int32_t, std::int32_t>> orders;
  for (const Operation& o : plan_.operations()) {
    if (o.kind != Kind::send) continue;
    for (const Slice slice : plan_.slices(o))
      if (const Origin origin = of(slice); origin.arrives())
        orders.emplace(plan_[origin.recv].tag, o.tag);
  }
  std::vector<TagOrder> list;
  for (const auto& [before, after] : orders) list.push_back({before, after});
  return list;
}

}  // namespace tonari
