// SPDX-License-Identifier: BSD-3-Clause
#include "engine/comm/all_lists.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "mpi/collective.hpp"

namespace tonari {
namespace {

// In one process, planning for so many ranks, and edges of a rank, takes less than meeting them
// does where ranks share cores.
constexpr int most_ranks = 32;
constexpr std::size_t most_words = 4096;

// node, number of targets, of sources, of origins; then these
constexpr std::size_t head = 4;

// The next words of what a rank has told.
template <class Number>
std::vector<Number> take(std::span<const std::int32_t>& words, std::int32_t count) {
  const auto taken = words.first(static_cast<std::size_t>(count));
  words = words.subspan(taken.size());
  return {taken.begin(), taken.end()};
}

}  // namespace

AllLists::AllLists(int ranks) {
  if (ranks > most_ranks) return;
  room_ = most_words / static_cast<std::size_t>(ranks);
  mine_.resize(room_);
  all_.resize(room_ * static_cast<std::size_t>(ranks));
}

std::uint64_t AllLists::words(const TopologyLists& lists) {
  return head + lists.targets.size() + lists.sources.size() + lists.origins.size();
}

void AllLists::tell(MPI_Comm comm, const TopologyLists& lists, std::int32_t node) {
  mine_[0] = node;
  mine_[1] = static_cast<std::int32_t>(lists.targets.size());
  mine_[2] = static_cast<std::int32_t>(lists.sources.size());
  mine_[3] = static_cast<std::int32_t>(lists.origins.size());
  auto to = mine_.begin() + head;
  to = std::ranges::copy(lists.targets, to).out;
  to = std::ranges::copy(lists.sources, to).out;
  std::ranges::copy(lists.origins, to);
  gather_all(mine_.data(), static_cast<int>(room_), MPI_INT32_T, all_.data(), comm);
}

std::vector<Vertex> AllLists::vertices() const {
  std::vector<Vertex> all(all_.size() / room_);
  std::map<std::int32_t, std::vector<std::int32_t>> nodes;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto words = std::span(all_).subspan(rank * room_, room_);
    auto lists = words.subspan(head);
    Vertex& vertex = all[rank];
    vertex.rank = static_cast<std::int32_t>(rank);
    vertex.node = words[0];
    vertex.targets = take<std::int32_t>(lists, words[1]);
    vertex.sources = take<std::int32_t>(lists, words[2]);
    vertex.origins = take<std::uint32_t>(lists, words[3]);
    nodes[vertex.node].push_back(vertex.rank);
  }
  for (Vertex& vertex : all) vertex.node_ranks = nodes[vertex.node];
  return all;
}

}  // namespace tonari
