// SPDX-License-Identifier: BSD-3-Clause
#include "engine/tune/selector.hpp"

#include <algorithm>
#include <iomanip>

#include "base/setting_table.hpp"
#include "engine/run/forwarded_sizes.hpp"
#include "engine/tune/trial.hpp"
#include "engine/tune/wisdom.hpp"
#include "engine/wait/agree.hpp"
#include "select/contenders.hpp"

namespace tonari {
namespace {

// The finalists' limits, in times of the best:
constexpr double close = 1.3;
// the same for the immediate form of an exchange that takes at most this many seconds
constexpr double promising = 3, short_exchange = 5e-6;
constexpr std::size_t most_finalists = 8;

void add_lines(std::string& details, const std::vector<Timing>& timings) {
  for (const Timing& t : timings)
    details +=
        !t.refusal.empty() ? text("  ", t.candidate.label(), ": ", t.refusal, "\n")
        : t.wrong
            ? text("  ", t.candidate.label(), ": delivers wrong blocks on this MPI, left out\n")
            : text("  ", std::setprecision(3), t.seconds * 1e6, " us  ", t.candidate.label(),
                   " (predicted ", t.candidate.predicted * 1e6, " us)\n");
}

// The leaders, each also in its immediate form. Starting persistent requests costs some MPIs more
// than it saves, which decides short exchanges. So there the immediate forms of others take part,
// too.
std::vector<Candidate> finalists_of(const std::vector<Timing>& first, const Settings& settings) {
  std::vector<Candidate> finalists;
  for (const Timing& t : first) {
    const bool in_front = t.seconds <= close * first[0].seconds;
    const bool may_be = t.seconds < short_exchange && t.seconds <= promising * first[0].seconds;
    if (!t.usable() || !(in_front || may_be) || finalists.size() >= most_finalists) continue;
    if (in_front) finalists.push_back(t.candidate);
    if (const auto other = finalist_form(t.candidate); other && settings.algorithm != "irecv")
      finalists.push_back(*other);
  }
  return finalists;
}

// 0 if it took no part, or delivers wrong blocks.
double native_seconds(const std::vector<Timing>& timings) {
  const auto native = std::ranges::find_if(
      timings, [](const Timing& t) { return !t.candidate.planned && t.usable(); });
  return native == timings.end() ? 0 : native->seconds;
}

void take(const std::vector<Timing>& timings, Choice& choice) {
  const Timing& best = timings[0];
  add_lines(choice.details, timings);
  choice.candidate = best.candidate;
  choice.reason = best.usable() ? "measured" : "model";
  choice.measured = best.seconds, choice.steady = best.steady;
  const double native = native_seconds(timings);
  choice.times = {best.seconds, native > 0 ? native : choice.times.native};
}

// First all candidates run on persistent requests, then the leaders once more, also without.
Choice contest(Context& context, const std::vector<Candidate>& candidates, const Settings& settings,
               Shadow& shadow) {
  const double seconds = tune_seconds(context.comm(), settings.tune);
  Choice choice;
  choice.details = "measured:\n";
  const std::vector<Timing> first =
      time_candidates(context, candidates, settings, shadow, seconds / 2);
  take(first, choice);
  const std::vector<Candidate> finalists = finalists_of(first, settings);
  if (finalists.size() <= 1) return choice;
  choice.details +=
      "those in front once more, also with Isend and Irecv instead of persistent requests:\n";
  take(time_candidates(context, finalists, settings, shadow, seconds / 2), choice);
  return choice;
}

Choice measure_on_copies(Context& context, const std::vector<Candidate>& candidates,
                         const Problem& problem, const Settings& settings,
                         const Arguments& arguments) {
  std::optional<Shadow> shadow = Shadow::make(arguments);
  const Ballot here = shadow.has_value();
  if (!agree(context.comm(), std::nullopt, std::span(&here, 1))[0] || !shadow)
    return {{"model"},
            candidates.front(),
            "the buffers are too large to be measured on copies of them\n"};
  std::vector<Candidate> chosen = affordable(candidates);
  exchange_forwarded_sizes(context, chosen, problem, settings, arguments.binding);
  Choice choice = contest(context, chosen, settings, *shadow);
  if (!choice.steady) choice.details += unsteady_times;
  return choice;
}

// Collective, together: what happens on copies. If some rank lacks the memory for them, that is no
// error of the exchange itself, which may need less; it is returned.
template <class Work>
std::optional<Error> on_copies(Context& context, const Work& work) {
  stay_together(context.comm());
  const std::optional<Error> error = error_of([&] { run_collectively(context.comm(), work); });
  context.drop_trial_graph();  // here all ranks are together
  if (error && error->code() != Errc::memory) throw *error;
  return error;
}

Choice measure(Context& context, const std::vector<Candidate>& candidates, const Problem& problem,
               const Settings& settings, const Arguments& arguments) {
  Choice choice;
  const std::optional<Error> lacking = on_copies(context, [&] {
    choice = measure_on_copies(context, candidates, problem, settings, arguments);
  });
  if (!lacking) return choice;
  return {{"model"}, candidates.front(), text("nothing was measured: ", lacking->what(), "\n")};
}

Choice race(const std::vector<Candidate>& candidates, std::size_t most, std::string key) {
  Contenders contenders = contenders_of(candidates, std::min(most, Race::most_candidates));
  Choice choice{{"online"}, contenders.now.front()};
  choice.rivals.assign(contenders.now.begin() + 1, contenders.now.end());
  if (choice.rivals.empty()) choice.reason = "model";
  choice.question = std::move(key);
  choice.untried = std::move(contenders.later);
  return choice;
}

// Where there is no memory for copies, there is no proof.
bool native_is_proved(Context& context, const Candidate& native, const Problem& problem,
                      const Settings& settings, const Arguments& arguments) {
  Settings plain = settings;
  plain.algorithm = "linear";
  bool right = false;
  const std::optional<Error> lacking = on_copies(context, [&] {
    right = proves_right(context, native, fixed_rule(problem, plain), problem, settings, arguments);
  });
  return right && !lacking;
}

// Starts try what no request of this kind has tried yet beside what they remember.
void try_beside(Context& context, const std::string& label, std::string key, const Problem& problem,
                const Settings& settings, const Arguments& arguments, Choice& choice) {
  const std::optional<Candidate> found = find_candidate(label, problem, settings);
  if (!found || !not_applicable(found->channel, problem, settings).empty()) return;
  if (!found->planned && !native_is_proved(context, *found, problem, settings, arguments)) {
    choice.details = text(label, " is not tried: its blocks could not be proved right\n");
    return;
  }
  choice.details = text("remembered: ", choice.candidate.label(), "; beside it starts try ", label,
                        ", which no such request has tried\n");
  choice.rivals = {*found};
  choice.question = std::move(key);
}

Choice choose_candidate(Context& context, const Problem& problem, const Settings& settings,
                        const Arguments& arguments) {
  const bool native_ok = native_is_right(context.topology().shape);
  if (settings.algorithm == "native" && !native_ok)
    fail(Errc::algorithm,
         "algorithm 'native' cannot be used here: this MPI's neighborhood collectives lose or "
         "exchange blocks on such a neighborhood");
  if (settings.tune == Tune::off)
    return {{settings.algorithm == "auto" ? "fixed rule" : "forced"},
            fixed_rule(problem, settings)};
  std::vector<std::string> keys;
  if (settings.tune != Tune::model && settings.tune != Tune::measure) {
    keys.push_back(wisdom_key(context, problem_key(problem, settings)));
    if (settings.tune != Tune::automatic) keys.push_back(keys[0] + by_starts);
    const bool may_try = settings.tune == Tune::online && settings.contenders > 1;
    for (const Remembered& known : recall(context, keys, Trials{may_try}))
      if (const auto found = find_candidate(known.label, problem, settings);
          found && (found->planned || native_ok)) {
        Choice choice{{"wisdom", 0, known.times}, *found};
        for (const std::string& label : known.untried)
          if (label != "native" || native_ok)
            try_beside(context, label, keys.back(), problem, settings, arguments, choice);
        return choice;
      }
  }
  std::vector<Candidate> candidates = enumerate(problem, settings, context.machine());
  if (!native_ok) std::erase_if(candidates, [](const Candidate& c) { return !c.planned; });
  if (settings.algorithm == "irecv" || settings.algorithm == "native")
    return {{"forced"}, candidates[0]};
  if (settings.tune == Tune::model || settings.tune == Tune::recall || context.ranks() == 1) {
    Choice choice{{"model"}, candidates.front(), "predicted:\n"};
    for (const Candidate& c : candidates)
      choice.details +=
          text("  ", std::setprecision(3), c.predicted * 1e6, " us  ", c.label(), "\n");
    return choice;
  }
  if (settings.tune == Tune::online)
    return race(candidates, settings.contenders, std::move(keys.back()));
  if (keys.empty()) keys.push_back(wisdom_key(context, problem_key(problem, settings)));
  Choice choice = measure(context, candidates, problem, settings, arguments);
  if (choice.steady) remember(context, keys[0], {choice.candidate.label(), choice.times});
  return choice;
}

// For the report, which compares with MPI's own collective where that was not measured.
void ask_the_model(Context& context, const Problem& problem, const Settings& settings,
                   Choice& choice) {
  const LogGP& machine = context.machine();
  std::vector<Candidate*> asked{&choice.candidate};
  for (Candidate& rival : choice.rivals) asked.push_back(&rival);
  std::erase_if(asked, [](const Candidate* c) { return c->predicted != 0; });
  std::vector<double> prices{predict_native(problem, settings, machine)};
  for (const Candidate* c : asked) prices.push_back(predict(*c, problem, settings, machine));
  if (problem.sizes.edges) problem.heaviest(prices);
  choice.predicted_native = prices.front();
  for (std::size_t k = 0; k < asked.size(); ++k) asked[k]->predicted = prices[k + 1];
}

}  // namespace

std::string problem_key(const Problem& problem, const Settings& settings) {
  return text(std::hex, problem.fingerprint, std::dec, "|", name(problem.collective), "|",
              size_class(problem.sizes.average), "|",
              problem.contiguous ? "contiguous" : "non-contiguous", "|",
              problem.sizes.bytes.empty() ? "uneven" : "even", choice_key(settings));
}

const Choice& RememberedChoices::of(Context& context, const Problem& problem,
                                    const Settings& settings) {
  const std::string key = text(problem_key(problem, settings), "|", fingerprint(settings));
  if (const auto known = choices_.find(key); known != choices_.end()) return known->second;
  Settings unmeasured = settings;
  if (measures(settings.tune) || settings.tune == Tune::online) unmeasured.tune = Tune::recall;
  std::map<std::string, Choice> fresh;
  fresh.emplace(key, choose(context, problem, unmeasured, {}));
  stay_together(context.comm());
  choices_.merge(fresh);  // on all ranks or on none: it decides who asks the others
  return choices_.find(key)->second;
}

Choice choose(Context& context, const Problem& problem, const Settings& settings,
              const Arguments& arguments) {
  Choice choice = choose_candidate(context, problem, settings, arguments);
  const bool may_ask = settings.tune != Tune::off && choice.times.native == 0;
  if (context.shared().reports() && may_ask) ask_the_model(context, problem, settings, choice);
  return choice;
}

}  // namespace tonari
