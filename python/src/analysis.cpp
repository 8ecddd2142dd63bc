// SPDX-License-Identifier: BSD-3-Clause
#include "analysis.hpp"

#include <algorithm>

#include "analysis/crossover.hpp"
#include "analysis/expected_delivery.hpp"
#include "base/checked.hpp"
#include "cost/simulator.hpp"

namespace tonari {
namespace {

constexpr double most_simulated = 2e5;  // blocks delivered to all ranks together
constexpr double most_proved = 2e6;     // blocks sent by all ranks together

struct Priced {
  OffsetVariant planned;
  double predicted;
};

// True if the rank has all neighbors on both sides; no rank has more to do.
bool is_interior(const Neighborhood& near, int rank) {
  const Vec here = near.grid.coordinates(rank);
  return std::all_of(near.offsets.begin(), near.offsets.end(), [&](const Vec& offset) {
    return !near.grid.reachable(offset) ||
           (near.grid.contains(here + offset) && near.grid.contains(here - offset));
  });
}

std::vector<Plan> plans_of_all(const OffsetVariant& planned, EmitOptions emit) {
  std::vector<Plan> plans;
  for (int rank = 0; rank < planned.near().grid.ranks(); ++rank)
    plans.push_back(planned.plan(rank, emit));
  return plans;
}

double total_hops(const OffsetVariant& planned) {
  return static_cast<double>(planned.hops() + 1) * planned.near().grid.ranks();
}

// Near borders ranks differ and all are run, if they are not too many; else the plan of the rank
// with the most to do stands for all.
double predict(const Question& question, const OffsetVariant& planned) {
  const BlockBytes bytes = [&](Slice) { return question.bytes; };
  const Neighborhood& near = *question.near;
  const int center = central_rank(near.grid);
  const bool few = static_cast<double>(near.offsets.size()) * near.grid.ranks() <= most_simulated;
  if (few && !is_interior(near, center))
    return simulate(plans_of_all(planned, question.emit), bytes, question.machine);
  return simulate(std::vector{planned.plan(center, question.emit)}, bytes, question.machine);
}

// All variants, or the one predicted fastest.
std::vector<Priced> priced(const Question& question, const OffsetPlanner& algorithm, bool all) {
  std::vector<Priced> found;
  for (OffsetVariant& planned : algorithm.variants(question.near, question.collective)) {
    const double predicted = predict(question, planned);
    found.push_back({std::move(planned), predicted});
  }
  if (all) return found;
  const auto best = std::min_element(found.begin(), found.end(),
                                     [](auto& a, auto& b) { return a.predicted < b.predicted; });
  return {std::move(*best)};
}

Answer count_plan(const Question& question, const OffsetVariant& planned, const Plan& plan) {
  Answer answer{planned.algorithm(), planned.variant(), ""};
  answer.rounds = planned.rounds();
  answer.depth = plan.depth();
  for (const Operation& op : plan.operations()) {
    if (op.kind != Kind::send && op.kind != Kind::exchange) continue;
    ++answer.messages;
    answer.volume_blocks += op.slice_count;
  }
  answer.bytes =
      checked_multiply<std::uint64_t>(answer.volume_blocks, question.bytes, "bytes sent by a rank");
  answer.scratch_blocks = plan.scratch_like().size();
  return answer;
}

Plan reference_plan(const Question& question) {
  const OffsetVariant linear = offset_linear.variants(question.near, question.collective).front();
  return linear.plan(central_rank(question.near->grid), question.emit);
}

Answer answer(const Question& question, const Priced& candidate, const Plan& reference) {
  const int center = central_rank(question.near->grid);
  const Plan plan = candidate.planned.plan(center, question.emit);
  Answer row = count_plan(
      question, candidate.planned,
      question.rank == center ? plan : candidate.planned.plan(question.rank, question.emit));
  row.predicted = candidate.predicted;
  if (row.algorithm != offset_linear.name)
    row.crossover_bytes = crossover_bytes({&plan, 1}, {&reference, 1}, question.machine);
  return row;
}

// All, or the one named.
std::vector<const OffsetPlanner*> planners(const std::string& name) {
  if (!name.empty()) return {&find_offset_planner(name)};
  std::vector<const OffsetPlanner*> all;
  for (const AlgorithmRow& row : algorithms())
    if (row.offsets) all.push_back(row.offsets);
  return all;
}

const OffsetPlanner& find_applicable(const Question& question, const std::string& name) {
  const OffsetPlanner& algorithm = find_offset_planner(name);
  if (const std::string reason = algorithm.applicable(*question.near, question.collective);
      !reason.empty())
    fail(Errc::algorithm, name, " cannot be used here: ", reason);
  return algorithm;
}

}  // namespace

std::string summary_of(const std::string& algorithm, AppliesTo what) {
  const AlgorithmRow& row = find_algorithm(algorithm, what);
  return *row.paper ? text(row.summary, " (", row.paper, ")") : row.summary;
}

Collective collective_of(const std::string& op) {
  if (op == "alltoall") return Collective::alltoall;
  if (op == "allgather") return Collective::allgather;
  fail(Errc::argument, "there is no operation '", op, "'; choose alltoall or allgather");
}

int central_rank(const Grid& grid) {
  Vec center;
  for (int j = 0; j < grid.dimensions(); ++j) center[j] = grid.size(j) / 2;
  return grid.rank(center);
}

std::vector<Answer> analyze(const Question& question, const std::string& name, bool variants) {
  const Plan reference = reference_plan(question);
  std::vector<Answer> answers;
  for (const OffsetPlanner* algorithm : planners(name)) {
    const std::string reason = algorithm->applicable(*question.near, question.collective);
    const std::string unpaying =
        reason.empty() ? algorithm->pays(*question.near, question.collective) : "";
    if (!reason.empty() || (!unpaying.empty() && name.empty())) {
      answers.push_back({algorithm->name, "", reason + unpaying});
      continue;
    }
    for (const Priced& candidate : priced(question, *algorithm, variants)) {
      answers.push_back(answer(question, candidate, reference));
      answers.back().unpaying = unpaying;
    }
  }
  return answers;
}

Answer count(const Question& question, const std::string& name) {
  const OffsetPlanner& algorithm = find_applicable(question, name);
  const OffsetVariant planned = algorithm.variants(question.near, question.collective).front();
  return count_plan(question, planned, planned.plan(question.rank, question.emit));
}

std::vector<std::pair<std::string, std::string>> list_variants(const Question& question,
                                                               const std::string& name) {
  if (!name.empty()) find_applicable(question, name);
  std::vector<std::pair<std::string, std::string>> names;
  for (const OffsetPlanner* algorithm : planners(name))
    if (algorithm->applicable(*question.near, question.collective).empty() &&
        (!name.empty() || algorithm->pays(*question.near, question.collective).empty()))
      for (const OffsetVariant& planned : algorithm->variants(question.near, question.collective))
        names.emplace_back(planned.algorithm(), planned.variant());
  return names;
}

OffsetVariant find_variant(const Question& question, const std::string& name,
                           const std::string& variant) {
  const OffsetPlanner& algorithm = find_applicable(question, name);
  std::string names;
  for (const OffsetVariant& planned : algorithm.variants(question.near, question.collective)) {
    if (planned.variant() == variant) return planned;
    names += (names.empty() ? "'" : ", '") + planned.variant() + "'";
  }
  fail(Errc::algorithm, name, " has no variant '", variant, "' here, only ", names);
}

Proof prove(const Question& question, const OffsetVariant& planned) {
  if (total_hops(planned) > most_proved)
    fail(Errc::argument, "the reference executor would move ",
         static_cast<std::uint64_t>(total_hops(planned)), " blocks on ",
         question.near->grid.ranks(), " ranks; give a smaller grid with --dims");
  std::vector<std::uint64_t> bytes;
  const std::size_t blocks =
      question.collective == Collective::alltoall ? question.near->offsets.size() : 1;
  for (std::size_t i = 0; i < blocks; ++i) bytes.push_back(1 + i % 5);
  const std::vector<Plan> plans = plans_of_all(planned, question.emit);
  return prove(plans, expected_delivery(*question.near, question.collective, bytes));
}

}  // namespace tonari
