#include "select/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>
#include <sstream>

#include "base/hash.hpp"
#include "planners/registry.hpp"

namespace tonari {
namespace {

constexpr double hopeless = 8;       // times the best prediction: not worth a measurement
constexpr Bytes small_block = 1024;  // what the fixed rule combines

std::vector<std::string> split(const std::string& label) {
  std::vector<std::string> words;
  std::istringstream in(label);
  for (std::string word; std::getline(in, word, '/');) words.push_back(word);
  return words;
}

constexpr const char* uncombined = "a message per block";  // linear's variant that irecv stands for

// Who asks for linear by name gets what its name promises: one message per rank.
bool allows(const Settings& settings, const Candidate& candidate) {
  const bool apart = candidate.variant() == uncombined;
  const bool algorithm =
      settings.algorithm == "auto" ||
      (settings.algorithm == candidate.algorithm() && (!apart || settings.variant == uncombined)) ||
      (settings.algorithm == "irecv" && apart);
  const bool variant = settings.variant.empty() || settings.variant == candidate.variant();
  return algorithm && variant &&
         (settings.channel == "auto" || settings.channel == candidate.channel.name());
}

ChannelCost cost_of(const ChannelChoice& channel) {
  return {channel.via == Via::typed, channel.segment, true};
}

// What messages cost through shared memory instead: no matching, a copy at each end or one in all.
LogGP through_memory(const LogGP& machine, bool single_copy) {
  LogGP memory = machine;
  memory.L = machine.shared_latency;
  memory.o = machine.shared_overhead;
  memory.g = 0;
  memory.G = 0;
  memory.eager = std::numeric_limits<std::size_t>::max();
  memory.rendezvous = 0;
  if (single_copy) memory.o += machine.o, memory.copy_byte /= 2;
  return memory;
}

double price(const Candidate& candidate, const Problem& problem, const LogGP& machine) {
  if (!candidate.channel.shares())
    return price(*candidate.planned, problem.sizes, machine, cost_of(candidate.channel));
  return price(*candidate.planned, problem.sizes,
               through_memory(machine, candidate.channel.single_copy), {false, 0, false});
}

Candidate native_candidate(const Problem& problem, const LogGP& machine) {
  // Today's MPIs send every block by itself, so that is what native is expected to cost.
  Candidate native{nullptr, {Via::native}, 0};
  const double s = static_cast<double>(problem.neighbors), average = problem.sizes.average;
  native.predicted = machine.L + s * (2 * machine.o + machine.G * average +
                                      (average > machine.eager ? machine.rendezvous : 0));
  return native;
}

ChannelChoice first_channel(const Settings& settings) {
  ChannelChoice first{Via::packed, settings.algorithm == "irecv"};
  for (Via via : choosable)
    if (settings.channel == ChannelChoice{via}.name()) first.via = via;
  return first;
}

// Variants of all algorithms that may be used; why the others may not goes into reasons.
std::vector<Candidate> candidates_of(const Problem& problem, const Settings& settings,
                                     std::string& reasons) {
  std::vector<Candidate> all;
  reasons.clear();
  for (const std::string& algorithm : problem.planners.algorithms()) {
    if (settings.algorithm != "auto" &&
        algorithm != (settings.algorithm == "irecv" ? "linear" : settings.algorithm))
      continue;
    std::string reason, variants;
    for (VariantPtr& planned :
         problem.planners.variants(algorithm, problem.collective, problem.sizes.average, reason)) {
      variants += (variants.empty() ? "'" : ", '") + planned->variant() + "'";
      if (settings.variant.empty() || settings.variant == planned->variant())
        all.push_back({std::move(planned), first_channel(settings), 0});
    }
    if (!settings.variant.empty() && all.empty() && reason.empty())
      reason = "it has no variant '" + settings.variant + "' here, but " + variants;
    if (!reason.empty()) reasons += (reasons.empty() ? "" : "; ") + algorithm + ": " + reason;
  }
  // the variant that combines
  if (settings.algorithm == "irecv" && all.size() > 1) all.erase(all.begin());
  // the one that does not
  if (settings.algorithm == "linear" && all.size() > 1) all.pop_back();
  return all;
}

[[noreturn]] void refuse(const Settings& settings, const std::string& reasons) {
  fail(Errc::algorithm, "algorithm '", settings.algorithm, settings.variant.empty() ? "" : "/",
       settings.variant, "' cannot be used here: ",
       reasons.empty() ? "it is not for this kind of neighborhood" : reasons);
}

// The first of those that do the same stays.
void remove_duplicates(std::vector<Candidate>& all) {
  std::set<std::uint64_t> seen;
  std::erase_if(all,
                [&](const Candidate& c) { return !seen.insert(c.planned->dedup_key()).second; });
}

void sort_by_price(std::vector<Candidate>& all) {
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.predicted < b.predicted;
  });
}

