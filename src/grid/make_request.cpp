// SPDX-License-Identifier: BSD-3-Clause
#include "grid/make_request.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/wait/agree.hpp"
#include "grid/halo_choice.hpp"

namespace tonari {
namespace {

// The arrays of a copy, as they were at init.
std::vector<StartBuffer> arrays_of(const HaloGrid& grid, int copy) {
  std::vector<StartBuffer> arrays;
  for (int s = 0; s < grid.subdomains(); ++s)
    for (int f = 0; f < grid.shape().fields; ++f) {
      std::byte* const base = grid.base(s, copy, f);
      arrays.push_back({space_of(grid, s),
                        text("arrays[", arrays.size(), "]"),
                        base,
                        {},
                        static_cast<bool>(grid.device())});
      arrays.back().touch({base, nullptr, grid.field_bytes(s)});
    }
  return arrays;
}

[[noreturn]] void fail_on_overlap() {
  fail(Errc::buffers, "two of the arrays overlap; they must share no byte");
}

// Arrays on a device are looked at in each start that replaces them.
StartBuffers::Check check_on_devices(const GridDevice& device,
                                     const std::vector<StartBuffer>& arrays) {
  return [device, arrays](Shifts shifts) {
    std::vector<AddressSpan> spans;
    for (const StartBuffer& array : arrays) {
      const AddressSpan& was = array.touched;
      const auto by = static_cast<std::uintptr_t>(shifts[array.space]);
      spans.push_back({was.low + by, was.high + by});
      check_on_device(device, reinterpret_cast<const std::byte*>(spans.back().low),
                      was.high - was.low, text("`", array.name, "`").c_str());
    }
    std::ranges::sort(spans, {}, &AddressSpan::low);
    for (std::size_t k = 1; k < spans.size(); ++k)
      if (spans[k].low < spans[k - 1].high) fail_on_overlap();
  };
}

// Starts may replace arrays.
void free_arrays(const HaloGrid& grid, int copy, Prepared& prepared) {
  prepared.buffers = StartBuffers("the grid's storage is not array");
  if (grid.shape().bricked()) return;
  std::vector<StartBuffer> arrays = arrays_of(grid, copy);
  const bool look = static_cast<bool>(grid.device());
  StartBuffers::Check check = look ? check_on_devices(grid.device(), arrays)
                                   : StartBuffers::Check([](Shifts) { fail_on_overlap(); });
  prepared.buffers = StartBuffers("grid_start_with", std::move(arrays), std::move(check),
                                  look ? StartBuffers::Ask::always : StartBuffers::Ask::if_unclear);
}

std::string sentence_of(const HaloGrid& grid, const HaloRequest& request) {
  const GridShape& shape = grid.shape();
  return text(request.reverse ? "reverse halo of copy " : "halo of copy ", request.copy, ", ",
              shape.dims(), " dimensions, ", request.reach.along == 1 ? "faces only, " : "",
              request.reach != Reach{request.reach.along} ? "some ghosts only, " : "", "storage ",
              name(shape.storage), shape.mapped_ghosts ? " with mapped ghosts" : "", ", ",
              grid.subdomains(), grid.subdomains() == 1 ? " subdomain" : " subdomains");
}

void describe(const HaloTask& task, double start, const HaloChoice& chosen) {
  Prepared& prepared = *chosen.prepared;
  const std::string what = sentence_of(*task.grid, task.request);
  prepared.recording.operation = task.request.reverse ? "reverse halo" : "halo";
  prepared.recording.label.clear();
  if (chosen.by_starts) return prepared.describe(start, what);
  prepared.describe(start, what, prepared.chosen.algorithm, chosen.details);
}

}  // namespace

std::shared_ptr<Prepared> build_halo(const HaloTask& task, double start) {
  HaloChoice chosen;
  run_collectively(task.grid->context()->comm(), [&] {
    chosen = choose_halo(task);
    if (task.settings.progress_thread && task.use == Use::persistent)
      chosen.prepared->drive_by_thread();
    describe(task, start, chosen);
    free_arrays(*task.grid, task.request.copy, *chosen.prepared);
  });
  task.grid->context()->take_tags(chosen.tags);
  return chosen.prepared;
}

}  // namespace tonari
