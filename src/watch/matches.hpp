// SPDX-License-Identifier: BSD-3-Clause
// Which patterns of different ranks are one exchange. A rank without messages in one of several
// exchanges waits elsewhere, or counts its patterns otherwise than the others do; so what one rank
// sends is compared with what another expects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tonari::watch {

// What a rank and one of its partners have for each other in a pattern.
struct Partner {
  int rank = 0;  // -1: whoever sends
  int sent = 0, received = 0;
  std::uint64_t bytes = 0, room = 0;  // sent, and at most received
};

// A pattern of a rank, as the others need to know it.
struct Outline {
  int rank = 0;
  std::uint64_t key = 0;  // equal on ranks that have done the same
  std::uint64_t epochs = 0;
  double seconds = 0.0;
  bool varies = false;            // bytes are those of one of its exchanges
  std::size_t parts = 0;          // Candidate::parts
  std::vector<Partner> partners;  // by rank
};

struct Match {
  std::uint64_t key = 0;             // of the outline that took the most time; no other match's
  double seconds = 0.0;              // of all ranks
  std::vector<std::size_t> members;  // places in the list of outlines; of a rank one, if whole
  bool whole = true;                 // everybody expects what the others send
  bool wanted = true;                // false: one pattern on each rank, brought together
};

// Those first that took the most time. All outlines are in one of them.
std::vector<Match> matches_of(const std::vector<Outline>& outlines);

}  // namespace tonari::watch
