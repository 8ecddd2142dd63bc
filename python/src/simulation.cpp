// SPDX-License-Identifier: BSD-3-Clause
#include "simulation.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analysis.hpp"
#include "analysis/compare.hpp"
#include "analysis/plan_bytes.hpp"
#include "base/error.hpp"
#include "memory/available.hpp"
#include "planners/graphs/local_bsp_comm.hpp"
#include "simulate/alike.hpp"
#include "simulate/cluster.hpp"
#include "simulate/goal.hpp"
#include "simulate/plan_steps.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tonari {
namespace {

using SchedulePtr = std::shared_ptr<const sim::Schedule>;

SchedulePtr shared(sim::Schedule schedule) {
  return std::make_shared<const sim::Schedule>(std::move(schedule));
}

SchedulePtr schedule_of_offsets(const Question& q, const std::string& algorithm,
                                const std::string& variant) {
  return shared(
      sim::schedule_of(find_variant(q, algorithm, variant), q.near->grid, q.bytes, q.machine));
}

// The variants of one algorithm on a graph, planned once.
class GraphSchedules {
 public:
  GraphSchedules(std::shared_ptr<const GraphQuestion> question, const std::string& algorithm)
      : question_(std::move(question)) {
    const GraphPlanner& planner = find_graph_planner(algorithm);
    const GraphTask task = task_of(*question_);
    const Objection why = objection(planner, question_->facts, task);
    reason_ = why.plans(task) ? "" : why.reason();
    if (!reason_.empty()) return;
    LocalBspComm bsp(static_cast<int>(question_->vertices.size()));
    variants_ = planner.variants(bsp, question_->vertices, question_->facts, task);
  }
  const std::string& reason() const { return reason_; }
  std::size_t count() const { return variants_.size(); }
  std::string variant(std::size_t k) const { return variants_.at(k).variant(); }
  SchedulePtr schedule(std::size_t k) const {
    std::vector<Plan> plans;
    plans.reserve(question_->vertices.size());
    for (std::size_t rank = 0; rank < question_->vertices.size(); ++rank)
      plans.push_back(variants_.at(k).plan(static_cast<int>(rank)));
    return shared(sim::schedule_of(plans, sizes(plans), question_->machine));
  }

 private:
  std::vector<BlockBytes> sizes(std::span<const Plan> plans) const {
    if (question_->facts.sized)
      return plan_bytes(question_->vertices, question_->collective, plans);
    return std::vector<BlockBytes>(plans.size(),
                                   [bytes = question_->bytes](Slice) { return bytes; });
  }
  std::shared_ptr<const GraphQuestion> question_;
  std::string reason_;
  std::vector<GraphVariant> variants_;
};

// One that can be interrupted between its events, and says how far it is.
class Simulation {
 public:
  Simulation(SchedulePtr schedule, const sim::Machine& machine)
      : schedule_(std::move(schedule)),
        machine_(machine),
        engine_(sim::make_engine(*schedule_, machine_)) {}
  // Of all ranks, as one has found it.
  explicit Simulation(const sim::Outcome& outcome) : alike_(true), outcome_(outcome) {}

  // Gives its memory back at the end.
  bool advance(std::uint64_t events) {
    if (!engine_) return false;
    if (engine_->advance(events)) return true;
    outcome_ = engine_->outcome();
    engine_.reset();
    schedule_.reset();
    return false;
  }
  double share_done() const {
    return engine_ ? static_cast<double>(engine_->steps_done()) /
                         static_cast<double>(schedule_->total_steps())
                   : 1;
  }
  bool alike() const { return alike_; }
  sim::Outcome outcome() const {
    if (engine_) fail(Errc::active, "the simulation has not ended; call advance until it is false");
    return outcome_;
  }

