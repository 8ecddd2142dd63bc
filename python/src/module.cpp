// SPDX-License-Identifier: BSD-3-Clause
// The extension module _tonari_core: thin and typed. The package tonari (python/tonari) is what
// people import.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>

#include "analysis.hpp"
#include "analysis/patterns.hpp"
#include "base/error.hpp"
#include "drawing.hpp"
#include "errors.hpp"
#include "exchange_schedules.hpp"
#include "graph_analysis.hpp"
#include "select/cache.hpp"
#include "settings.hpp"
#include "sharing.hpp"
#include "simulation.hpp"
#include "surface_layout.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tonari {
namespace {

using OffsetsIn = nb::ndarray<const std::int32_t, nb::shape<-1, -1>, nb::c_contig, nb::device::cpu>;
using OffsetsOut = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<2>>;
using Near = std::shared_ptr<const Neighborhood>;

OffsetsOut to_array(const Pattern& pattern) {
  const std::size_t s = pattern.offsets.size(), d = pattern.dimensions;
  auto values = std::make_unique<std::int32_t[]>(s * d);
  for (std::size_t i = 0; i < s; ++i)
    std::copy_n(pattern.offsets[i].begin(), d, values.get() + i * d);
  std::int32_t* data = values.release();
  const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<std::int32_t*>(p); });
  return OffsetsOut(data, {s, d}, owner);
}

Grid make_grid(const std::vector<int>& dims, const std::vector<bool>& periodic) {
  const auto flags = std::make_unique<bool[]>(periodic.size());
  std::copy(periodic.begin(), periodic.end(), flags.get());
  return Grid(dims, std::span<const bool>(flags.get(), periodic.size()));
}

Neighborhood make_neighborhood(OffsetsIn offsets, const std::vector<int>& dims,
                               const std::vector<bool>& periodic) {
  Neighborhood near{make_grid(dims, periodic), {}};
  if (offsets.shape(1) != dims.size())
    fail(Errc::topology, "the offsets have ", offsets.shape(1), " coordinates, the grid has ",
         dims.size(), " dimensions");
  near.offsets.resize(offsets.shape(0));
  for (std::size_t i = 0; i < offsets.shape(0); ++i)
    std::copy_n(offsets.data() + i * dims.size(), dims.size(), near.offsets[i].begin());
  return near;
}

Storage storage_of(const std::string& storage) {
  if (storage == "separate") return Storage::separate;
  if (storage == "alternate") return Storage::alternate;
  fail(Errc::argument, "there is no storage '", storage, "'; choose separate or alternate");
}

Question question(Near near, const std::string& op, std::uint64_t bytes, const LogGP& machine,
                  int rank, int ports, const std::string& storage) {
  const int ranks = near->grid.ranks();
  if (rank >= ranks)
    fail(Errc::argument, "there is no rank ", rank, ": the grid has ranks 0 to ", ranks - 1);
  if (ports < 0) fail(Errc::argument, "the number of ports must not be negative");
  const int whose = rank < 0 ? central_rank(near->grid) : rank;
  return {std::move(near), collective_of(op), bytes, machine, whose, {storage_of(storage), ports}};
}

std::string source_of(const AlgorithmRow& row) { return *row.paper ? row.paper : "ours"; }

std::vector<std::string> kinds_of(const AlgorithmRow& row) {
  std::vector<std::string> kinds;
  if (applies_to(row, AppliesTo::offsets)) kinds.emplace_back("offsets");
  if (applies_to(row, AppliesTo::graphs)) kinds.emplace_back("graphs");
  if (applies_to(row, AppliesTo::in_place)) kinds.emplace_back("in place");
  return kinds;
}

void bind_algorithms(nb::module_& m) {
  nb::class_<AlgorithmRow>(m, "Algorithm", "A row of the table of algorithms.")
      .def_ro("name", &AlgorithmRow::name)
      .def_ro("earlier", &AlgorithmRow::earlier, "Names that stay accepted, with commas.")
      .def_ro("summary", &AlgorithmRow::summary, "What it does, in one line.")
      .def_ro("variants", &AlgorithmRow::variants, "What they are, in one line.")
      .def_prop_ro("paper", &source_of)
      .def_prop_ro("applies_to", &kinds_of, "Any of offsets, graphs, in place.");
  m.def(
      "algorithms",
      [] { return std::vector<AlgorithmRow>(algorithms().begin(), algorithms().end()); },
      "The table of algorithms.");
  m.def(
      "current_name", [](const std::string& name) { return current_name(name); }, "name"_a,
      "The name of today for an earlier one; others stay as they are.");
}

