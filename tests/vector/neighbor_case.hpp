// SPDX-License-Identifier: BSD-3-Clause
// Random vectors of lists of neighbors, drawn alike on all ranks.
#pragma once

#include <numeric>

#include "vector/links.hpp"

namespace tonari::test {

// One rank's part of a call.
struct NeighborLists {
  std::vector<int> ranks, counts, places;
  void add(int rank, const std::vector<std::int64_t>& some) {
    ranks.push_back(rank), counts.push_back(static_cast<int>(some.size()));
    places.insert(places.end(), some.begin(), some.end());
  }
};

// Both ends of all links between two ranks, cut into lists.
struct Pair {
  int from, to;
  std::vector<std::int64_t> owned, ghosts;
};

// Cuts what belongs together into some lists, and shuffles lists of different ranks.
inline NeighborLists cut(Random& random,
                         std::vector<std::pair<int, std::vector<std::int64_t>>> by_rank) {
  std::shuffle(by_rank.begin(), by_rank.end(), random);
  NeighborLists lists;
  std::vector<std::size_t> done(by_rank.size());
  for (bool more = true; more;) {
    more = false;
    for (std::size_t k = 0; k < by_rank.size(); ++k) {
      const auto& [rank, places] = by_rank[k];
      if (done[k] == places.size()) continue;
      const std::size_t left = places.size() - done[k];
      const auto part = static_cast<std::size_t>(
          pick(random, 0, 3) ? static_cast<int>(left) : pick(random, 0, static_cast<int>(left)));
      const auto first = places.begin() + static_cast<std::ptrdiff_t>(done[k]);
      lists.add(rank, {first, first + static_cast<std::ptrdiff_t>(part)});
      done[k] += part;
      more = true;
    }
  }
  if (pick(random, 0, 1)) lists.add(pick(random, 0, world_size() - 1), {});  // nothing for someone
  return lists;
}

struct NeighborCase {
  Links links;
  std::vector<NeighborLists> sends, receives;  // by rank
  bool appended = false;

  tonari_vector make(const std::string& route) const {
    const NeighborLists &out = sends[static_cast<std::size_t>(world_rank())],
                        &in = receives[static_cast<std::size_t>(world_rank())];
    tonari_vector vector = TONARI_VECTOR_NULL;
    must(tonari_vector_create_from_neighbors(
        MPI_COMM_WORLD, links.owned_length[static_cast<std::size_t>(world_rank())],
        static_cast<int>(out.ranks.size()), out.ranks.data(), out.counts.data(), out.places.data(),
        static_cast<int>(in.ranks.size()), in.ranks.data(), in.counts.data(),
        appended ? nullptr : in.places.data(),
        Info{{"tonari_route", route}, {"tonari_tune", route == "auto" ? "auto" : "off"}}, &vector));
    return vector;
  }
};

inline std::vector<Pair> draw_pairs(Random& random,
                                    const std::vector<std::vector<std::int64_t>>& sendable) {
  std::vector<Pair> pairs;
  const int ranks = world_size(), density = pick(random, 0, 3);
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to) {
      const auto& places = sendable[static_cast<std::size_t>(from)];
      if (places.empty() || pick(random, 0, 3) > density) continue;
      Pair pair{from, to, {}, {}};
      if (pick(random, 0, 2) == 0) {  // in order, as it lies, or every second or third of it
        const int first = pick(random, 0, static_cast<int>(places.size()) - 1),
                  step = pick(random, 1, 3);
        for (std::size_t k = static_cast<std::size_t>(first); k < places.size();
             k += static_cast<std::size_t>(step))
          pair.owned.push_back(places[k]);
      } else
        for (int k = pick(random, 1, 20); k > 0; --k)
          pair.owned.push_back(places[static_cast<std::size_t>(
              pick(random, 0, static_cast<int>(places.size()) - 1))]);
      pairs.push_back(pair);
    }
  return pairs;
}

// Drawn alike on all ranks.
inline NeighborCase draw_neighbor_case(Random& random) {
  NeighborCase drawn;
  Links& links = drawn.links;
  const auto ranks = static_cast<std::size_t>(world_size());
  links.arrays = static_cast<ArrayKind>(pick(random, 0, 2));
  links.forward = pick(random, 0, 3) > 0;
  std::vector<std::vector<std::int64_t>> sendable(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    links.owned_length.push_back(pick(random, 0, 3) == 0 ? 0 : pick(random, 1, 30));
    sendable[r] = shuffled(random, 0, links.owned_length[r]);
    if (pick(random, 0, 1)) std::ranges::sort(sendable[r]);
    if (links.arrays == ArrayKind::one) sendable[r].resize((sendable[r].size() + 1) / 2);
  }
  std::vector<Pair> pairs = draw_pairs(random, sendable);
  drawn.appended = links.forward && links.arrays == ArrayKind::two && pick(random, 0, 1);
  std::vector<std::vector<std::pair<int, std::vector<std::int64_t>>>> out(ranks), in(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    std::int64_t incoming = 0;
    for (const Pair& pair : pairs)
      if (pair.to == static_cast<int>(r)) incoming += static_cast<std::int64_t>(pair.owned.size());
    std::vector<std::int64_t> free =
        shuffled(random, 0, std::max(incoming, links.owned_length[r]) + pick(random, 0, 9));
    if (links.arrays == ArrayKind::one) {
      free = shuffled(random, 0, links.owned_length[r] + incoming + pick(random, 0, 9));
      std::erase_if(free, [&](std::int64_t place) {
        return std::ranges::find(sendable[r], place) != sendable[r].end();
      });
    }
    if (pick(random, 0, 2) == 0) std::ranges::sort(free);
    if (links.arrays == ArrayKind::two && !drawn.appended && pick(random, 0, 2) == 0)
      for (std::int64_t& place : free) place *= 2;  // gaps
    std::size_t next = 0;
    for (Pair& pair : pairs) {
      if (pair.to != static_cast<int>(r)) continue;
      for (std::size_t k = 0; k < pair.owned.size(); ++k)
        pair.ghosts.push_back(links.forward ? free[next++]
                                            : free[static_cast<std::size_t>(pick(
                                                  random, 0, static_cast<int>(free.size()) - 1))]);
    }
  }
  for (const Pair& pair : pairs) {
    out[static_cast<std::size_t>(pair.from)].emplace_back(pair.to, pair.owned);
    in[static_cast<std::size_t>(pair.to)].emplace_back(pair.from, pair.ghosts);
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    drawn.sends.push_back(cut(random, out[r]));
    drawn.receives.push_back(cut(random, in[r]));
    NeighborLists& lists = drawn.receives.back();
    if (drawn.appended) std::iota(lists.places.begin(), lists.places.end(), 0);
    links.ghost_length.push_back(
        lists.places.empty() ? 0 : *std::ranges::max_element(lists.places) + 1);
  }
  // Links by what the k-th value from one rank to another is.
  for (std::size_t to = 0; to < ranks; ++to) {
    std::map<int, std::size_t> taken;
    std::size_t at = 0;
    const NeighborLists& lists = drawn.receives[to];
    for (std::size_t j = 0; j < lists.ranks.size(); ++j)
      for (int k = 0; k < lists.counts[j]; ++k) {
        const int from = lists.ranks[j];
        const auto pair = std::ranges::find_if(
            pairs, [&](const Pair& p) { return p.from == from && p.to == static_cast<int>(to); });
        links.all.push_back(
            {from, pair->owned[taken[from]++], static_cast<int>(to), lists.places[at++]});
      }
  }
  return drawn;
}

}  // namespace tonari::test
