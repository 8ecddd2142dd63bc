// SPDX-License-Identifier: BSD-3-Clause
// The candidates: algorithms times channels, priced. Pure; the same on all ranks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "select/channel.hpp"
#include "select/planner_registry.hpp"
#include "select/price.hpp"
#include "select/race.hpp"

namespace tonari {

// The variant of linear that sends a message per block.
inline constexpr const char* uncombined = "a message per block";

struct Candidate {
  VariantPtr planned;  // null: MPI's own collective
  ChannelChoice channel;
  double predicted = 0;  // seconds
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

// recall: wisdom, else the model; what one-shot calls use instead of online, automatic and measure.
enum class Tune : std::uint8_t { automatic, off, model, measure, recall, online };
Tune parse_tune(const std::string& word);  // one that the table of settings lists
// For what cannot be tuned while it is used: routes of vectors, exchanges in place.
inline Tune at_init(Tune tune) { return tune == Tune::online ? Tune::automatic : tune; }

struct Settings {
  std::string algorithm = "auto";  // a name forces it: it runs wherever it is possible
  std::string variant;             // of the algorithm, as labels have it; empty: any
  std::string channel = "auto";
  Tune tune = Tune::online;
  int ports = 0;
  bool progress_thread = false;
  bool recv_view = false;
  bool start_with = false;  // blocks only
  // How receivers tell a sender that it may write: none: as it is expected to pay; 0: each of them
  // does; else: by a tree of this degree (Hoefler 2012, section II-C2).
  std::optional<int> ready;
  // Up to how many bytes a message's own bytes tell that it is complete (section II-C3); none: as
  // the channel likes.
  std::optional<Bytes> canary;
  std::size_t contenders = Race::most_candidates;  // that starts try at most
  double timeout = 10;                             // seconds; not what ranks must agree on
  // The promises that the program made for all exchanges on a neighborhood (Hoefler 2012, section
  // II).
  bool strict_communication = false, exact_byte_communications = false, static_buffers = false;
  std::uint64_t fingerprint() const;
};

// The exchange to choose for.
struct Problem {
  PlannerRegistry& planners;
  std::uint64_t fingerprint;  // of the neighborhood
  std::size_t neighbors;      // blocks that the busiest rank sends or receives
  Collective collective;
  Sizes sizes;
  bool contiguous = true;      // all blocks are
  bool shares_memory = false;  // some edge leads to a rank of the same node
  bool reads_memory = false;   // there the system lets processes read each other's
  bool several_nodes = false;
  Channels channels = {};  // that there are
};

// This lists all algorithms of the registry (or the one asked for) in their variants, best
// prediction first. It covers all channels (or the one asked for). It leaves out variants that
// would do the same as an earlier one, and hopeless ones. It keeps only the two best variants of an
// algorithm. It throws Errc::algorithm if nothing is left, with the reason. As all functions here
// that ask the registry, it is collective on graphs.
std::vector<Candidate> enumerate(const Problem& problem, const Settings& settings,
                                 const LogGP& machine);

// The same candidate with another detail of its channel that is worth a try only where this one
// does well (Channel::finalist).
std::optional<Candidate> finalist_form(const Candidate& candidate);

// Seconds by the model: of one candidate, and of MPI's own collective.
double predict(const Candidate& candidate, const Problem& problem, const Settings& settings,
               const LogGP& machine);
double predict_native(const Problem& problem, const Settings& settings, const LogGP& machine);

// The bytes that the candidate holds on one rank while it is measured: messages in and out, or
// forwarded blocks.
double scratch_estimate(const Candidate& candidate, const Problem& problem);

// Says why some part of the candidate's channel moves nothing here; empty if all do.
std::string not_applicable(const ChannelChoice& channel, const Problem& problem,
                           const Settings& settings);

// Finds a candidate by its label, if it exists here; labels may have earlier names.
std::optional<Candidate> find_candidate(const std::string& remembered, const Problem& problem,
                                        const Settings& settings);

// Chooses without any measurement: small blocks are combined, large ones go straight.
Candidate fixed_rule(const Problem& problem, const Settings& settings);

}  // namespace tonari
