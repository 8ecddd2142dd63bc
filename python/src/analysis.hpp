// SPDX-License-Identifier: BSD-3-Clause
// What the command line says about the algorithms on one neighborhood: counts taken from the plan
// itself, and predicted times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/executor.hpp"
#include "cost/loggp.hpp"
#include "planners/registry.hpp"

namespace tonari {

struct Question {
  std::shared_ptr<const Neighborhood> near;
  Collective collective = Collective::alltoall;
  std::uint64_t bytes = 64;  // of one block
  LogGP machine;
  int rank = 0;  // whose plan is counted and drawn
  EmitOptions emit;
};

// One algorithm, or one of its variants. Counts are of what Question::rank sends in one exchange.
struct Answer {
  std::string algorithm, variant;
  std::string reason;      // why it is not planned; then nothing below is filled
  std::size_t rounds = 0;  // of a rank far from any border
  int depth = 0;           // longest chain of messages of which each waits for the one before
  std::size_t messages = 0;
  std::size_t volume_blocks = 0;
  std::uint64_t bytes = 0;
  std::size_t scratch_blocks = 0;
  double predicted = 0;  // seconds for the whole exchange, all ranks
  // as tonari::crossover_bytes against linear; 0 for linear itself
  std::int64_t crossover_bytes = 0;
  // why the algorithm, which was asked for by name, is not expected to pay; empty: it may
  std::string unpaying = {};
};

// One line about an algorithm, with its source.
std::string summary_of(const std::string& algorithm, AppliesTo what);

// By its name; throws Errc::argument if there is none.
Collective collective_of(const std::string& op);

// The rank in the middle of the grid: the one with the most neighbors.
int central_rank(const Grid& grid);

// algorithm: empty for all that may pay; else this one, if it is possible. An unknown one throws
// Errc::algorithm. variants: all of them, else for
// each algorithm the one predicted fastest.
std::vector<Answer> analyze(const Question& question, const std::string& algorithm, bool variants);

// In the functions below an algorithm that does not exist or is impossible throws
// Errc::algorithm.

// Only the counts (rounds, depth, messages, volume, bytes, scratch), no times: of the algorithm's
// first variant.
Answer count(const Question& question, const std::string& algorithm);

// Algorithm and variant of every variant that could be used: of all algorithms that may pay, or of
// the one named.
std::vector<std::pair<std::string, std::string>> list_variants(const Question& question,
                                                               const std::string& algorithm);

// The variant with that name.
OffsetVariant find_variant(const Question& question, const std::string& algorithm,
                           const std::string& variant);

// Runs the reference executor over all ranks of the grid, with blocks of differing sizes.
// Errc::argument if that is too much for one process.
Proof prove(const Question& question, const OffsetVariant& planned);

}  // namespace tonari
