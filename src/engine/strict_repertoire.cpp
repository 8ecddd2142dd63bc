#include "engine/strict_repertoire.hpp"

#include <set>

namespace tonari {
namespace {

bool follows_edges(const Plan& plan, const Vertex& vertex) {
  const std::set<std::int32_t> targets(vertex.targets.begin(), vertex.targets.end()), sources(vertex.sources.begin(), vertex.sources.end());
  for (const Operation& op : plan.operations())
    if (op.kind != Kind::copy && !(op.kind == Kind::send ? targets : sources).contains(op.peer)) return false;
  return true;
}

}  // namespace

// Each rank looks at its own plan only, whatever algorithm made it.
std::vector<int> StrictRepertoire::follow_edges(const std::vector<SchemePtr>& schemes) {
  std::vector<int> fine;
  bool all_known = true;
  for (const SchemePtr& scheme : schemes) {
    const auto known = known_.find(scheme);
    all_known = all_known && known != known_.end();
    fine.push_back(known != known_.end() ? known->second : follows_edges(scheme->plan(vertex_.rank, {Storage::separate, 0}), vertex_));
  }
  if (all_known) return fine;  // on all ranks: they ask for the same
  all_(fine);
  for (std::size_t k = 0; k < schemes.size(); ++k) known_[schemes[k]] = fine[k];
  return fine;
}

std::vector<SchemePtr> StrictRepertoire::schemes(const std::string& algorithm, Collective collective, double block_bytes, std::string& reason) {
  const std::vector<SchemePtr> all = inner_->schemes(algorithm, collective, block_bytes, reason);
  const std::vector<int> fine = follow_edges(all);
  std::vector<SchemePtr> kept;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (fine[k]) kept.push_back(all[k]);
  if (kept.empty() && !all.empty()) reason = "it sends to ranks that are no neighbors, which cdag_strict_communication rules out";
  return kept;
}

}  // namespace tonari
