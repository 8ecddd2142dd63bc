// SPDX-License-Identifier: BSD-3-Clause
#include "select/contenders.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace tonari {
namespace {

constexpr std::ptrdiff_t most_of_channel = 2, most_of_algorithm = 3;
// times the best prediction: trying slower ones costs more than they may win
constexpr double worth_a_try = 4;
// bytes that candidates may hold together on one rank while they are measured
constexpr double most_scratch = 256 << 20;

bool expensive(const ChannelChoice& channel) {
  return channel.base.row->expensive ||
         std::ranges::any_of(channel.edges, [](const auto& part) { return part.row->expensive; });
}

// Ways of moving messages differ most where predictions are worst. So the best candidate of each
// takes part, whatever is predicted, if connecting it is cheap. `others` gets the rest.
std::vector<Candidate> one_of_each_way(std::span<const Candidate> candidates, std::size_t most,
                                       std::vector<const Candidate*>& others) {
  std::vector<Candidate> chosen;
  std::set<std::pair<std::string, std::string>> seen;
  for (const Candidate& c : candidates) {
    const bool cheap_enough = chosen.empty() || !expensive(c.channel);
    if (cheap_enough && chosen.size() < most &&
        seen.emplace(c.channel.name(), c.channel.detail()).second)
      chosen.push_back(c);
    else
      others.push_back(&c);
  }
  return chosen;
}

bool apart(const Candidate& candidate) { return candidate.variant() == uncombined; }

bool within_nodes(const ChannelChoice& channel) {
  return std::ranges::any_of(
      channel.edges, [](const auto& part) { return part.row->carries == Carries::node_messages; });
}

// Long blocks for one rank may be faster one by one: less memory is in use at a time, and MPIs copy
// one piece straight. What they gain is more than a model of messages knows. So each way that takes
// part does so in this form, too, unless it would be much slower. Channels of a node come first,
// where tonari itself moves the bytes.
void add_apart_forms(std::vector<const Candidate*>& others, std::size_t most,
                     std::vector<Candidate>& chosen) {
  const auto worth_it = [&](const Candidate& c) {
    const auto way = std::ranges::find(chosen, c.channel, &Candidate::channel);
    return way != chosen.end() && !apart(*way) && c.predicted <= worth_a_try * way->predicted;
  };
  for (const bool near : {true, false})
    std::erase_if(others, [&](const Candidate* c) {
      const bool fits = chosen.size() < most && apart(*c) && within_nodes(c->channel) == near &&
                        !expensive(c->channel) && worth_it(*c);
      if (fits) chosen.push_back(*c);
      return fits;
    });
}

// Predictions are worst at comparing channels and algorithms, so not all are of one.
bool adds_variety(const Candidate& candidate, const std::vector<Candidate>& chosen) {
  const auto channel = [](const Candidate& c) { return c.channel.name(); };
  const auto algorithm = [](const Candidate& c) { return c.algorithm(); };
  return std::ranges::count(chosen, channel(candidate), channel) < most_of_channel &&
         std::ranges::count(chosen, algorithm(candidate), algorithm) < most_of_algorithm;
}

// Forms that else only finalists of a contest take (Channel::finalist).
void add_finalist_forms(std::vector<Candidate>& chosen, std::size_t most) {
  const std::size_t leaders = chosen.size();
  for (std::size_t k = 0; k < leaders && chosen.size() < most; ++k)
    if (std::optional<Candidate> other = finalist_form(chosen[k]))
      chosen.push_back(std::move(*other));
}

std::vector<Candidate> chosen_of(std::span<const Candidate> candidates, std::size_t most) {
  std::vector<const Candidate*> others, left;
  std::vector<Candidate> chosen = one_of_each_way(candidates, most, others);
  const double worth = worth_a_try * candidates.front().predicted;
  add_apart_forms(others, most, chosen);
  for (const Candidate* c : others) {
    if (c->predicted > worth && chosen.size() > 1) break;
    if (chosen.size() < most && adds_variety(*c, chosen))
      chosen.push_back(*c);
    else
      left.push_back(c);
  }
  if (chosen.size() > 1) add_finalist_forms(chosen, most);
  for (auto c = left.begin(); c != left.end() && chosen.size() < most; ++c) chosen.push_back(**c);
  return chosen;
}

std::vector<std::string> left_of(std::span<const Candidate> candidates,
                                 std::span<const Candidate> contenders) {
  std::set<std::string> seen;
  for (const Candidate& c : contenders) seen.insert(c.channel.name());
  std::vector<std::string> labels;
  for (const Candidate& c : candidates)
    if (expensive(c.channel) && seen.insert(c.channel.name()).second) labels.push_back(c.label());
  return labels;
}

}  // namespace

std::vector<Candidate> affordable(std::span<const Candidate> candidates) {
  std::vector<Candidate> chosen;
  double bytes = 0;
  for (const Candidate& c : candidates) {
    if (c.scratch > 0 && bytes + c.scratch > most_scratch) continue;
    bytes += c.scratch;
    chosen.push_back(c);
  }
  if (chosen.empty()) chosen.push_back(candidates.front());
  return chosen;
}

Contenders contenders_of(std::span<const Candidate> candidates, std::size_t most) {
  std::vector<Candidate> planned;
  std::ranges::copy_if(candidates, std::back_inserter(planned),
                       [](const Candidate& c) { return c.planned != nullptr; });
  Contenders contenders{chosen_of(affordable(planned), most), {}};
  contenders.later = left_of(candidates, contenders.now);
  return contenders;
}

}  // namespace tonari
