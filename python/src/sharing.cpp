// SPDX-License-Identifier: BSD-3-Clause
#include "sharing.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/schedule_plan.hpp"
#include "base/error.hpp"
#include "cost/simulator.hpp"
#include "planners/graphs/planning_root.hpp"
#include "planners/patterns/balance_name.hpp"
#include "planners/patterns/balanced.hpp"
#include "planners/patterns/message_schedule.hpp"
#include "planners/patterns/message_sharing.hpp"
#include "planners/patterns/store_and_forward.hpp"
#include "planners/patterns/thesis_sharing.hpp"
#include "planners/patterns/value_ways.hpp"
#include "planners/patterns/within_words.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tonari {
namespace {

using RanksIn = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using WordsIn = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr double word_bytes = 8;

struct Scheme {
  std::string name, variant, summary;
  std::function<MessageSchedule(const CommunicationMatrix&)> make;
};

// A matrix, and the sums that its words are parts of, if they are known.
struct Pattern : CommunicationMatrix {
  std::vector<NeededValue> sums = {};
};

struct SharingAnswer {
  std::string scheme, variant, summary;
  ScheduleMetrics metrics;
  // overhead: between ranks that have nothing for each other in the pattern
  std::size_t messages = 0, overhead = 0;
  double predicted = 0, planning = 0;  // seconds: of an exchange, and what it took to plan it
  // where ranks on the way add what they get for one sum; 0: sums are not known
  std::size_t added_words = 0, added_messages = 0;
};

Scheme sharing(int phases) {
  return {"sharing-" + std::to_string(phases), "",
          phases == 1 ? "message sharing, Phase I" : "message sharing, Phases I and II",
          [phases](const CommunicationMatrix& m) { return combine(m, share_messages(m, phases)); }};
}

Scheme forward(int dimensions) {
  return {"store-and-forward/" + std::to_string(dimensions), "",
          "store and forward, " + std::to_string(dimensions) + " dimensions",
          [dimensions](const CommunicationMatrix& m) { return store_and_forward(m, dimensions); }};
}

// The thesis as written, which is compared with only where it is named.
std::vector<Scheme> thesis_schemes() {
  std::vector<Scheme> list;
  for (int phases : {1, 2})
    list.push_back(
        {"thesis-" + std::to_string(phases), "",
         phases == 1 ? "the thesis's Phase I as written"
                     : "the thesis's Phases I and II as written",
         [phases](const CommunicationMatrix& m) { return combine(m, thesis_routes(m, phases)); }});
  return list;
}

// Points of its front, its default last.
void add_balanced(std::vector<Scheme>& list) {
  const auto add = [&](const std::string& variant, const std::string& summary,
                       const BalanceOptions& options) {
    list.push_back({"balanced", variant, summary,
                    [options](const CommunicationMatrix& m) { return balanced(m, options); }});
  };
  for (const auto& [most, words] :
       {std::pair("1.1", 1.1), std::pair("1.25", 1.25), std::pair("1.5", 1.5)}) {
    BalanceOptions options;
    options.price = 5;
    options.words = words;
    add(std::string("words<=") + most,
        std::string("2 stages, at most ") + most + " times the words", options);
  }
  for (int stages : {4, 3}) {
    BalanceOptions options;
    options.stages = stages;
    add(std::to_string(stages) + " stages", std::to_string(stages) + " stages, few messages",
        options);
  }
  add("", "2 stages, few messages", {});
}

// All that can be used on so many ranks, in the order in which they are shown.
std::vector<Scheme> schemes(int ranks) {
  std::vector<Scheme> list{{"direct", "", "every block straight to its target", &direct_schedule}};
  for (int n = 2; n <= most_dimensions(ranks); ++n) list.push_back(forward(n));
  list.push_back(sharing(1));
  list.push_back(sharing(2));
  if (ranks <= most_balanced_ranks) add_balanced(list);
  return list;
}

// All blocks of their average size: the simulator's blocks have one size on all ranks.
double price(const CommunicationMatrix& matrix, const MessageSchedule& schedule,
             const LogGP& machine) {
  if (matrix.blocks() == 0) return 0;
  const double average = word_bytes * static_cast<double>(matrix.statistics().words) /
                         static_cast<double>(matrix.blocks());
  const auto bytes = static_cast<std::uint64_t>(std::max(average + 0.5, 1.0));
  return simulate(schedule_plans(matrix, schedule), [bytes](Slice) { return bytes; }, machine);
}

void add_on_the_way(const Pattern& matrix, const MessageSchedule& schedule, SharingAnswer& answer) {
  std::set<std::tuple<std::int32_t, std::int32_t, std::int32_t>> messages;
  for (const ValueHop& hop : value_ways(Flowing::sums, matrix, schedule, matrix.sums))
    ++answer.added_words, messages.emplace(hop.stage, hop.from, hop.to);
  answer.added_messages = messages.size();
}

SharingAnswer answer(const Pattern& matrix, const Scheme& scheme, const LogGP& machine) {
  const auto begin = std::chrono::steady_clock::now();
  const MessageSchedule schedule = scheme.make(matrix);
  const double planning =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  SharingAnswer answer{scheme.name,
                       scheme.variant,
                       scheme.summary,
                       schedule.metrics(matrix),
                       schedule.messages().size(),
                       0,
                       0,
                       planning};
  for (const CombinedMessage& m : schedule.messages())
    answer.overhead += matrix.find(m.from, m.to) == CommunicationMatrix::none;
  answer.predicted = price(matrix, schedule, machine);
  add_on_the_way(matrix, schedule, answer);
  return answer;
}

Scheme balanced_scheme(std::string variant, const BalanceOptions& options) {
  return {"balanced", std::move(variant), "",
          [options](const CommunicationMatrix& m) { return front_point(m, options); }};
}

// One that is listed, or any point of balanced.
Scheme find_scheme(int ranks, const std::string& name, const std::string& variant) {
  for (std::vector<Scheme> list : {schemes(ranks), thesis_schemes()})
    for (Scheme& scheme : list)
      if (scheme.name == name && scheme.variant == variant) return std::move(scheme);
  if (name == "balanced" && names_a_balance(variant))
    return balanced_scheme(variant, balance_named(variant));
  fail(Errc::algorithm, "there is no scheme '", name, "' with variant '", variant, "' on ", ranks,
       " ranks");
}

SharingAnswer analyze(const Pattern& matrix, const std::string& name, const std::string& variant,
                      const LogGP& machine) {
  return answer(matrix, find_scheme(matrix.ranks(), name, variant), machine);
}

std::string schedule(const CommunicationMatrix& matrix, const std::string& name,
                     const std::string& variant) {
  return schedule_text(matrix, find_scheme(matrix.ranks(), name, variant).make(matrix));
}

SharingAnswer analyze_balanced(const Pattern& matrix, int stages, double price, double words,
                               const LogGP& machine) {
  return answer(matrix, balanced_scheme("", {stages, price, words}), machine);
}

SharingAnswer analyze_within(const Pattern& matrix, double words, const LogGP& machine) {
  BalanceOptions options;
  options.stages = any_stages, options.words = words;
  return answer(matrix, balanced_scheme("", options), machine);
}

// Whether a program plans it at one rank by the name of a point.
bool runs_by_name(const Pattern& matrix) {
  return matrix.blocks() <= static_cast<std::size_t>(most_named_blocks) &&
         matrix.ranks() <= most_root_ranks;
}

// outgoingSize of the thesis's algorithms, by rank, after Phase I and after both.
std::pair<std::vector<int>, std::vector<int>> thesis_counts(const CommunicationMatrix& matrix) {
  const ThesisSenders one = thesis_senders(matrix);
  return {one.counted, thesis_helpers(second_hop_matrix(matrix, {one.sender})).counted};
}

CommunicationMatrix make_matrix(int ranks, const RanksIn& senders, const RanksIn& receivers,
                                const WordsIn& words) {
  if (senders.shape(0) != receivers.shape(0) || senders.shape(0) != words.shape(0))
    fail(Errc::argument, "senders, receivers and words must be equally many, not ",
         senders.shape(0), ", ", receivers.shape(0), " and ", words.shape(0));
  std::vector<Flow> flows(senders.shape(0));
  for (std::size_t k = 0; k < flows.size(); ++k)
    flows[k] = {senders.data()[k], receivers.data()[k], words.data()[k]};
  return CommunicationMatrix(ranks, flows);
}

// parts: of which sum, ascending, and who has it; owners: of each sum.
std::vector<NeededValue> make_sums(int ranks, const RanksIn& sums, const RanksIn& parts,
                                   const RanksIn& owners) {
  const auto is_rank = [ranks](std::int32_t rank) { return rank >= 0 && rank < ranks; };
  std::vector<NeededValue> made(owners.shape(0));
  for (std::size_t v = 0; v < made.size(); ++v) made[v].owner = owners.data()[v];
  bool right =
      sums.shape(0) == parts.shape(0) && std::ranges::all_of(made, is_rank, &NeededValue::owner);
  for (std::size_t k = 0; right && k < sums.shape(0); ++k) {
    const auto sum = static_cast<std::size_t>(sums.data()[k]);
    right = sum < made.size() && is_rank(parts.data()[k]);
    if (right) made[sum].targets.push_back(parts.data()[k]);
  }
  if (!right) fail(Errc::argument, "the parts of sums name a rank or a sum that there is not");
  return made;
}

void bind_answer(nb::module_& m) {
  nb::class_<SharingAnswer>(m, "SharingAnswer", "One scheme in numbers, all ranks together.")
      .def_ro("scheme", &SharingAnswer::scheme)
      .def_ro("variant", &SharingAnswer::variant)
      .def_ro("summary", &SharingAnswer::summary)
      .def_ro("messages", &SharingAnswer::messages, "Of all ranks.")
      .def_ro("overhead_messages", &SharingAnswer::overhead,
              "Of all ranks, between ranks that have nothing for each other in the pattern.")
      .def_prop_ro(
          "sent", [](const SharingAnswer& a) { return a.metrics.sent; }, "Messages, by rank.")
      .def_prop_ro("received", [](const SharingAnswer& a) { return a.metrics.received; })
      .def_prop_ro("avg_messages", [](const SharingAnswer& a) { return a.metrics.average_sent; })
      .def_prop_ro("max_messages", [](const SharingAnswer& a) { return a.metrics.most_sent; })
      .def_prop_ro("max_recv", [](const SharingAnswer& a) { return a.metrics.most_received; })
      .def_prop_ro(
          "words", [](const SharingAnswer& a) { return a.metrics.words; },
          "Relative to direct sending, as are max_words and max_words_recv.")
      .def_prop_ro("max_words", [](const SharingAnswer& a) { return a.metrics.most_words_sent; })
      .def_prop_ro("max_words_recv",
                   [](const SharingAnswer& a) { return a.metrics.most_words_received; })
      .def_prop_ro("stages", [](const SharingAnswer& a) { return a.metrics.stages; })
      .def_prop_ro("delivered", [](const SharingAnswer& a) { return a.metrics.delivered; })
      .def_ro("added_words", &SharingAnswer::added_words,
              "Of all ranks, where ranks on the way add; 0 if the sums are not known.")
      .def_ro("added_messages", &SharingAnswer::added_messages)
      .def_prop_ro("predicted_us", [](const SharingAnswer& a) { return a.predicted * 1e6; })
      .def_prop_ro("planning_ms", [](const SharingAnswer& a) { return a.planning * 1e3; });
}

}  // namespace