 private:
  SchedulePtr schedule_;
  sim::Machine machine_;
  bool alike_ = false;
  sim::Outcome outcome_;
  std::unique_ptr<sim::Engine> engine_;
};

std::unique_ptr<Simulation> alike(const SchedulePtr& schedule, const sim::Machine& machine) {
  const std::optional<sim::Outcome> found = sim::run_alike(*schedule, machine);
  return found ? std::make_unique<Simulation>(*found) : nullptr;
}

void bind_schedules(nb::module_& m) {
  nb::class_<sim::Schedule>(m, "Schedule", "The steps of all ranks of an exchange.")
      .def_prop_ro("ranks", [](const sim::Schedule& s) { return s.ranks; })
      .def_prop_ro("steps", [](const sim::Schedule& s) { return s.total_steps(); });
  m.def("schedule_of_offsets", &schedule_of_offsets, "question"_a, "algorithm"_a, "variant"_a,
        nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "native_schedule",
      [](const Question& q) { return shared(sim::native_schedule(*q.near, q.bytes)); },
      "question"_a, nb::call_guard<nb::gil_scoped_release>(),
      "A message per block, as MPI libraries do.");
  m.def(
      "native_schedule",
      [](const GraphQuestion& q) { return shared(sim::native_schedule(q.vertices, q.bytes)); },
      "question"_a, nb::call_guard<nb::gil_scoped_release>());
  nb::class_<GraphSchedules>(m, "GraphSchedules", "The variants of one algorithm on a graph.")
      .def(
          "__init__",
          [](GraphSchedules* self, const GraphQuestion& question, const std::string& algorithm) {
            new (self) GraphSchedules(std::make_shared<const GraphQuestion>(question), algorithm);
          },
          "question"_a, "algorithm"_a, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("reason", &GraphSchedules::reason, "Why it is not planned, or empty.")
      .def("__len__", &GraphSchedules::count)
      .def("variant", &GraphSchedules::variant, "number"_a)
      .def("schedule", &GraphSchedules::schedule, "number"_a,
           nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace

void bind_simulation(nb::module_& m) {
  bind_schedules(m);
  nb::class_<sim::Machine>(m, "SimulatedMachine", "A machine in whole numbers.")
      .def(
          "__init__",
          [](sim::Machine* self, const LogGP& machine) {
            new (self) sim::Machine(sim::machine_of(machine));
          },
          "machine"_a)
      .def_prop_rw(
          "seed", [](const sim::Machine& machine) { return machine.noise.seed; },
          [](sim::Machine& machine, std::uint64_t seed) { machine.noise.seed = seed; })
      .def_prop_ro("noisy", [](const sim::Machine& machine) { return machine.noise.period > 0; })
      .def("check_room", &sim::check_room, "ranks"_a)
      .def(
          "scaled",
          [](const sim::Machine& machine, const std::string& parameter, double factor) {
            return sim::scaled(machine, parameter, factor);
          },
          "parameter"_a, "factor"_a, "The same with L, o, g or G of its network times the factor.")
      .def(
          "parameter",
          [](const sim::Machine& machine, const std::string& name) {
            return sim::to_seconds(sim::parameter_of(machine, name));
          },
          "name"_a, "L, o, g or G of its network, in seconds.");
  m.def("read_cluster_file", &sim::read_cluster_file, "path"_a,
        "A machine file with what only simulations read.");
  m.def("without_classes", &sim::without_classes, "machine"_a,
        "The same where all messages cost what those of the network do.");
  m.def(
      "write_goal_file",
      [](const std::string& path, const sim::Schedule& s) { sim::write_goal_file(path, s); },
      "path"_a, "schedule"_a, nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "read_goal_file", [](const std::string& path) { return shared(sim::read_goal_file(path)); },
      "path"_a, nb::call_guard<nb::gil_scoped_release>());
  m.def("simulation_memory", &sim::engine_memory, "schedule"_a, "machine"_a,
        "Bytes that a simulation of all ranks takes.");
  m.def("available_memory", [] { return available_memory(); }, "Bytes that this process may take.");
  m.def("alike", &alike, "schedule"_a, "machine"_a, nb::call_guard<nb::gil_scoped_release>(),
        "What one rank says of all, or None where ranks may differ.");
  nb::class_<Simulation>(m, "Simulation", "A schedule on a machine.")
      .def(nb::init<SchedulePtr, const sim::Machine&>(), "schedule"_a, "machine"_a,
           nb::call_guard<nb::gil_scoped_release>())
      .def("advance", &Simulation::advance, "events"_a, nb::call_guard<nb::gil_scoped_release>(),
           "False: it has ended.")
      .def_prop_ro("share_done", &Simulation::share_done)
      .def_prop_ro("alike", &Simulation::alike, "One rank stood for all.")
      .def_prop_ro("predicted_us",
                   [](const Simulation& s) { return sim::to_seconds(s.outcome().end) * 1e6; })
      .def_prop_ro("femtoseconds", [](const Simulation& s) { return s.outcome().end; })
      .def_prop_ro("events", [](const Simulation& s) { return s.outcome().events; });
}

}  // namespace tonari
