// SPDX-License-Identifier: BSD-3-Clause
#include "grid/halo_request.hpp"

#include <algorithm>
#include <array>

#include "api/cell_type.hpp"
#include "api/handles.hpp"
#include "api/read_ghosts.hpp"
#include "api/request_record.hpp"
#include "api/settings.hpp"
#include "engine/agree.hpp"
#include "grid/halo_choice.hpp"

namespace tonari {
namespace {

HaloKind parse_kind(const std::string& word, const GridShape& shape, const HaloRequest& request) {
  const std::vector<HaloKind> kinds = kinds_of(shape, request);
  std::string list = "auto";
  for (const HaloKind kind : kinds) {
    if (word == name(kind)) return kind;
    list += text(", ", name(kind));
  }
  fail(Errc::algorithm, name_of(setting(SettingId::halo)), " is '", word, "'; on storage ",
       name(shape.storage), shape.mapped_ghosts ? " with mapped ghosts" : "",
       request.reverse ? ", for a reverse exchange," : "", " it must be one of ", list);
}

HaloSettings read_halo_settings(MPI_Info info, const GridShape& shape, const HaloRequest& request) {
  HaloSettings settings;
  if (const auto value = lookup(info, SettingId::halo); value && *value != "auto")
    settings.kind = parse_kind(*value, shape, request);
  if (const auto value = lookup(info, SettingId::halo_neighbors))
    settings.faces = *value == "faces";
  settings.common = read_settings(info, {});
  return settings;
}

Reach read_reach(const tonari_ghosts* ghosts, const GridShape& shape) {
  const Reach reach = read_ghosts(ghosts, shape.parts.box(0, 0));
  for (int k = 0; k < shape.dims() && shape.bricked(); ++k)
    for (const auto& [width, side] :
         {std::pair(reach.lower[k], "lower"), {reach.upper[k], "upper"}})
      if (width > 0 && width < Reach::widest()[k])
        fail(Errc::argument, "ghosts.", side, "[", k, "] is ", width, ", but on storage ",
             name(shape.storage),
             " an exchange takes all ghosts of a side or none; give 0 or TONARI_GHOSTS_NONE");
  return reach;
}

// Starts may replace arrays.
void free_arrays(const HaloGrid& grid, int copy, Prepared& prepared) {
  prepared.fixed = "the grid's storage is not array";
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
  prepared.buffers.emplace("grid_start_with", std::move(arrays), [](Shifts) {
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
  prepared.operation = task.request.reverse ? "reverse halo" : "halo";
  prepared.label.clear();
  if (chosen.by_starts) return prepared.describe(start, what);
  const std::string inner = std::move(prepared.description);
  prepared.describe(
      start, what, prepared.algorithm,
      chosen.details + (inner.empty() ? "" : "as an exchange between neighbors: " + inner));
}

}  // namespace

HaloRequest read_request(const GridShape& shape, const HaloCall& call) {
  if (call.copy < 0 || call.copy >= shape.copies)
    fail(Errc::argument, "copy ", call.copy, " does not exist; the grid has ", shape.copies);
  HaloRequest request{HaloKind::plan, read_reach(call.ghosts, shape), call.copy,
                      call.direction == Direction::reverse};
  if (!request.reverse) return request;
  if (shape.mapped_ghosts)
    fail(Errc::argument,
         "mapped ghosts are their owners' cells, so a grid that has them has no reverse exchange; "
         "leave shape.mapped_ghosts 0");
  require_number(shape.number);
  request.reduction = reduction_of(shape.number, call.op);
  return request;
}

std::array<Alike, 4> alike(const HaloGrid& grid, const HaloCall& call, const HaloRequest& request) {
  return {
      Alike{static_cast<std::uint64_t>(call.copy),
            "ranks asked for exchanges of different copies; it must be the same copy on all ranks"},
      Alike{static_cast<std::uint64_t>(call.direction), different_directions},
      alike_ghosts(request.reach, grid.shape().dims()),
      Alike{static_cast<std::uint64_t>(request.reduction.number),
            "ranks gave different operations or types of numbers; they must be the same on all "
            "ranks"}};
}

namespace {

// A number for a call, and the exchange that all ranks have kept for it, if there is one.
struct Asked {
  std::uint64_t call = 0;
  std::shared_ptr<Prepared> kept = {};
};

// Collective: what the program asks for, if it is right and the same everywhere. kept: null where
// none is of use.
Asked agree_on_call(const HaloGrid& grid, const HaloCall& call, MPI_Info info, Output output,
                    const KeptExchanges* kept, HaloRequest& request, HaloSettings& settings) {
  Asked asked;
  const auto things = [&] {
    const auto [copy, direction, ghosts, reduction] = alike(grid, call, request);
    const std::array all{copy, direction, ghosts, reduction,
                         Alike{settings.fingerprint(), other_settings}};
    asked.call = KeptExchanges::number_of(all);
    return KeptExchanges::with_votes(all, kept);
  };
  const Compared compared = agree_on_arguments(
      grid.context()->comm(), info, output,
      [&] {
        request = read_request(grid.shape(), call);
        settings = read_halo_settings(info, grid.shape(), request);
      },
      things);
  if (kept) asked.kept = kept->common(compared);
  if (settings.faces) request.reach.along = 1;  // the key was compared by itself
  return asked;
}

// Collective.
std::shared_ptr<Prepared> build(const HaloTask& task, double start) {
  HaloChoice chosen;
  run_collectively(task.grid->context()->comm(), [&] {
    chosen = choose_halo(task);
    if (task.settings.common.progress_thread && task.use == Use::persistent)
      chosen.prepared->drive_by_thread();
    describe(task, start, chosen);
    free_arrays(*task.grid, task.request.copy, *chosen.prepared);
  });
  task.grid->context()->take_tags(chosen.tags);
  return chosen.prepared;
}

}  // namespace

std::shared_ptr<Prepared> prepare_halo(const std::shared_ptr<HaloGrid>& grid, const HaloCall& call,
                                       MPI_Info info, Output output) {
  const double start = MPI_Wtime();
  HaloRequest request;
  HaloSettings settings;
  agree_on_call(*grid, call, info, output, nullptr, request, settings);
  if (settings.common.progress_thread) settings.common.tune = at_init(settings.common.tune);
  const Use use = settings.common.tune == Tune::online ? Use::part : Use::persistent;
  return build({grid, request, use, info, settings}, start);
}

std::shared_ptr<Prepared> prepare_agreed_halo(const std::shared_ptr<HaloGrid>& grid,
                                              const HaloRequest& request) {
  const double start = MPI_Wtime();
  HaloSettings settings;
  agree_on_arguments(
      grid->context()->comm(), MPI_INFO_NULL, inside,
      [&] { settings = read_halo_settings(MPI_INFO_NULL, grid->shape(), request); },
      [&] { return std::array{Alike{settings.fingerprint(), other_settings}}; });
  settings.common.tune = Tune::off;
  return build({grid, request, Use::once, MPI_INFO_NULL, settings}, start);
}

void run_halo(const std::shared_ptr<HaloGrid>& grid, const HaloCall& call, KeptExchanges& kept) {
  const double start = MPI_Wtime();
  HaloRequest request;
  HaloSettings settings;
  const Asked asked = agree_on_call(*grid, call, MPI_INFO_NULL, inside, &kept, request, settings);
  settings.common.tune = Tune::off;
  std::shared_ptr<Prepared> prepared = asked.kept;
  if (!prepared)
    kept.keep(asked.call,
              prepared = build({grid, request, Use::once, MPI_INFO_NULL, settings}, start));
  run_to_end(*recorded(std::move(prepared), CalledBy::one_shot));
}

}  // namespace tonari
