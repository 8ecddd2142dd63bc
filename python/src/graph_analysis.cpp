// SPDX-License-Identifier: BSD-3-Clause
#include "graph_analysis.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "analysis.hpp"
#include "analysis/compare.hpp"
#include "analysis/printer.hpp"
#include "base/error.hpp"
#include "planners/registry.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tonari {
namespace {

using Sizes = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ranks = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::span<const std::int32_t> span_of(const Ranks& ranks) { return {ranks.data(), ranks.shape(0)}; }

Proving proving_of(const std::string& proving) {
  if (proving == "small") return Proving::small;
  if (proving == "always") return Proving::always;
  if (proving == "never") return Proving::never;
  fail(Errc::argument, "proofs are for small graphs, always or never, not '", proving, "'");
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0, begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos;
       begin = end + 1, end = text.find('\n', begin))
    widest = std::max(widest, end - begin);
  return widest;
}

// With as many blocks named per message as fit.
std::string draw(const GraphQuestion& question, const std::string& algorithm,
                 const std::string& variant, int rank, std::size_t width) {
  const Plan plan = make_plan(question, find_graph_planner(algorithm), variant, rank);
  PrintOptions options;
  options.bytes = [&](Slice) { return question.bytes; };
  options.peer = [digits = std::to_string(question.facts.ranks - 1).size()](int peer) {
    const std::string number = std::to_string(peer);
    return std::string(digits - number.size(), ' ') + number;
  };
  std::string text;
  for (options.most_blocks = 4; options.most_blocks > 0; --options.most_blocks) {
    text = print(plan, options);
    if (widest_line(text) <= width) break;
  }
  return text;
}

void bind_answer(nb::module_& m) {
  nb::class_<GraphAnswer>(
      m, "GraphAnswer",
      "One way of one algorithm in numbers, all ranks together; the busiest rank counts.")
      .def_ro("algorithm", &GraphAnswer::algorithm)
      .def_ro("variant", &GraphAnswer::variant)
      .def_prop_ro("summary",
                   [](const GraphAnswer& a) { return summary_of(a.algorithm, AppliesTo::graphs); })
      .def_ro("reason", &GraphAnswer::reason)
      .def_ro("unpaying", &GraphAnswer::unpaying)
      .def_ro("rounds", &GraphAnswer::rounds)
      .def_ro("ports", &GraphAnswer::ports)
      .def_ro("bytes", &GraphAnswer::bytes)
      .def_prop_ro("stages", [](const GraphAnswer& a) { return a.traffic.stages; })
      .def_prop_ro("max_messages", [](const GraphAnswer& a) { return a.traffic.most_out; })
      .def_prop_ro("max_recv", [](const GraphAnswer& a) { return a.traffic.most_in; })
      .def_prop_ro("total_messages", [](const GraphAnswer& a) { return a.traffic.messages; })
      .def_prop_ro("volume_blocks", [](const GraphAnswer& a) { return a.traffic.most_blocks_out; })
      .def_prop_ro("total_blocks", [](const GraphAnswer& a) { return a.traffic.blocks; })
      .def_prop_ro("predicted_us", [](const GraphAnswer& a) { return a.predicted * 1e6; })
      .def_ro("crossover_bytes", &GraphAnswer::crossover_bytes)
      .def_ro("proven", &GraphAnswer::proven);
}

}  // namespace

void bind_graphs(nb::module_& m) {
  bind_answer(m);
  nb::class_<GraphQuestion>(m, "GraphQuestion",
                            "A directed graph, an operation, a block size and a machine.")
      .def(
          "__init__",
          [](GraphQuestion* self, int ranks, Ranks senders, Ranks receivers, int node_ranks,
             const std::string& op, std::uint64_t bytes, const LogGP& machine, bool forced,
             std::optional<Sizes> sizes) {
            new (self) GraphQuestion(
                make_question(make_vertices(ranks, span_of(senders), span_of(receivers), node_ranks,
                                            sizes ? std::span(sizes->data(), sizes->shape(0))
                                                  : std::span<const std::uint64_t>()),
                              collective_of(op), bytes, machine, forced));
          },
          "ranks"_a, "senders"_a, "receivers"_a, "node_ranks"_a, "op"_a, "bytes"_a, "machine"_a,
          "forced"_a = false, "sizes"_a = nb::none())
      .def_prop_ro("nodes", [](const GraphQuestion& q) { return q.facts.nodes; })
      .def_prop_ro("degree", [](const GraphQuestion& q) { return q.facts.degree(); })
      .def(
          "analyze",
          [](const GraphQuestion& q, const std::string& algorithm, const std::string& proving) {
            return analyze(q, find_graph_planner(algorithm), proving_of(proving));
          },
          "algorithm"_a, "proving"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("draw", &draw, "algorithm"_a, "variant"_a, "rank"_a, "width"_a);
}

}  // namespace tonari