// Of one algorithm's variants the two best predicted ones stay; hopeless ones go, but never linear.
void keep_promising(std::vector<Candidate>& all) {
  const double best = all.front().predicted;
  std::vector<Candidate> kept;
  for (const Candidate& c : all) {
    const auto siblings = std::count_if(kept.begin(), kept.end(), [&](const Candidate& k) {
      return k.algorithm() == c.algorithm();
    });
    const bool linear = c.planned && c.algorithm() == "linear";
    if (linear || !c.planned || (siblings < 2 && c.predicted <= hopeless * best)) kept.push_back(c);
  }
  all = std::move(kept);
}

}  // namespace

const char* ChannelChoice::name() const {
  constexpr const char* names[] = {"p2p-packed", "p2p-typed", "mpi",
                                   "shared",     "onesided",  "shared+onesided"};
  return names[static_cast<std::size_t>(via)];
}

std::string ChannelChoice::detail() const {
  std::string detail = segment > 0 ? "segments of " + std::to_string(segment) : "";
  if (immediate) detail += detail.empty() ? "immediate" : "/immediate";
  if (single_copy) detail += detail.empty() ? "single copy" : "/single copy";
  if (ready_degree > 0)
    detail +=
        (detail.empty() ? "ready tree of " : "/ready tree of ") + std::to_string(ready_degree);
  return detail;
}

std::string Candidate::label() const {
  std::string label = algorithm();
  if (!planned) return label;
  if (!variant().empty()) label += "/" + variant();
  label += std::string("/") + channel.name();
  const std::string detail = channel.detail();
  return detail.empty() ? label : label + "/" + detail;
}

Tune parse_tune(const std::string& word) {
  if (word == "auto") return Tune::automatic;
  if (word == "off") return Tune::off;
  return word == "model" ? Tune::model : Tune::measure;
}

std::uint64_t Settings::fingerprint() const {
  const std::uint64_t flags = strict_communication + 2 * exact_byte_communications +
                              4 * static_buffers + 8 * progress_thread + 16 * recv_view;
  return Hash()
      .bytes(algorithm)
      .bytes(variant)
      .bytes(channel)
      .word(static_cast<std::uint64_t>(tune))
      .word(ports)
      .word(flags)
      .value();
}

namespace {

// Bytes of a message, if all were equally long.
double message_bytes(const Candidate& candidate, const Problem& problem) {
  const auto messages = std::max<double>(1, static_cast<double>(candidate.planned->messages()));
  return problem.sizes.average * static_cast<double>(candidate.planned->hops()) / messages;
}

// Shared memory between ranks of one node, windows between nodes. Between ranks of one node windows
// are used only if they are asked for.
std::vector<ChannelChoice> edge_channels(const Candidate& candidate, const Problem& problem,
                                         const Settings& settings, const LogGP& machine) {
  constexpr int most_degree = 16;
  std::vector<ChannelChoice> channels;
  const bool long_messages =
      message_bytes(candidate, problem) >= static_cast<double>(worth_single_copy);
  const bool between_nodes = problem.several_nodes || settings.channel == "onesided" ||
                             settings.channel == "shared+onesided";
  for (bool single_copy : {false, true}) {
    if (!problem.shares_memory ||
        (single_copy && !(problem.reads_memory && long_messages && !settings.recv_view)))
      continue;
    channels.push_back({Via::shared, false, 0, single_copy});
    if (between_nodes) channels.push_back({Via::shared_onesided, false, 0, single_copy});
  }
  if (!between_nodes) return channels;
  channels.push_back({Via::onesided});
  // Hoefler 2012, II-C2
  const int degree =
      std::clamp(static_cast<int>(std::lround(machine.L / machine.o)), 2, most_degree);
  if (static_cast<int>(candidate.planned->messages()) <= 2 * degree) return channels;
  channels.push_back(
      {problem.shares_memory ? Via::shared_onesided : Via::onesided, false, 0, false, degree});
  return channels;
}

// The channels that move a plan in different ways: as it is, cut into messages that the MPI sends
// eagerly, by datatypes.
std::vector<Candidate> over_channels(const Candidate& candidate, const Problem& problem,
                                     const Settings& settings, const LogGP& machine) {
  std::vector<Candidate> all{candidate};
  if (!candidate.planned || settings.algorithm == "irecv") return all;
  const auto add = [&](ChannelChoice channel) {
    Candidate other{candidate.planned, channel, 0};
    if (channel == candidate.channel || !allows(settings, other)) return;
    other.predicted = price(other, problem, machine);
    all.push_back(other);
  };
  add({Via::typed});
  for (ChannelChoice channel : edge_channels(candidate, problem, settings, machine)) add(channel);
  if (message_bytes(candidate, problem) > static_cast<double>(machine.eager))
    add({Via::packed, false, machine.eager});
  return all;
}

}  // namespace

