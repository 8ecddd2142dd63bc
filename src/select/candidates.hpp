// SPDX-License-Identifier: BSD-3-Clause
// The candidates: algorithms times channels, priced. Pure; the same on all ranks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "select/channel.hpp"
#include "select/problem.hpp"

namespace tonari {

struct Candidate {
  VariantPtr planned;  // null: MPI's own collective
  ChannelChoice channel;
  double predicted = 0;  // seconds
  // Bytes that a rank holds for it while it is measured: messages in and out, or forwarded blocks.
  // enumerate() fills this in.
  double scratch = 0;
  // The size of each scratch block of this rank's plan, where the problem's sizes do not tell;
  // null: they do, or it is not known yet.
  std::shared_ptr<const std::vector<Bytes>> forwarded = nullptr;
  bool sizes_known = false;  // the same on all ranks, also where this one's plan needs no sizes
  // Why the algorithm, which was asked for by name, is not expected to pay; empty: it may.
  std::string unpaying = {};

  std::size_t tags() const { return planned ? planned->tags() : 0; }
  std::string algorithm() const { return planned ? planned->algorithm() : "native"; }
  std::string variant() const { return planned ? planned->variant() : ""; }
  // One line without tabs that identifies the candidate, also between runs:
  // torus-direct/p2p-packed, linear/a message per block/p2p-packed/immediate.
  std::string label() const;
};

// This lists all algorithms of the registry (or the one asked for) in their variants, best
// prediction first. It covers all channels (or the one asked for). It leaves out variants that
// would do the same as an earlier one, and hopeless ones. It keeps only the two best variants of an
// algorithm. It throws Errc::algorithm if nothing is left, with the reason. As all functions here
// that ask the registry, it is collective on graphs. Where each rank has prices of its own, the
// highest counts, which takes an agreement or more (Problem::heaviest).
std::vector<Candidate> enumerate(const Problem& problem, const Settings& settings,
                                 const LogGP& machine);

// The same candidate with another detail of its channel that is worth a try only where this one
// does well (Channel::finalist).
std::optional<Candidate> finalist_form(const Candidate& candidate);

// Seconds by the model: of one candidate (a mix of channels is priced by its part on the node), and
// of MPI's own collective. With sizes of this rank's edges alone, they are its own.
double predict(const Candidate& candidate, const Problem& problem, const Settings& settings,
               const LogGP& machine);
double predict_native(const Problem& problem, const Settings& settings, const LogGP& machine);

// Says why some part of the candidate's channel moves nothing here; empty if all do.
std::string not_applicable(const ChannelChoice& channel, const Problem& problem,
                           const Settings& settings);

// Finds a candidate by its label, if it exists here; labels may have earlier names.
std::optional<Candidate> find_candidate(const std::string& remembered, const Problem& problem,
                                        const Settings& settings);

// Chooses without any measurement: small blocks are combined, large ones go straight.
Candidate fixed_rule(const Problem& problem, const Settings& settings);

}  // namespace tonari
