// SPDX-License-Identifier: BSD-3-Clause
#include "exchange_schedules.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "simulate/halo_schedule.hpp"
#include "simulate/swap_schedule.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tonari {
namespace {

using SchedulePtr = std::shared_ptr<const sim::Schedule>;

SwapOrder order_named(const std::string& algorithm) {
  const std::optional<SwapOrder> order = swap_order_named(algorithm);
  if (!order) fail(Errc::algorithm, "there is no order of swaps '", algorithm, "'");
  return *order;
}

std::vector<std::vector<std::int32_t>> swap_partners(const std::string& algorithm,
                                                     std::int32_t ranks) {
  std::vector<std::vector<std::int32_t>> all;
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    all.push_back(partners(order_named(algorithm), rank, ranks));
  return all;
}

SchedulePtr swap_schedule(const std::string& algorithm, std::uint32_t ranks, std::uint64_t bytes,
                          std::uint64_t memory, const LogGP& machine) {
  return std::make_shared<const sim::Schedule>(
      sim::swap_schedule(order_named(algorithm), ranks, bytes, memory, machine));
}

sim::HaloWay way_named(const std::string& exchange) {
  const std::optional<sim::HaloWay> way = sim::halo_way_named(exchange);
  if (!way) fail(Errc::algorithm, "there is no exchange of ghosts '", exchange, "'");
  return *way;
}

std::vector<std::uint64_t> halo_messages(const std::string& exchange, const sim::HaloCube& cube) {
  std::vector<std::uint64_t> sizes;
  for (const sim::HaloMessage& message : sim::halo_messages(way_named(exchange), cube))
    sizes.push_back(message.bytes);
  return sizes;
}

SchedulePtr halo_schedule(const std::string& exchange, const sim::HaloCube& cube,
                          const std::vector<int>& dims, const LogGP& machine) {
  const auto periodic = std::make_unique<bool[]>(dims.size());
  std::fill_n(periodic.get(), dims.size(), true);
  const Grid ranks(dims, std::span<const bool>(periodic.get(), dims.size()));
  return std::make_shared<const sim::Schedule>(
      sim::halo_schedule(way_named(exchange), cube, ranks, machine));
}

}  // namespace

void bind_exchange_schedules(nb::module_& m) {
  m.def("swap_partners", &swap_partners, "algorithm"_a, "ranks"_a,
        "Of each rank whom it swaps with in place, one after the other.");
  m.def("swap_schedule", &swap_schedule, "algorithm"_a, "ranks"_a, "bytes"_a, "memory"_a,
        "machine"_a, nb::call_guard<nb::gil_scoped_release>(),
        "An exchange in place of equal blocks, with so many bytes of memory per rank.");
  nb::class_<sim::HaloCube>(m, "HaloCube", "A subdomain of doubles in three dimensions.")
      .def(
          "__init__",
          [](sim::HaloCube* self, std::int64_t size, std::int64_t ghost, std::int64_t brick,
             std::int64_t page) { new (self) sim::HaloCube{size, ghost, brick, page}; },
          "size"_a, "ghost"_a, "brick"_a, "page"_a);
  m.def("halo_messages", &halo_messages, "exchange"_a, "cube"_a,
        "Bytes of each message of a rank; exchange: pack, basic, layout or memmap.");
  m.def("halo_schedule", &halo_schedule, "exchange"_a, "cube"_a, "dims"_a, "machine"_a,
        nb::call_guard<nb::gil_scoped_release>(), "Ghosts of cubes on a torus of ranks.");
}

}  // namespace tonari
