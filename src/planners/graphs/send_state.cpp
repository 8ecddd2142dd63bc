// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/send_state.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "planners/graphs/volumes.hpp"

namespace tonari {
namespace {

// of a message: receiver, origin, the stage in which it will arrive with the block, bytes
constexpr std::size_t words_per_parcel = 4;

Word joined(std::int32_t stage, std::uint32_t block) { return Word{stage} << 32 | Word{block}; }

void sort_unique(std::vector<std::int32_t>& ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}

}  // namespace

SendState::SendState(const Vertex& v, Collective collective, double block_bytes)
    : vertex_(&v), alltoall_(collective == Collective::alltoall) {
  const OwnBytes own(v, collective);
  const auto bytes = [&](std::uint32_t i) {
    return v.bytes.empty() ? static_cast<Word>(std::llround(block_bytes))
                           : static_cast<Word>(own(i));
  };
  for (std::uint32_t i = 0; i < v.targets.size(); ++i)
    if (v.targets[i] >= 0 && v.targets[i] != v.rank)
      parcels_.push_back({v.targets[i], {v.rank, alltoall_ ? i : 0}, -1, bytes(i)});
  sort();
  for (std::int32_t source : v.sources)
    if (source >= 0 && source != v.rank) sources_.push_back(source);
  sort_unique(sources_);
}

void SendState::sort() {
  std::sort(parcels_.begin(), parcels_.end());
  // repeated edges of an allgather
  parcels_.erase(std::unique(parcels_.begin(), parcels_.end()), parcels_.end());
  leaves_ = 0;
  for (std::size_t i = 0; i < parcels_.size(); ++i)
    leaves_ += i == 0 || parcels_[i].peer != parcels_[i - 1].peer;
}

std::vector<std::int32_t> SendState::receivers() const {
  std::vector<std::int32_t> all;
  for (const Parcel& p : parcels_) all.push_back(p.peer);
  for (const Bundle& b : bundles_) all.push_back(b.helper);
  sort_unique(all);
  return all;
}

bool SendState::gets(std::int32_t origin) const {
  const auto in = [&](const std::vector<std::int32_t>& list) {
    return std::binary_search(list.begin(), list.end(), origin);
  };
  return origin == vertex_->rank || in(sources_) || in(taken_);
}

namespace {

SendState::Movable lightest_first(SendState::Movable all) {
  all.order.resize(all.leaves.size());
  std::iota(all.order.rbegin(), all.order.rend(), std::size_t{0});
  std::ranges::stable_sort(all.order, {}, [&](std::size_t k) { return all.leaves[k].bytes; });
  all.bytes = {0};
  for (std::size_t k : all.order) all.bytes.push_back(all.bytes.back() + all.leaves[k].bytes);
  return all;
}

}  // namespace

SendState::Movable SendState::movable() const {
  Movable all;
  std::map<BlockId, Word> carried;  // by how many leaves that carry nothing else
  for (std::size_t begin = 0, end; begin < parcels_.size(); begin = end) {
    for (end = begin + 1; end < parcels_.size() && parcels_[end].peer == parcels_[begin].peer;)
      ++end;
    all.leaves.push_back({begin, end, parcels_[begin].peer});
    for (std::size_t i = begin; i < end; ++i)
      all.leaves.back().bytes += static_cast<double>(parcels_[i].bytes);
    if (!alltoall_ && end - begin == 1) ++carried[parcels_[begin].block];
  }
  if (alltoall_) return lightest_first(std::move(all));
  Word most = 0;
  for (const auto& [block, count] : carried)
    if (count > most) all.block = block, most = count;
  std::erase_if(all.leaves, [&](const Movable::Run& run) {
    return run.end - run.begin > 1 || parcels_[run.begin].block != all.block;
  });
  return lightest_first(std::move(all));
}

SendState::Movable::Run SendState::leaf(std::int32_t peer) const {
  const auto before = [](const Parcel& p, std::int32_t rank) { return p.peer < rank; };
  const auto first = std::lower_bound(parcels_.begin(), parcels_.end(), peer, before),
             last = std::lower_bound(first, parcels_.end(), peer + 1, before);
  return {static_cast<std::size_t>(first - parcels_.begin()),
          static_cast<std::size_t>(last - parcels_.begin()), peer};
}

std::int32_t SendState::stage(const Movable::Run& run) const {
  std::int32_t arrived = -1;
  for (std::size_t i = run.begin; i < run.end; ++i)
    arrived = std::max(arrived, parcels_[i].arrived);
  return arrived + 1;
}

// That of a bundle for the helper in stage `least` or later, else `least`.
std::int32_t SendState::bundle_stage(std::int32_t helper, std::int32_t least) const {
  for (const Bundle& b : bundles_)
    if (b.helper == helper && b.stage >= least) return b.stage;
  return least;
}

const Hop* SendState::given(std::int32_t helper, BlockId block) const {
  const auto found = std::find_if(given_.begin(), given_.end(), [&](const Hop& hop) {
    return hop.peer == helper && hop.block == block;
  });
  return found == given_.end() ? nullptr : &*found;
}

SendState::Relation SendState::relation(std::int32_t helper, const Movable& movable) const {
  const Movable::Run own = leaf(helper);
  const auto before = [](const Movable::Run& run, std::int32_t rank) { return run.peer < rank; };
  const auto place = std::lower_bound(movable.leaves.begin(), movable.leaves.end(), helper, before);
  const bool listed = place != movable.leaves.end() && place->peer == helper;
  const bool has_leaf = own.begin < own.end;
  // A bundle whose stage suffices for all that is here takes whatever is given.
  const bool has_bundle = std::any_of(bundles_.begin(), bundles_.end(), [&](const Bundle& b) {
    return b.helper == helper && b.stage >= depth_;
  });
  const bool wanted = std::any_of(parcels_.data() + own.begin, parcels_.data() + own.end,
                                  [&](const Parcel& p) { return p.block == movable.block; });
  const bool goes = wanted || given(helper, movable.block) != nullptr;
  return {static_cast<Word>(movable.leaves.size()) - listed, has_leaf, !has_leaf && !has_bundle,
          !alltoall_ && !goes};
}

std::vector<Word> SendState::give(std::int32_t helper, const Movable& movable, Word x) {
  std::vector<Movable::Run> runs;
  for (std::size_t k : movable.order) {
    if (static_cast<Word>(runs.size()) == x) break;
    if (movable.leaves[k].peer != helper) runs.push_back(movable.leaves[k]);
  }
  const std::size_t given_away = runs.size();
  if (const Movable::Run own = leaf(helper); own.begin < own.end) runs.push_back(own);

  std::int32_t least = 0;
  for (const Movable::Run& run : runs) least = std::max(least, stage(run));
  const Bundle bundle{helper, bundle_stage(helper, least)};
  if (std::find(bundles_.begin(), bundles_.end(), bundle) == bundles_.end())
    bundles_.push_back(bundle);

  std::vector<Word> message;
  for (std::size_t r = runs.size(); r-- > 0;)  // what the helper wants itself goes first
    for (std::size_t i = runs[r].begin; i < runs[r].end; ++i) {
      Parcel& p = parcels_[i];
      const Hop* there = alltoall_ ? nullptr : given(helper, p.block);
      const std::int32_t arrives = there ? there->stage : bundle.stage;
      if (!there) given_.push_back({bundle.stage, helper, p.block});
      if (r < given_away)
        message.insert(message.end(),
                       {p.peer, p.block.origin, joined(arrives, p.block.block), p.bytes});
      p.peer = -1;
    }
  std::erase_if(parcels_, [](const Parcel& p) { return p.peer < 0; });
  leaves_ -= static_cast<Word>(runs.size());
  return message;
}

void SendState::take(std::span<const Word> message) {
  for (; !message.empty(); message = message.subspan(words_per_parcel)) {
    const auto peer = static_cast<std::int32_t>(message[0]),
               origin = static_cast<std::int32_t>(message[1]),
               arrives = static_cast<std::int32_t>(message[2] >> 32);
    parcels_.push_back(
        {peer, {origin, static_cast<std::uint32_t>(message[2])}, arrives, message[3]});
    depth_ = std::max(depth_, arrives + 1);
    if (!alltoall_) taken_.push_back(origin);
  }
  sort_unique(taken_);
  sort();
}

std::vector<Hop> SendState::hops() const {
  std::map<std::int32_t, std::size_t> place;  // of a peer in the list of targets
  for (std::size_t i = 0; i < vertex_->targets.size(); ++i)
    place.try_emplace(vertex_->targets[i], i);
  struct Leaf {
    std::size_t place;
    std::int32_t stage;
    std::size_t begin, end;
  };
  std::vector<Leaf> leaves;
  for (std::size_t begin = 0, end; begin < parcels_.size(); begin = end) {
    for (end = begin + 1; end < parcels_.size() && parcels_[end].peer == parcels_[begin].peer;)
      ++end;
    const auto listed = place.find(parcels_[begin].peer);
    leaves.push_back({listed == place.end() ? vertex_->targets.size() : listed->second,
                      stage({begin, end, 0}), begin, end});
  }
  std::stable_sort(leaves.begin(), leaves.end(),
                   [](const Leaf& a, const Leaf& b) { return a.place < b.place; });
  std::vector<Hop> all = given_;
  for (const Leaf& leaf : leaves)
    for (std::size_t i = leaf.begin; i < leaf.end; ++i)
      all.push_back({leaf.stage, parcels_[i].peer, parcels_[i].block});
  return all;
}

}  // namespace tonari
