// SPDX-License-Identifier: BSD-3-Clause
// Which pattern of a loop an epoch is. Where sizes change, patterns with the same partners become
// those of the swaps of a step: as many as take turns, each with sizes of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "watch/mode.hpp"

namespace tonari::watch {

// One message that the program sends or receives.
struct Message {
  const char* call;     // MPI's name of the function
  const void* site;     // where it returns to
  std::uint64_t bytes;  // of receives the room
  int peer;             // in MPI_COMM_WORLD; -1: any source
  int tag;
  bool sent;   // else received
  bool begun;  // it has a request
};

constexpr std::size_t most_messages = 512;  // of an epoch
constexpr std::size_t most_patterns = 16;   // of a loop
constexpr std::size_t kept_times = 256;     // of a pattern, the last ones

constexpr std::size_t kept_sizes = 8;    // of a pattern whose sizes change: sets of them
constexpr std::size_t kept_callers = 6;  // above the place of an epoch

using Callers = std::array<const void*, kept_callers>;  // return addresses; null: no more

// Sets of sizes that came one after the other: every `every`th one, so that they are spread over
// the run. The rule depends on counts alone, so ranks keep sets of the same steps.
struct ChangingSizes {
  std::uint64_t came = 0, every = 1;
  std::vector<std::vector<Message>> kept;
  std::vector<Message> largest;  // each message as large as it ever was, by partner
  void came_next(std::vector<Message> messages);
};

// Epochs with the same partners and, unless they vary, the same sizes.
struct Pattern {
  std::uint64_t signature = 0, partners = 0, epochs = 0;
  std::uint64_t stretches = 0;  // of epochs with the same sizes, one after the other
  std::uint64_t now = 0;        // the signature of the last epoch
  bool varies = false;
  Ticks inside = 0;           // in MPI, all epochs together
  Ticks first = 0, last = 0;  // when the first and the last epoch began
  Ticks last_inside = 0;      // of the last epoch
  std::vector<Message> messages;
  ChangingSizes sizes;  // if it varies
  Callers callers{};
  // Of all epochs but the last of each thread: in MPI, and from its beginning to the next one's.
  std::array<float, kept_times> exchange{}, step{};
  std::uint64_t timed = 0;  // how many were put there
};

struct Loop {
  const void* site = nullptr;  // of its first wait, or if there is none of its first message
  const char* call = "";
  int ranks = 0;  // of the communicator
  std::uint64_t epochs = 0;
  std::uint64_t others = 0;    // epochs that none of the patterns kept
  std::uint64_t distinct = 0;  // patterns that came new
  Ticks inside = 0;
  std::vector<std::unique_ptr<Pattern>> patterns;
  // What comes in turn as one exchange: the messages of the patterns that come as often as the one
  // that comes most. Null before the end.
  std::unique_ptr<Pattern> together;
  std::size_t parts = 0;  // how many patterns that are
};

// The messages since the last wait on one communicator.
struct Epoch {
  std::uint64_t communicator = 0;  // Members::id
  std::uint64_t number = 0;        // of this thread; never used again
  int ranks = 0;
  std::size_t count = 0;  // of messages; more than most_messages: it is not examined
  bool completing = false, has_requests = false;
  std::uint64_t signature = 0, partners = 0;
  Ticks begin = 0, inside = 0;
  const void* waited_at = nullptr;
  const char* waited_by = nullptr;
  Callers callers{};
  std::array<Message, most_messages> messages;
};

// Whether it has more messages than are kept: then it is not examined.
bool is_full(const Epoch& epoch);
// Those above the place where this thread is now.
Callers callers_above(const void* site);
// The pattern's record; null: it is new.
Pattern* known_pattern(const Loop& loop, const Epoch& epoch);
// The pattern's record; null: the loop has others, all of which came again.
Pattern* pattern_of(Loop& loop, const Epoch& epoch);
// The epoch is the pattern's last one.
void count(Pattern& pattern, const Epoch& epoch);
// What another thread did with the same partners and sizes.
void add(Pattern& pattern, const Pattern& other);
// After the last epoch: sizes that came once each are one pattern whose sizes change.
void join_sizes(Loop& loop);
// Then, too: makes Loop::together.
void bring_together(Loop& loop);

}  // namespace tonari::watch
