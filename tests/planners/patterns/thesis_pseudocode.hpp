// SPDX-License-Identifier: BSD-3-Clause
// Algorithms 1 to 4 of the thesis (Duymuş 2021), line by line over its arrays, with nothing counted
// twice or kept for later. Tests compare the planner with them.
//
// Numbers in comments are the thesis's lines. What the text adds to the pseudocode is marked by its
// section. Choices are those of planners/patterns/thesis_sharing.hpp.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "planners/patterns/communication_matrix.hpp"

namespace tonari::sharing {

using Ints = std::vector<int>;

struct Pseudocode {
  Ints adjacency, adjacency_ptr, sender, outgoing_size;
  std::vector<Ints> iterations;  // P_max, its pair, the size of P_max before and after
  Ints helper;                   // of Phase II, by message; -1: not moved
};

inline Pseudocode start(const CommunicationMatrix& m) {
  Pseudocode p;
  for (int r = 0; r < m.ranks(); ++r) {
    p.adjacency_ptr.push_back(static_cast<int>(p.adjacency.size()));
    for (int target : m.targets(r)) p.adjacency.push_back(target), p.sender.push_back(r);
    p.outgoing_size.push_back(m.sent_by(r));
  }
  p.adjacency_ptr.push_back(static_cast<int>(p.adjacency.size()));
  p.helper.assign(p.adjacency.size(), -1);
  return p;
}

// Algorithm 3, for the message at `i` of the rank `most`.
inline bool in_group(const Pseudocode& p, int most, int i) {
  bool found = false;
  for (int k = p.adjacency_ptr[most]; k < p.adjacency_ptr[most + 1]; ++k)  // 2
    if (p.sender[k] == p.adjacency[i]) found = true;                       // 3
  return found;
}

// Places of messages of both for one target, as in Fig. 4.4.
inline std::vector<std::pair<int, int>> common(const Pseudocode& p, int a, int b) {
  std::vector<std::pair<int, int>> all;
  for (int i = p.adjacency_ptr[a]; i < p.adjacency_ptr[a + 1]; ++i)
    for (int j = p.adjacency_ptr[b]; j < p.adjacency_ptr[b + 1]; ++j)
      if (p.adjacency[i] == p.adjacency[j]) all.emplace_back(i, j);
  return all;
}

// The first step of Cases 2 to 4: `a` gives to ranks that `b` sends through (§4.3.2).
inline void share_with_group(Pseudocode& p, int a, int b) {
  for (auto [i, j] : common(p, a, b)) {
    const bool conditions = p.sender[j] != b && p.sender[j] != a && p.sender[i] == a;
    if (!conditions || in_group(p, a, i)) continue;
    p.sender[i] = p.sender[j];
    --p.outgoing_size[a];
  }
}

// Algorithm 2, where either still sends its own message (Case 4).
inline void share_equally(Pseudocode& p, int most, int other) {
  const auto own = [&](int i, int j) { return p.sender[i] == most && p.sender[j] == other; };
  int size = 0, shared = 0;
  for (auto [i, j] : common(p, most, other)) size += own(i, j);
  int alpha = 0;
  if (p.outgoing_size[other] + size <= p.outgoing_size[most]) {  // 2
    alpha = size;
  } else {  // 3
    const int twice = size + p.outgoing_size[most] - p.outgoing_size[other];
    alpha = twice < 0 ? 0 : twice / 2;
  }
  for (auto [i, j] : common(p, most, other)) {  // 6, 7
    if (!own(i, j)) continue;
    if (shared < alpha) {  // 8
      if (in_group(p, most, i)) continue;
      p.sender[i] = other;      // 9
      --p.outgoing_size[most];  // 10
    } else {
      if (in_group(p, other, j)) continue;
      p.sender[j] = most;        // 12
      --p.outgoing_size[other];  // 13
    }
    ++shared;  // 15
  }
}

inline void pair(Pseudocode& p, int most, int other) {
  share_with_group(p, most, other);
  share_with_group(p, other, most);
  share_equally(p, most, other);
}

inline int first_with_most(const Ints& sizes) {  // 4 to 7 of Algorithm 1
  int max = -1, most = 0;
  for (int i = 0; i < static_cast<int>(sizes.size()); ++i)
    if (sizes[i] > max) max = sizes[i], most = i;
  return most;
}

inline int first_with_least(const Ints& sizes) {  // 7 to 9 of Algorithm 4
  int min = std::numeric_limits<int>::max(), least = 0;
  for (int i = 0; i < static_cast<int>(sizes.size()); ++i)
    if (sizes[i] < min) min = sizes[i], least = i;
  return least;
}

inline int friend_of(const Pseudocode& p, int most) {
  int best = -1, targets = -1;
  for (int r = 0; r < static_cast<int>(p.outgoing_size.size()); ++r) {
    if (r == most) continue;
    const int both = static_cast<int>(common(p, most, r).size());
    if (both > targets) targets = both, best = r;
  }
  return best;
}

// Algorithm 1.
inline Pseudocode phase_one(const CommunicationMatrix& m) {
  Pseudocode p = start(m);
  if (m.ranks() < 2) return p;
  int most = 0, before_most = -1, before_size = -1;                      // 1, 2
  while (before_most != most || before_size != p.outgoing_size[most]) {  // 3
    most = first_with_most(p.outgoing_size);                             // 4 to 7
    before_most = most, before_size = p.outgoing_size[most];             // 8
    const int other = friend_of(p, most);                                // 9
    pair(p, most, other);                                                // 10, 11
    p.iterations.push_back({most, other, before_size, p.outgoing_size[most]});
  }
  return p;
}

// Algorithm 4, on the matrix of §5.
inline Pseudocode phase_two(const CommunicationMatrix& after) {
  Pseudocode p = start(after);
  if (after.ranks() == 0) return p;
  std::vector<bool> still_own(p.adjacency.size(), true);
  std::set<std::pair<int, int>> transferred;
  int most = 0, before_most = -1, before_size = -1;                      // 1, 2
  while (before_most != most || before_size != p.outgoing_size[most]) {  // 3
    most = first_with_most(p.outgoing_size);
    const int least = first_with_least(p.outgoing_size);
    const int alpha = (p.outgoing_size[most] - p.outgoing_size[least]) / 2;      // 10
    before_most = most, before_size = p.outgoing_size[most];                     // 11
    int i = p.adjacency_ptr[most], shared = 0;                                   // 12
    for (; i < p.adjacency_ptr[most + 1] && shared < alpha; ++i) {               // 13
      if (!still_own[i] || p.adjacency[i] == least) continue;                    // 14
      if (transferred.contains({most, p.adjacency[i]})) continue;                // §5
      still_own[i] = false;                                                      // 15
      --p.outgoing_size[most];                                                   // 16
      transferred.insert({least, p.adjacency[i]});                               // 17
      ++shared;                                                                  // 18
      p.helper[i] = least;                                                       // §5
      bool exists = false;                                                       // 19
      for (int j = p.adjacency_ptr[least]; j < p.adjacency_ptr[least + 1]; ++j)  // 20
        if (p.adjacency[i] == p.adjacency[j]) exists = true;                     // 21
      if (!exists) ++p.outgoing_size[least];                                     // 24
    }
    p.iterations.push_back({most, least, before_size, p.outgoing_size[most]});
  }
  return p;
}

}  // namespace tonari::sharing
