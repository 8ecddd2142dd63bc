// SPDX-License-Identifier: BSD-3-Clause
#include "surface_layout.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <utility>

#include "analysis/surface_search.hpp"
#include "base/error.hpp"
#include "layout/surface_order.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tonari {
namespace {

std::vector<std::string> texts(const SurfaceOrder& order) {
  std::vector<std::string> list;
  for (Region region : order.regions) list.push_back(to_text(region, order.dims));
  return list;
}

std::vector<std::pair<int, int>> pairs(const SurfaceOrder& order, const std::string& neighbor) {
  const Region direction = parse_region(neighbor);
  if (static_cast<int>(neighbor.size()) != order.dims)
    fail(Errc::argument, "the neighbor '", neighbor, "' has ", neighbor.size(),
         " signs, the order is of ", order.dims, " dimensions");
  std::vector<std::pair<int, int>> list;
  for (const SurfaceRun& run : runs(order, direction)) list.emplace_back(run.first, run.count);
  return list;
}

}  // namespace

void bind_layout(nb::module_& m) {
  nb::class_<SurfaceOrder>(
      m, "SurfaceOrder", "The regions of a grid's surface, in the order in which they are stored.")
      .def_ro("dims", &SurfaceOrder::dims)
      .def_ro("regions", &SurfaceOrder::regions,
              "Numbers in base 3, a digit per dimension: 0, 1 and 2 for -, 0 and +.")
      .def_prop_ro("texts", &texts)
      .def_prop_ro("messages", &messages)
      .def_prop_ro("basic", [](const SurfaceOrder& order) { return basic_messages(order.dims); })
      .def_prop_ro("neighbors", [](const SurfaceOrder& order) { return neighbors(order.dims); })
      .def_prop_ro("bound", [](const SurfaceOrder& order) { return least_messages(order.dims); })
      .def("runs", &pairs, "neighbor"_a,
           "The messages to a neighbor, written like +0-: (first, count), places in the order.");
  m.def("surface_order", &surface_order, "dims"_a);
  m.def(
      "search_surface_order",
      [](int dims, double seconds) {
        return search_surface_order(dims, std::chrono::duration<double>(seconds));
      },
      "dims"_a, "seconds"_a, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace tonari
