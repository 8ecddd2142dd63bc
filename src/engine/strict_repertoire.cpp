#include "engine/strict_repertoire.hpp"

#include <set>

#include "engine/agree.hpp"

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

// Each rank looks at its own plans only, whatever algorithm made them; a scheme is fine if all
// ranks find it fine. All ranks know the same schemes.
void StrictRepertoire::look_at(const std::vector<SchemePtr>& schemes) {
  std::vector<SchemePtr> fresh;
  for (const SchemePtr& scheme : schemes)
    if (!known_.contains(scheme)) fresh.push_back(scheme);
  if (fresh.empty()) return;
  std::vector<Ballot> fine(fresh.size(), 0);
  std::map<SchemePtr, bool> found;  // kept by all ranks or by none
  const std::optional<Error> error = caught([&] {
    for (const SchemePtr& scheme : fresh) found.emplace(scheme, false);
    for (std::size_t k = 0; k < fresh.size(); ++k)
      fine[k] = follows_edges(fresh[k]->plan(vertex_.rank, {Storage::separate, 0}), vertex_);
  });
  const std::vector<bool> same = agree(comm_, error, fine);
  for (std::size_t k = 0; k < fresh.size(); ++k) found.at(fresh[k]) = fine[k].value && same[k];
  known_.merge(found);
}

std::vector<SchemePtr> StrictRepertoire::schemes(const std::string& algorithm,
                                                 Collective collective, double block_bytes,
                                                 std::string& reason) {
  const std::vector<SchemePtr> all = inner_->schemes(algorithm, collective, block_bytes, reason);
  look_at(all);
  std::vector<SchemePtr> kept;
  for (const SchemePtr& scheme : all)
    if (known_.at(scheme)) kept.push_back(scheme);
  if (kept.empty() && !all.empty())
    reason = "it sends to ranks that are no neighbors, which cdag_strict_communication rules out";
  return kept;
}

}  // namespace tonari
