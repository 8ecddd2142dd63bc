// SPDX-License-Identifier: BSD-3-Clause
#include "select/candidates.hpp"

#include <algorithm>
#include <set>

#include "base/split.hpp"
#include "planners/registry.hpp"

namespace tonari {
namespace {

constexpr double hopeless = 8;  // times the best prediction: not worth a measurement

// Programs that ask for linear by name get what its name promises: one message per rank.
bool allows(const Settings& settings, const Candidate& candidate) {
  const bool apart = candidate.variant() == uncombined;
  const bool algorithm =
      settings.algorithm == "auto" ||
      (settings.algorithm == candidate.algorithm() && (!apart || settings.variant == uncombined)) ||
      (settings.algorithm == "irecv" && apart);
  const bool variant = settings.variant.empty() || settings.variant == candidate.variant();
  return algorithm && variant && candidate.channel.has_asked(settings) &&
         (settings.any_channel() || settings.channel == candidate.channel.name());
}

// MPI's own collective.
Candidate native_candidate(const Problem& problem) {
  const auto row = std::ranges::find(problem.channels, Carries::exchange, &Channel::carries);
  if (row == problem.channels.end()) fail(Errc::internal, "no channel carries whole exchanges");
  return {nullptr, {{*row}}, 0};
}

// The channel that the settings ask for, or the first one. irecv is the other form of that.
ChannelChoice first_channel(const Problem& problem, const Settings& settings) {
  ChannelChoice first = find_choice(problem.channels, settings.channel);
  if (!first.base.row) first.base.row = problem.channels.front();
  first.ask(settings);
  if (settings.algorithm == "irecv") first.base.detail = first.base.row->finalist("");
  return first;
}

// irecv is linear in another form.
bool forces(const Settings& settings, const std::string& algorithm) {
  return algorithm == (settings.algorithm == "irecv" ? "linear" : settings.algorithm);
}

// Those of one algorithm, over `channel`; none, with the reason, if it is not to be used.
std::vector<Candidate> planned(const std::string& algorithm, const Problem& problem,
                               const Settings& settings, const ChannelChoice& channel,
                               std::string& reason) {
  std::vector<Candidate> all;
  const std::optional<std::string> named =
      forces(settings, algorithm) ? std::optional(settings.variant) : std::nullopt;
  for (VariantPtr& variant : problem.planners.variants(algorithm, problem.collective,
                                                       problem.sizes.average, named, reason))
    all.push_back({std::move(variant), channel, 0});
  for (Candidate& candidate : all) candidate.unpaying = reason;
  if (!all.empty()) reason.clear();
  return all;
}

// Variants of all algorithms that may be used; `reasons` gets why the others may not.
std::vector<Candidate> candidates_of(const Problem& problem, const Settings& settings,
                                     std::string& reasons) {
  std::vector<Candidate> all;
  reasons.clear();
  for (const std::string& algorithm : problem.planners.algorithms()) {
    if (settings.algorithm != "auto" && !forces(settings, algorithm)) continue;
    std::string reason, variants;
    for (Candidate& candidate :
         planned(algorithm, problem, settings, first_channel(problem, settings), reason)) {
      variants += (variants.empty() ? "'" : ", '") + candidate.variant() + "'";
      if (settings.variant.empty() || settings.variant == candidate.variant())
        all.push_back(std::move(candidate));
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

// Of those that do the same, the first stays.
void remove_duplicates(std::vector<Candidate>& all) {
  std::set<std::uint64_t> seen;
  std::erase_if(all,
                [&](const Candidate& c) { return !seen.insert(c.planned->dedup_key()).second; });
}

// Prices of edges differ between ranks: an exchange takes what the busiest of them says.
void agree_on_prices(std::vector<Candidate>& all, const Problem& problem) {
  if (!problem.sizes.edges) return;
  std::vector<double> prices;
  for (const Candidate& candidate : all) prices.push_back(candidate.predicted);
  problem.heaviest(prices);
  for (std::size_t k = 0; k < all.size(); ++k) all[k].predicted = prices[k];
}

// The two best predicted variants of an algorithm stay; hopeless ones go, but never linear.
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

std::string Candidate::label() const {
  std::string label = algorithm();
  if (!planned) return label;
  if (!variant().empty()) label += "/" + variant();
  label += "/" + channel.name();
  const std::string detail = channel.detail();
  return detail.empty() ? label : label + "/" + detail;
}

std::string not_applicable(const ChannelChoice& channel, const Problem& problem,
                           const Settings& settings) {
  std::string reason = channel.base.row->applicable(problem, settings);
  for (const ChannelChoice::Part& part : channel.edges)
    if (reason.empty()) reason = part.row->applicable(problem, settings);
  return reason;
}

namespace {

double scratch_of(const Candidate& candidate, const Problem& problem) {
  if (!candidate.planned) return 0;
  double most = candidate.channel.base.row->scratch(*candidate.planned, problem);
  for (const ChannelChoice::Part& part : candidate.channel.edges)
    most = std::max(most, part.row->scratch(*candidate.planned, problem));
  return most;
}

// What a rank reads and writes in an exchange: its blocks, and what it holds for a plan.
double bytes_touched(const Candidate& candidate, const Problem& problem) {
  const auto blocks = static_cast<double>(problem.neighbors);
  const double sent = problem.collective == Collective::allgather ? 1 : blocks;
  return problem.sizes.average * (sent + blocks) + scratch_of(candidate, problem);
}

// The choice as it is, then each of its parts with each of its details.
std::vector<ChannelChoice> with_details(const ChannelChoice& plain, const Offer& offer) {
  std::vector<ChannelChoice> all{plain};
  const auto vary = [&](const ChannelChoice::Part& part, auto&& part_of) {
    for (const std::string& detail : part.row->details(offer, plain.edges.size() > 1))
      part_of(all.emplace_back(plain)).detail = joined(part.detail, detail);
  };
  if (plain.edges.empty()) vary(plain.base, [](ChannelChoice& c) -> auto& { return c.base; });
  for (std::size_t k = 0; k < plain.edges.size(); ++k)
    vary(plain.edges[k], [k](ChannelChoice& c) -> auto& { return c.edges[k]; });
  return all;
}

// The candidate, and the same over all other channels that are applicable.
std::vector<Candidate> over_channels(const Candidate& candidate, const Problem& problem,
                                     const Settings& settings, const LogGP& machine) {
  std::vector<Candidate> all{candidate};
  if (!candidate.planned || settings.algorithm == "irecv") return all;
  const Offer offer{candidate.planned.get(), problem, settings, machine};
  for (ChannelChoice& plain : all_choices(problem.channels)) {
    plain.ask(settings);
    if (!not_applicable(plain, problem, settings).empty()) continue;
    for (ChannelChoice& channel : with_details(plain, offer)) {
      Candidate other{candidate.planned, std::move(channel), 0};
      if (other.channel == candidate.channel || !allows(settings, other)) continue;
      other.predicted = predict(other, problem, settings, machine);
      all.push_back(std::move(other));
    }
  }
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
  if (native_only ||
      (settings.algorithm == "auto" && settings.any_channel() && settings.ports == 0))
    all.push_back(native_candidate(problem));
  for (Candidate& candidate : all)
    candidate.predicted = predict(candidate, problem, settings, machine);
  if (all.empty()) refuse(settings, reasons);
  agree_on_prices(all, problem);
  std::ranges::stable_sort(all, {}, &Candidate::predicted);
  keep_promising(all);
  std::vector<Candidate> moved;
  for (const Candidate& candidate : all)
    for (Candidate& way : over_channels(candidate, problem, settings, machine)) {
      way.scratch = scratch_of(way, problem);
      moved.push_back(std::move(way));
    }
  agree_on_prices(moved, problem);
  std::ranges::stable_sort(moved, {}, &Candidate::predicted);
  return moved;
}

double predict(const Candidate& candidate, const Problem& problem, const Settings& settings,
               const LogGP& machine) {
  const ChannelChoice& channel = candidate.channel;
  const ChannelChoice::Part& part = channel.edges.empty() ? channel.base : channel.edges.front();
  const LogGP here = touching(machine, bytes_touched(candidate, problem));
  const double turns = static_cast<double>(machine.ranks_per_core);
  return machine.start * turns +
         part.row->price({candidate.planned.get(), problem, settings, here}, part.detail);
}

double predict_native(const Problem& problem, const Settings& settings, const LogGP& machine) {
  return predict(native_candidate(problem), problem, settings, machine);
}

std::optional<Candidate> finalist_form(const Candidate& candidate) {
  if (!candidate.planned || !candidate.channel.edges.empty()) return std::nullopt;
  std::string detail = candidate.channel.base.row->finalist(candidate.channel.base.detail);
  if (detail.empty()) return std::nullopt;
  Candidate other = candidate;
  other.channel.base.detail = std::move(detail);
  return other;
}

std::optional<Candidate> find_candidate(const std::string& remembered, const Problem& problem,
                                        const Settings& settings) {
  const std::string label = current_name(remembered);
  if (label == "native") {
    const Candidate native = native_candidate(problem);
    return allows(settings, native) ? std::optional(native) : std::nullopt;
  }
  const std::string algorithm = label.substr(0, label.find('/'));
  if (std::ranges::count(problem.planners.algorithms(), algorithm) == 0) return std::nullopt;
  std::string reason;
  for (Candidate& candidate : planned(algorithm, problem, settings, {}, reason)) {
    const std::string start =
        algorithm + "/" + (candidate.variant().empty() ? "" : candidate.variant() + "/");
    if (!label.starts_with(start)) continue;
    const std::vector<std::string> words = split(label.substr(start.size()), "/");
    candidate.channel = find_choice(problem.channels, words[0], std::span(words).subspan(1));
    if (candidate.channel.base.row && candidate.label() == label && allows(settings, candidate))
      return candidate;
  }
  return std::nullopt;
}

Candidate fixed_rule(const Problem& problem, const Settings& settings) {
  Settings wanted = settings;
  const std::vector<std::string> known = problem.planners.algorithms();
  const bool combine = problem.sizes.average <= small_block &&
                       std::find(known.begin(), known.end(), "torus-direct") != known.end();
  if (wanted.algorithm == "auto") wanted.algorithm = combine ? "torus-direct" : "linear";
  if (wanted.algorithm == "native") return native_candidate(problem);
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
