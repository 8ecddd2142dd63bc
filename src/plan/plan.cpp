// SPDX-License-Identifier: BSD-3-Clause
#include "plan/plan.hpp"

#include <algorithm>
#include <unordered_map>

namespace tonari {

std::vector<int> Plan::levels() const {
  // Successors always have larger numbers, so one sweep in order is topological.
  std::vector<int> level(size(), 0);
  std::unordered_map<int, int> sent_at;  // tag -> level
  for (OpId op = 0; op < size(); ++op) {
    const Operation& o = operations_[op];
    if (o.kind != Kind::copy) ++level[op];
    if (o.kind == Kind::send || o.kind == Kind::exchange) sent_at[o.tag] = level[op];
    if (const auto mine = sent_at.find(o.tag); o.kind == Kind::recv && mine != sent_at.end())
      level[op] = std::max(level[op], mine->second);
    for (OpId next : successors(op)) level[next] = std::max(level[next], level[op]);
  }
  return level;
}

Plan Plan::with_scratch_received(std::uint32_t first) const {
  Plan plan = *this;
  for (Slice& s : plan.slices_)
    if (s.buffer == Buffer::scratch) s = {Buffer::recv, first + s.block};
  plan.scratch_like_.clear();
  return plan;
}

int Plan::depth() const {
  const std::vector<int> level = levels();
  return level.empty() ? 0 : *std::max_element(level.begin(), level.end());
}

}  // namespace tonari