void bind_machine(nb::module_& m) {
  nb::class_<LogGP>(
      m, "LogGP",
      "What messages and copies cost on one machine and MPI; times in seconds, sizes in bytes.")
      .def(nb::init<>(), "A generic machine.")
      .def_rw("L", &LogGP::L)
      .def_rw("o", &LogGP::o)
      .def_rw("g", &LogGP::g)
      .def_rw("G", &LogGP::G)
      .def_rw("copy_block", &LogGP::copy_block)
      .def_rw("copy_byte", &LogGP::copy_byte)
      .def_rw("typed_block", &LogGP::typed_block)
      .def_rw("eager", &LogGP::eager)
      .def_rw("rendezvous", &LogGP::rendezvous)
      .def(
          "to_text", [](const LogGP& machine) { return to_text(machine); },
          "The text of a machine file.");
  m.def("read_machine_file", &read_machine_file, "path"_a);
}

void bind_answer(nb::module_& m) {
  nb::class_<Answer>(
      m, "Answer",
      "One algorithm's plan in numbers; counts are of what one rank sends in one exchange.")
      .def_ro("algorithm", &Answer::algorithm)
      .def_ro("variant", &Answer::variant)
      .def_prop_ro("summary",
                   [](const Answer& a) { return summary_of(a.algorithm, AppliesTo::offsets); })
      .def_ro("reason", &Answer::reason)
      .def_ro("unpaying", &Answer::unpaying)
      .def_ro("rounds", &Answer::rounds)
      .def_ro("depth", &Answer::depth)
      .def_ro("messages", &Answer::messages)
      .def_ro("volume_blocks", &Answer::volume_blocks)
      .def_ro("bytes", &Answer::bytes)
      .def_ro("scratch_blocks", &Answer::scratch_blocks)
      .def_prop_ro("predicted_us", [](const Answer& a) { return a.predicted * 1e6; })
      .def_ro("crossover_bytes", &Answer::crossover_bytes);
}

void bind_question(nb::module_& m) {
  nb::class_<Question>(m, "Question", "A neighborhood, an operation, a block size and a machine.")
      .def(
          "__init__",
          [](Question* self, const Neighborhood& near, const std::string& op, std::uint64_t bytes,
             const LogGP& machine, int rank, int ports, const std::string& storage) {
            new (self) Question(question(std::make_shared<const Neighborhood>(near), op, bytes,
                                         machine, rank, ports, storage));
          },
          "near"_a, "op"_a, "bytes"_a, "machine"_a, "rank"_a, "ports"_a, "storage"_a)
      .def_ro("rank", &Question::rank)
      .def("analyze", &analyze, "algorithm"_a, "variants"_a)
      .def("count", &count, "algorithm"_a)
      .def("variants", &list_variants, "algorithm"_a)
      .def(
          "draw",
          [](const Question& q, const std::string& algorithm, const std::string& variant,
             std::size_t most_blocks) {
            return draw(q, find_variant(q, algorithm, variant), most_blocks);
          },
          "algorithm"_a, "variant"_a, "most_blocks"_a)
      .def(
          "prove",
          [](const Question& q, const std::string& algorithm, const std::string& variant) {
            const Proof proof = prove(q, find_variant(q, algorithm, variant));
            return std::pair(proof.ok, proof.what);
          },
          "algorithm"_a, "variant"_a);
}

}  // namespace
}  // namespace tonari

NB_MODULE(_tonari_core, m) {
  using namespace tonari;
  m.doc() = "Planning for tonari: neighborhoods, plans, predictions and proofs. No MPI.";
  translate_errors();
  m.def(
      "parse_pattern", [](const std::string& pattern) { return to_array(parse_pattern(pattern)); },
      "pattern"_a);
  bind_algorithms(m);
  nb::class_<Neighborhood>(m, "Neighborhood", "A list of relative offsets on a grid of ranks.")
      .def(
          "__init__",
          [](Neighborhood* self, OffsetsIn offsets, const std::vector<int>& dims,
             const std::vector<bool>& periodic) {
            new (self) Neighborhood(make_neighborhood(offsets, dims, periodic));
          },
          "offsets"_a, "dims"_a, "periodic"_a)
      .def_prop_ro("ranks", [](const Neighborhood& near) { return near.grid.ranks(); })
      .def(
          "coordinates",
          [](const Neighborhood& near, int rank) {
            const Vec here = near.grid.coordinates(rank);
            return std::vector<int>(here.begin(), here.begin() + near.grid.dimensions());
          },
          "rank"_a);
  bind_machine(m);
  bind_answer(m);
  bind_question(m);
  bind_graphs(m);
  bind_layout(m);
  bind_settings(m);
  bind_sharing(m);
  bind_simulation(m);
  bind_exchange_schedules(m);
}
