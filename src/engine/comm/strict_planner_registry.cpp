// SPDX-License-Identifier: BSD-3-Clause
#include "engine/comm/strict_planner_registry.hpp"

#include <set>

#include "engine/wait/agree.hpp"

namespace tonari {
namespace {

bool follows_edges(const Plan& plan, const Vertex& vertex) {
  const std::set<std::int32_t> targets(vertex.targets.begin(), vertex.targets.end()),
      sources(vertex.sources.begin(), vertex.sources.end());
  for (const Operation& op : plan.operations()) {
    const bool sends = op.kind == Kind::send || op.kind == Kind::exchange,
               receives = op.kind == Kind::recv || op.kind == Kind::exchange;
    if ((sends && !targets.contains(op.peer)) || (receives && !sources.contains(op.peer)))
      return false;
  }
  return true;
}

}  // namespace

// Each rank looks at its own plans only, whatever algorithm made them. A variant is allowed if all
// ranks allow it. All ranks know the same variants.
void StrictPlannerRegistry::look_at(const std::vector<VariantPtr>& variants) {
  std::vector<VariantPtr> fresh;
  for (const VariantPtr& variant : variants)
    if (!known_.contains(variant)) fresh.push_back(variant);
  if (fresh.empty()) return;
  std::vector<Ballot> fine(fresh.size(), 0);
  std::map<VariantPtr, bool> found;  // on all ranks or on none
  const std::optional<Error> error = error_of([&] {
    for (const VariantPtr& variant : fresh) found.emplace(variant, false);
    for (std::size_t k = 0; k < fresh.size(); ++k)
      fine[k] = follows_edges(fresh[k]->plan(vertex_.rank, {Storage::separate, 0}), vertex_);
  });
  const std::vector<bool> same = agree(comm_, error, fine);
  for (std::size_t k = 0; k < fresh.size(); ++k) found.at(fresh[k]) = fine[k].value && same[k];
  known_.merge(found);
}

std::vector<VariantPtr> StrictPlannerRegistry::variants(const std::string& algorithm,
                                                        Collective collective, double block_bytes,
                                                        const std::optional<std::string>& named,
                                                        std::string& reason) {
  const std::vector<VariantPtr> all =
      inner_->variants(algorithm, collective, block_bytes, named, reason);
  look_at(all);
  std::vector<VariantPtr> kept;
  for (const VariantPtr& variant : all)
    if (known_.at(variant)) kept.push_back(variant);
  if (kept.empty() && !all.empty())
    reason = "it sends to ranks that are no neighbors, which cdag_strict_communication rules out";
  return kept;
}

}  // namespace tonari
