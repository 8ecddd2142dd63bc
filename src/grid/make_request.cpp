// SPDX-License-Identifier: BSD-3-Clause
#include "grid/make_request.hpp"

#include <string>
#include <utility>
#include <vector>

#include "engine/wait/agree.hpp"
#include "grid/halo_choice.hpp"

namespace tonari {
namespace {

// Starts may replace arrays.
void free_arrays(const HaloGrid& grid, int copy, Prepared& prepared) {
  prepared.buffers = StartBuffers("the grid's storage is not array");
  if (grid.shape().bricked()) return;
  std::vector<StartBuffer> arrays;
  for (int s = 0; s < grid.subdomains(); ++s) {
    const tonari_array a = grid.array(s);
    const int slowest = by_speed(a.dims - 1, a.dims, grid.shape().order);
    const auto cells = static_cast<Bytes>(a.stride[slowest]) *
                       static_cast<Bytes>(a.lower[slowest] + a.own[slowest] + a.upper[slowest]);
    for (int f = 0; f < grid.shape().fields; ++f) {
      std::byte* const base = grid.base(s, copy, f);
      arrays.push_back({space_of(grid, s), text("arrays[", arrays.size(), "]"), base});
      arrays.back().touch({base, nullptr, cells * grid.shape().element_bytes});
    }
  }
  prepared.buffers = StartBuffers("grid_start_with", std::move(arrays), [](Shifts) {
    fail(Errc::buffers, "two of the arrays overlap; they must share no byte");
  });
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
