// What could be run: algorithms times channels, priced. Pure; the same on all ranks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "select/planner_registry.hpp"
#include "select/price.hpp"

namespace tonari {

// How messages go: shared is p2p_packed between nodes, shared_onesided is onesided there.
enum class Via : std::uint8_t { packed, typed, native, shared, onesided, shared_onesided };

// a message: below, a system call costs more than a second copy
inline constexpr Bytes worth_single_copy = 16 * 1024;

struct ChannelChoice {
  Via via = Via::packed;
  bool immediate = false;    // Isend and Irecv anew each time instead of persistent requests
  std::size_t segment = 0;   // packed: cut messages into pieces of so many bytes; 0: do not
  bool single_copy = false;  // shared: long messages are read in the sender's memory
  // one-sided: of the trees that tell senders that their receivers are ready; 0: every receiver
  // tells by itself
  int ready_degree = 0;
  const char* name() const;  // p2p-packed, p2p-typed, mpi, shared, onesided, shared+onesided
  // empty, "segments of 4000", "immediate", "single copy", "ready tree of 4"
  std::string detail() const;
  bool shares() const { return via == Via::shared || via == Via::shared_onesided; }
  bool one_sided() const { return via == Via::onesided || via == Via::shared_onesided; }
  friend bool operator==(const ChannelChoice&, const ChannelChoice&) = default;
};

// Those that settings can name, packed first.
inline constexpr Via choosable[] = {Via::packed, Via::typed, Via::shared, Via::onesided,
                                    Via::shared_onesided};

struct Candidate {
  VariantPtr planned;  // null: MPI's own collective
  ChannelChoice channel;
  double predicted = 0;  // seconds
  // The size of each scratch block of this rank's plan, where the problem's sizes do not tell;
  // null: they do, or it is not known yet.
  std::shared_ptr<const std::vector<Bytes>> passing = nullptr;
  bool passing_learned = false;  // the same on all ranks, also where this one's plan needs no sizes

  std::size_t tags() const { return planned ? planned->tags() : 0; }
  std::string algorithm() const { return planned ? planned->algorithm() : "native"; }
  std::string variant() const { return planned ? planned->variant() : ""; }
  // One line without tabs that identifies the candidate, also between runs:
  // torus-direct/p2p-packed, linear/a message per block/p2p-packed/immediate.
  std::string label() const;
};

// recall: wisdom, else the model; what one-shot calls use instead of automatic and measure.
enum class Tune : std::uint8_t { automatic, off, model, measure, recall };
Tune parse_tune(const std::string& word);  // one that the table of settings lists

struct Settings {
  std::string algorithm = "auto";
  std::string variant;  // of the algorithm, as labels have it; empty: any
  std::string channel = "auto";
  Tune tune = Tune::automatic;
  int ports = 0;
  bool progress_thread = false;
  bool recv_view = false;
  double timeout = 10;  // seconds; not what ranks must agree on
  // What the program promised of all exchanges on a neighborhood (Hoefler 2012, §II).
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
};

// All algorithms of the registry (or the one asked for) in their variants, over all channels (or
// the one asked for), best prediction first. Left out: variants that would do the same as an earlier
// one, hopeless ones, all but the two best variants of an algorithm. Throws Errc::algorithm if
// nothing is left, with the reason. As all functions here that ask the registry: collective on
// graphs.
std::vector<Candidate> enumerate(const Problem& problem, const Settings& settings,
                                 const LogGP& machine);

// The same with Isend and Irecv instead of persistent requests; nothing if it is that already or
// native.
std::optional<Candidate> immediate_form(const Candidate& candidate);

// A candidate by its label, if there is such a one here; labels may have earlier names.
std::optional<Candidate> find_candidate(const std::string& remembered, const Problem& problem,
                                        const Settings& settings);

// Without any measurement: combine small blocks, send large ones straight.
Candidate fixed_rule(const Problem& problem, const Settings& settings);

}  // namespace tonari
