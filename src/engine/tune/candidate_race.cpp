// SPDX-License-Identifier: BSD-3-Clause
#include "engine/tune/candidate_race.hpp"

#include <algorithm>

#include "engine/comm/finding.hpp"
#include "engine/run/build.hpp"
#include "engine/run/forwarded_sizes.hpp"

namespace tonari {
OnlineExchange::Remember remember_by_starts(const Context& context, const std::string& question,
                                            std::vector<std::string> labels,
                                            std::vector<std::string> untried) {
  if (context.rank() != 0) return nullptr;
  auto made = std::make_shared<Finding>(question, std::move(labels), std::move(untried));
  return [finding = std::move(made)](const OnlineExchange::Result& result) {
    if (result.steady) finding->decide(result.winner, result.seconds);
  };
}

std::unique_ptr<OnlineExchange> make_race(Context& context,
                                          std::vector<OnlineExchange::Contender> contenders,
                                          int sum_tag, double timeout,
                                          OnlineExchange::Remember remember) {
  return std::make_unique<OnlineExchange>(
      std::move(contenders), std::make_unique<TreeSum>(context.shared_comm(), sum_tag),
      OnlineExchange::Options{context.ranks(),
                              {context.node()->crowded(), timeout},
                              MPI_Wtime,
                              std::move(remember),
                              context.node(),
                              context.any_crowded()});
}

// All take the same tags. No message of one can be taken for one of another: ranks complete each
// exchange before they start the next, and messages between two ranks do not overtake each other.
CandidateRace build_candidate_race(Context& context, const Choice& choice, const Problem& problem,
                                   const Settings& settings, const Arguments& arguments) {
  std::vector<Candidate> all{choice.candidate};
  all.insert(all.end(), choice.rivals.begin(), choice.rivals.end());
  exchange_forwarded_sizes(context, all, problem, settings, arguments.binding);
  std::size_t tags = 0;
  for (const Candidate& c : all) tags = std::max(tags, c.tags());
  context.reserve_tags(tags + 1);
  CandidateRace made{nullptr, {}, tags + 1, {}};
  std::vector<OnlineExchange::Contender> contenders;
  std::vector<Wiring> wirings = wire(context, all, settings, arguments.binding, Purpose::race);
  for (std::size_t c = 0; c < all.size(); ++c) {
    if (!wirings[c].refusal.empty()) {
      made.refusal = wirings[c].refusal;
      continue;
    }
    contenders.push_back({all[c].label(), build(context, all[c], settings, arguments,
                                                context.first_tag(), std::move(wirings[c]))});
    made.candidates.push_back(all[c]);
  }
  if (contenders.size() < 2) return made;
  std::vector<std::string> labels;
  for (const Candidate& c : made.candidates) labels.push_back(c.label());
  made.exchange =
      make_race(context, std::move(contenders), context.first_tag() + static_cast<int>(tags),
                settings.timeout,
                remember_by_starts(context, choice.question, std::move(labels), choice.untried));
  return made;
}

}  // namespace tonari
