// SPDX-License-Identifier: BSD-3-Clause
// Schedules as text, made of hops that may be wrong, and read back.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "planners/patterns/message_schedule.hpp"
#include "planners/patterns/schedule_file.hpp"

namespace tonari::test {

// `pieces` bytes at a time.
inline ReadBytes bytes_of(std::string text, std::size_t pieces = SIZE_MAX) {
  return [text = std::move(text), pieces, at = std::size_t{0}](std::span<char> bytes) mutable {
    const std::size_t more = std::min({bytes.size(), pieces, text.size() - at});
    std::copy_n(text.data() + at, more, bytes.data());
    at += more;
    return more;
  };
}

inline OwnSchedule read_text(const std::string& text, int rank, int ranks) {
  return read_schedule({"s.txt", rank, ranks}, bytes_of(text));
}

inline std::vector<PairHop> hops_of(const CommunicationMatrix& matrix,
                                    const MessageSchedule& schedule) {
  std::vector<PairHop> hops;
  for (const CombinedMessage& m : schedule.messages())
    for (const BlockNumber b : schedule.blocks(m))
      hops.push_back({m.stage, m.from, m.to, matrix.origin(b), matrix.target(b)});
  return hops;
}

// Independent of schedule_text.
inline std::string text_of(int ranks, const std::set<PairHop>& hops) {
  std::string all = "tonari schedule 1\nranks " + std::to_string(ranks) + "\n";
  const PairHop* last = nullptr;
  for (const PairHop& hop : hops) {
    if (!last || last->stage != hop.stage || last->from != hop.from || last->to != hop.to)
      all += (last ? "\n" : "") + std::to_string(hop.stage) + " " + std::to_string(hop.from) + " " +
             std::to_string(hop.to) + ":";
    all += " " + std::to_string(hop.origin) + "-" + std::to_string(hop.target);
    last = &hop;
  }
  return all + (last ? "\n" : "");
}

}  // namespace tonari::test
