// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/node_pairs.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace tonari {
namespace {

// One rank's part of the traffic of its node with another node, in one direction.
struct Claim {
  std::int32_t node, rank;
  Word blocks;
};

// The claims that win, one for each other node. Nodes with few to choose from choose first. Ties go
// to the least load, then to the lowest rank (the highest, if not from_below).
std::vector<Claim> choose(std::vector<Claim> claims, std::size_t node_ranks, bool from_below) {
  std::sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) {
    return a.node != b.node ? a.node < b.node : a.rank < b.rank;
  });
  std::vector<std::span<const Claim>> pairs;
  for (auto begin = claims.cbegin(); begin != claims.cend();) {
    const auto end =
        std::find_if(begin, claims.cend(), [&](const Claim& c) { return c.node != begin->node; });
    pairs.emplace_back(begin, end);
    begin = end;
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](auto a, auto b) { return a.size() < b.size(); });
  const std::size_t fair = (pairs.size() + node_ranks - 1) / node_ranks;
  std::unordered_map<std::int32_t, std::size_t> load;
  std::vector<Claim> chosen;
  for (const std::span<const Claim> pair : pairs) {
    const auto order = [&](const Claim& c) {
      const std::size_t l = load[c.rank];
      return std::tuple(l < fair ? 0 : l, -c.blocks, l, from_below ? c.rank : -c.rank);
    };
    chosen.push_back(
        *std::min_element(pair.begin(), pair.end(),
                          [&](const Claim& a, const Claim& b) { return order(a) < order(b); }));
    ++load[chosen.back().rank];
  }
  return chosen;
}

// The data that the lowest rank of a node collects.
struct Leader {
  std::vector<std::pair<std::int32_t, std::int32_t>> claimants;  // rank of this node, other node
  std::map<std::int32_t, Crossing> pairs;                        // by other node
};

void claim(BspComm& bsp, std::span<const Vertex> vertices, std::span<const Crossings> crossings) {
  std::vector<Word> words;
  for (std::size_t k = 0; k < crossings.size(); ++k) {
    words.clear();
    for (const Crossing& c : crossings[k])
      words.insert(words.end(), {c.node, c.blocks_out, c.blocks_in});
    if (!words.empty()) bsp.send(k, vertices[k].node, words);
  }
}

Leader lead(std::span<const BspMessage> inbox, std::size_t node_ranks) {
  Leader leader;
  std::vector<Claim> out, in;
  for (const BspMessage& message : inbox)
    for (std::size_t w = 0; w < message.words.size(); w += 3) {
      const auto node = static_cast<std::int32_t>(message.words[w]);
      leader.claimants.emplace_back(message.from, node);
      leader.pairs.try_emplace(node, Crossing{node});
      if (message.words[w + 1] > 0) out.push_back({node, message.from, message.words[w + 1]});
      if (message.words[w + 2] > 0) in.push_back({node, message.from, message.words[w + 2]});
    }
  // From both ends, so that the few that stand for a node in little traffic are not the same for
  // both directions.
  for (const Claim& c : choose(std::move(out), node_ranks, true))
    leader.pairs.at(c.node).sender_here = c.rank;
  for (const Claim& c : choose(std::move(in), node_ranks, false))
    leader.pairs.at(c.node).receiver_here = c.rank;
  return leader;
}

void tell_ranks(BspComm& bsp, std::size_t k, const Leader& leader) {
  std::vector<Word> words;
  for (auto next = leader.claimants.begin(); next != leader.claimants.end();) {
    const std::int32_t rank = next->first;
    for (words.clear(); next != leader.claimants.end() && next->first == rank; ++next) {
      const Crossing& pair = leader.pairs.at(next->second);
      words.insert(words.end(),
                   {pair.sender_here, pair.receiver_there, pair.sender_there, pair.receiver_here});
    }
    bsp.send(k, rank, words);
  }
}

}  // namespace

void appoint_for_nodes(BspComm& bsp, std::span<const Vertex> vertices,
                       std::span<Crossings> crossings) {
  claim(bsp, vertices, crossings);
  bsp.exchange();
  std::vector<std::pair<std::size_t, Leader>> leaders;
  for (std::size_t k : bsp.receivers())
    leaders.emplace_back(k, lead(bsp.inbox(k), vertices[k].node_ranks.size()));

  for (const auto& [k, leader] : leaders)
    for (const auto& [node, pair] : leader.pairs)
      bsp.send(k, node, {pair.sender_here, pair.receiver_here});
  bsp.exchange();
  for (auto& [k, leader] : leaders)
    for (const BspMessage& message : bsp.inbox(k)) {
      Crossing& pair = leader.pairs.at(message.from);
      pair.sender_there = static_cast<std::int32_t>(message.words[0]);
      pair.receiver_there = static_cast<std::int32_t>(message.words[1]);
    }

  for (const auto& [k, leader] : leaders) tell_ranks(bsp, k, leader);
  bsp.exchange();
  for (std::size_t k : bsp.receivers()) {
    // in the order of this rank's crossings
    const std::span<const Word> words = bsp.inbox(k).front().words;
    for (std::size_t c = 0; c < crossings[k].size(); ++c) {
      const auto rank = [&](std::size_t w) { return static_cast<std::int32_t>(words[4 * c + w]); };
      Crossing& crossing = crossings[k][c];
      crossing.sender_here = rank(0), crossing.receiver_there = rank(1),
      crossing.sender_there = rank(2), crossing.receiver_here = rank(3);
    }
  }
}

}  // namespace tonari