void bind_sharing(nb::module_& m) {
  m.def(
      "sharing_schemes",
      [](int ranks) {
        std::vector<std::tuple<std::string, std::string, std::string>> list;
        for (const Scheme& s : schemes(ranks)) list.emplace_back(s.name, s.variant, s.summary);
        return list;
      },
      "ranks"_a, "Name, variant and summary of all that can be used on so many ranks.");
  m.def(
      "thesis_schemes",
      [] {
        std::vector<std::string> names;
        for (const Scheme& s : thesis_schemes()) names.push_back(s.name);
        return names;
      },
      "Names of the thesis's two phases as written: they can be used, too, on any number of "
      "ranks.");
  bind_answer(m);
  nb::class_<Pattern>(m, "CommunicationMatrix",
                      "Who sends how many words to whom; what a rank has for itself is dropped.")
      .def(
          "__init__",
          [](Pattern* self, int ranks, RanksIn senders, RanksIn receivers, WordsIn words) {
            new (self) Pattern{make_matrix(ranks, senders, receivers, words)};
          },
          "ranks"_a, "senders"_a, "receivers"_a, "words"_a)
      .def(
          "know_sums",
          [](Pattern& self, RanksIn sums, RanksIn parts, RanksIn owners) {
            self.sums = make_sums(self.ranks(), sums, parts, owners);
          },
          "sums"_a, "parts"_a, "owners"_a,
          "Each part of a sum is a word: of which sum, and from which rank. owners: of each sum.")
      .def_prop_ro("ranks", [](const Pattern& matrix) { return matrix.ranks(); })
      .def_prop_ro("blocks", [](const Pattern& matrix) { return matrix.blocks(); })
      .def_prop_ro("words", [](const Pattern& matrix) { return matrix.statistics().words; })
      .def_prop_ro("most_words_sent",
                   [](const Pattern& matrix) { return matrix.statistics().most_words_sent; })
      .def("analyze", &analyze, "scheme"_a, "variant"_a, "machine"_a,
           nb::call_guard<nb::gil_scoped_release>())
      .def(
          "schedule",
          [](const Pattern& matrix, const std::string& scheme, const std::string& variant) {
            return schedule(matrix, scheme, variant);
          },
          "scheme"_a, "variant"_a, nb::call_guard<nb::gil_scoped_release>(),
          "Who sends which blocks to whom, as text (src/planners/patterns/message_schedule.hpp).")
      .def(
          "thesis_counts", [](const Pattern& matrix) { return thesis_counts(matrix); },
          nb::call_guard<nb::gil_scoped_release>(),
          "Messages by rank as the thesis's algorithms count them, after Phase I and after both.")
      .def_prop_ro("runs_by_name", &runs_by_name,
                   "Whether programs run a point of balanced's front by its name.")
      .def("analyze_balanced", &analyze_balanced, "stages"_a, "price"_a, "words"_a, "machine"_a,
           nb::call_guard<nb::gil_scoped_release>(),
           "price: more words that one message less may cost; words: most of all, relative to "
           "direct. Both may be infinite.")
      .def("analyze_within", &analyze_within, "words"_a, "machine"_a,
           nb::call_guard<nb::gil_scoped_release>(),
           "The fewest messages for a limit of words, relative to direct: never more than those of "
           "store and forward or message sharing within the limit.");
}

}  // namespace tonari
