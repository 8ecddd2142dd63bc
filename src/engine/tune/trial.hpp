// SPDX-License-Identifier: BSD-3-Clause
// Times candidates on buffers shaped like the user's, because init must not touch the user's data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "channels/arguments.hpp"
#include "engine/tune/contest.hpp"
#include "engine/wait/exchange.hpp"
#include "memory/stand_in.hpp"
#include "mpi/owned_type.hpp"
#include "select/candidates.hpp"

namespace tonari {

// Buffers with the same blocks, at the same distances from each other within what the program
// allocated together.
class Shadow {
 public:
  // The distances that copies have, too.
  enum class Keep : std::uint8_t {
    buffer,  // between all blocks, as the regular forms need
    blocks,  // within blocks
    runs     // within the runs of blocks, whose types are made anew
  };
  // Returns nothing if it would take more memory than is reasonable for a measurement.
  static std::optional<Shadow> make(const Arguments& arguments);

  const Arguments& arguments() const { return arguments_; }
  void fill_send(int rank) { fill_as_rank(send_, rank); }
  void poison_recv();
  // the bytes of all receive blocks, in order
  std::vector<std::byte> received(const Exchange& exchange) const;

 private:
  Shadow() = default;
  static std::optional<Shadow> make(const Arguments& arguments, Keep keep);

  std::vector<OwnedType> types_;  // of arguments_
  Memory send_, recv_;
  Arguments arguments_;
};

struct Timing : Standing {
  Candidate candidate;
  std::string refusal = {};  // why its channel cannot be used: never timed
  bool wrong = false;        // delivered wrong blocks: never timed
  bool usable() const { return !wrong && refusal.empty(); }
};

// Collective: a contest (engine/tune/contest.hpp) of the candidates. The result is the same on all
// ranks, best first. Native collectives are compared with what our first plan delivers, because
// some MPIs deliver wrong blocks.
std::vector<Timing> time_candidates(Context& context, const std::vector<Candidate>& candidates,
                                    const Settings& settings, Shadow& shadow, double budget);

// Collective: tells whether the first candidate delivers on copies what the second one does, by one
// exchange each. No, if copies would be too large, or it cannot be connected.
bool proves_right(Context& context, const Candidate& native, const Candidate& planned,
                  const Problem& problem, const Settings& settings, const Arguments& arguments);

}  // namespace tonari