std::vector<Candidate> enumerate(const Problem& problem, const Settings& settings,
                                 const LogGP& machine) {
  const bool native_only = settings.algorithm == "native";
  std::string reasons;
  std::vector<Candidate> all;
  if (!native_only) all = candidates_of(problem, settings, reasons);
  remove_duplicates(all);
  for (Candidate& candidate : all) candidate.predicted = price(candidate, problem, machine);
  if (native_only ||
      (settings.algorithm == "auto" && settings.channel == "auto" && settings.ports == 0))
    all.push_back(native_candidate(problem, machine));
  if (all.empty()) refuse(settings, reasons);
  sort_by_price(all);
  keep_promising(all);
  std::vector<Candidate> moved;
  for (const Candidate& candidate : all)
    for (Candidate& way : over_channels(candidate, problem, settings, machine))
      moved.push_back(std::move(way));
  sort_by_price(moved);
  return moved;
}

std::optional<Candidate> immediate_form(const Candidate& candidate) {
  if (!candidate.planned || candidate.channel.immediate || candidate.channel.shares() ||
      candidate.channel.one_sided())
    return std::nullopt;
  Candidate other = candidate;
  other.channel.immediate = true;
  return other;
}

std::optional<Candidate> find_candidate(const std::string& remembered, const Problem& problem,
                                        const Settings& settings) {
  const std::string label = current_name(remembered);
  if (label == "native") {
    const Candidate native{nullptr, {Via::native}, 0};
    return allows(settings, native) ? std::optional(native) : std::nullopt;
  }
  const std::vector<std::string> words = split(label);
  const std::vector<std::string> known = problem.planners.algorithms();
  if (words.empty() || std::find(known.begin(), known.end(), words[0]) == known.end())
    return std::nullopt;
  std::string reason;
  for (VariantPtr& planned :
       problem.planners.variants(words[0], problem.collective, problem.sizes.average, reason)) {
    Candidate candidate{std::move(planned), {}, 0};
    for (const std::string& word : words) {
      for (Via via : choosable)
        if (word == ChannelChoice{via}.name()) candidate.channel.via = via;
      if (word.starts_with("ready tree of ") && word.size() < 24)
        candidate.channel.ready_degree = std::atoi(word.c_str() + 14);
      if (word == "single copy") candidate.channel.single_copy = true;
      if (word == "immediate") candidate.channel.immediate = true;
      if (word.starts_with("segments of ") && word.size() < 24)
        candidate.channel.segment = std::strtoull(word.c_str() + 12, nullptr, 10);
    }
    if (candidate.label() == label && allows(settings, candidate)) return candidate;
  }
  return std::nullopt;
}

Candidate fixed_rule(const Problem& problem, const Settings& settings) {
  Settings wanted = settings;
  const std::vector<std::string> known = problem.planners.algorithms();
  const bool combine = problem.sizes.average <= small_block &&
                       std::find(known.begin(), known.end(), "torus-direct") != known.end();
  if (wanted.algorithm == "auto") wanted.algorithm = combine ? "torus-direct" : "linear";
  if (wanted.algorithm == "native") return {nullptr, {Via::native}, 0};
  std::string reasons;
  std::vector<Candidate> all = candidates_of(problem, wanted, reasons);
  if (all.empty() && settings.algorithm == "auto" && wanted.algorithm != "linear") {
    wanted.algorithm = "linear";
    all = candidates_of(problem, wanted, reasons);
  }
  if (all.empty()) refuse(settings, reasons);
  return all.front();
}

}  // namespace tonari
