// SPDX-License-Identifier: BSD-3-Clause
// Reads a schedule from a file, as `schedule_text` writes it (message_schedule.hpp). Files come
// from strangers: they may be of another format, cut off, endless, or for another pattern.
//
// A reader goes over the file once. It checks every line, and keeps the hops of one rank and the
// fingerprint of all bytes, but not the file. What only the pattern can tell is checked with it
// (planners/graphs/scheduled.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tonari {

// One hop of all blocks from one rank, `origin`, to another one, `target`.
struct PairHop {
  std::int32_t stage, from, to, origin, target;
  friend auto operator<=>(const PairHop&, const PairHop&) = default;
};

// The part of a schedule that one rank runs.
struct OwnSchedule {
  std::vector<PairHop> out, in;   // that begin, end here; in the order of the file: by stage first
  std::uint64_t fingerprint = 0;  // of all bytes of the file
};

// Stages are the tags of messages, and ranks meet once per stage to plan an allgather.
inline constexpr std::int32_t most_schedule_stages = 1024;

struct ScheduleQuestion {
  std::string name;  // of the file, for errors
  int rank = 0, ranks = 0;
  std::uint64_t most_bytes = UINT64_MAX;
};

// The bytes that a schedule can need in which every block passes every rank once, at most 1 GiB.
// pairs: of ranks, sender and receiver, that have blocks for each other.
std::uint64_t most_schedule_bytes(int ranks, std::uint64_t pairs);

// Fills the bytes from the front on and returns how many it filled; 0 at the end.
using ReadBytes = std::function<std::size_t(std::span<char>)>;

// Both throw Errc::file with the line that is wrong, or Errc::memory.
OwnSchedule read_schedule(const ScheduleQuestion& question, const ReadBytes& read);
// question.name is the path; the file must be a regular one.
OwnSchedule read_schedule_file(const ScheduleQuestion& question);

}  // namespace tonari
