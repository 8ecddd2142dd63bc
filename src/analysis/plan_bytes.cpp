// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/plan_bytes.hpp"

#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "planners/graphs/volumes.hpp"

namespace tonari {
namespace {

// Scratch blocks have the sizes of what arrives in them, which follows from the senders' messages.
class Scratch {
 public:
  Scratch(std::span<const Vertex> vertices, Collective collective, std::span<const Plan> plans)
      : vertices_(vertices), plans_(plans) {
    for (const Vertex& v : vertices) own_.emplace_back(v, collective);
    for (std::size_t r = 0; r < plans.size(); ++r) {
      sizes_.emplace_back(plans[r].scratch_like().size());
      for (OpId op = 0; op < plans[r].size(); ++op)
        if (const Operation& o = plans[r][op]; o.kind == Kind::send)
          sends_[{static_cast<int>(r), o.peer, o.tag}] = op;
    }
    while (learn()) {
    }
  }

  std::uint64_t bytes(std::size_t r, Slice s) const { return size(r, s).value_or(0); }

 private:
  std::optional<std::uint64_t> size(std::size_t r, Slice s) const {
    if (s.buffer == Buffer::send) return own_[r](s.block);
    if (s.buffer == Buffer::scratch) return sizes_[r][s.block];
    const std::int32_t source = vertices_[r].sources[s.block];
    return source < 0 ? 0 : own_[source](vertices_[r].origins[s.block]);
  }

  // One hop of every block; false if all is known.
  bool learn() {
    bool more = false;
    for (std::size_t r = 0; r < plans_.size(); ++r)
      for (OpId op = 0; op < plans_[r].size(); ++op) {
        const Operation& o = plans_[r][op];
        if (o.kind != Kind::recv) continue;
        const auto into = plans_[r].slices(op);
        const auto from = plans_[o.peer].slices(sends_.at({o.peer, static_cast<int>(r), o.tag}));
        for (std::size_t k = 0; k < into.size(); ++k) {
          if (into[k].buffer != Buffer::scratch || sizes_[r][into[k].block]) continue;
          sizes_[r][into[k].block] = size(o.peer, from[k]);
          more = more || sizes_[r][into[k].block];
        }
      }
    return more;
  }

  std::span<const Vertex> vertices_;
  std::span<const Plan> plans_;
  std::vector<OwnBytes> own_;                                     // per vertex
  std::vector<std::vector<std::optional<std::uint64_t>>> sizes_;  // per plan and scratch block
  std::map<std::tuple<int, int, int>, OpId> sends_;               // from, to, tag
};

}  // namespace

std::vector<BlockBytes> plan_bytes(std::span<const Vertex> vertices, Collective collective,
                                   std::span<const Plan> plans) {
  const auto scratch = std::make_shared<const Scratch>(vertices, collective, plans);
  std::vector<BlockBytes> all;
  for (std::size_t r = 0; r < plans.size(); ++r)
    all.emplace_back([scratch, r](Slice s) { return scratch->bytes(r, s); });
  return all;
}

}  // namespace tonari
