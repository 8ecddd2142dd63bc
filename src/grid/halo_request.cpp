// SPDX-License-Identifier: BSD-3-Clause
#include "grid/halo_request.hpp"

#include <algorithm>
#include <array>

#include "api/cell_type.hpp"
#include "api/handles.hpp"
#include "api/read_ghosts.hpp"
#include "api/request_record.hpp"
#include "api/settings.hpp"
#include "base/hash.hpp"
#include "channels/collective.hpp"
#include "copy/walk.hpp"
#include "engine/agree.hpp"
#include "engine/contest.hpp"
#include "engine/plan_exchange.hpp"
#include "grid/halo_plan.hpp"
#include "grid/halo_use.hpp"
#include "grid/mapped_exchange.hpp"

namespace tonari {
namespace {

struct HaloSettings {
  std::optional<HaloKind> kind;  // none: auto
  bool faces = false;
  Settings common;
  std::uint64_t fingerprint() const {
    return Hash()
        .word(kind ? static_cast<std::uint64_t>(*kind) + 1 : 0)
        .word(faces)
        .word(common.fingerprint())
        .value();
  }
};

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
  settings.common.tune = at_init(settings.common.tune);
  return settings;
}

class HaloRun final : public WrappedExchange {
 public:
  HaloRun(std::shared_ptr<HaloGrid> grid, std::shared_ptr<Exchange> exchange, Views views)
      : WrappedExchange(std::move(exchange)), use_(std::move(grid), std::move(views)) {}
  void give_up() override {
    inner().give_up();
    use_.give_up();
  }

 private:
  HaloUse use_;
};

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

struct HaloCandidate {
  std::shared_ptr<Prepared> prepared;
  // free for the others, too, until one is chosen: they run one after the other
  std::size_t tags = 0;
};

const char* channel_of(HaloKind kind) {
  switch (kind) {
    case HaloKind::pack:
      return "p2p-packed";
    case HaloKind::zero_byte:
      return "shared";
    default:
      return "p2p-typed";
  }
}

// Collective: the largest over all ranks.
int largest(MPI_Comm comm, int mine) {
  int all = mine;
  stay_together(comm);
  reduce_all(&all, 1, MPI_INT, MPI_MAX, comm);
  return all;
}

std::shared_ptr<Exchange> build_messages(HaloGrid& grid, const HaloRequest& request,
                                         const HaloSettings& settings, HaloCandidate& candidate,
                                         HaloMemory& memory) {
  Context& context = *grid.context();
  HaloProgram halo;
  run_collectively(context.comm(), [&] { halo = compile_halo(grid, request); });
  candidate.tags = static_cast<std::size_t>(largest(context.comm(), halo.tags()));
  context.reserve_tags(candidate.tags);
  std::shared_ptr<Exchange> built;
  run_collectively(context.comm(), [&] {
    memory = {std::move(halo.views), std::move(halo.contributions)};
    built = std::make_shared<PlanExchange>(
        halo.plan, std::move(halo.program), context.shared_comm(),
        PlanExchange::Options{.first_tag = context.first_tag(),
                              .node = context.node(),
                              .wait = {.look_after = settings.common.timeout}});
    const WaitPolicy wait{context.node()->crowded(), settings.common.timeout};
    if (grid.ghost_maps())
      built = std::make_shared<MappedExchange>(*grid.ghost_maps(), request.copy, std::move(built),
                                               context.shared_comm(), wait);
  });
  return built;
}

HaloCandidate build_candidate(const std::shared_ptr<HaloGrid>& grid, const HaloRequest& request,
                              Use use, MPI_Info info, const HaloSettings& settings) {
  HaloCandidate candidate{std::make_shared<Prepared>(grid->context())};
  Prepared& prepared = *candidate.prepared;
  std::shared_ptr<Exchange> exchange;
  HaloMemory memory;
  prepared.algorithm = name(request.kind);
  prepared.rounds = request.kind == HaloKind::shift ? grid->shape().dims() : 1;
  if (request.kind == HaloKind::plan) {
    const std::shared_ptr<Prepared> planned = plan_halo(*grid, request, use, info, memory);
    prepared.variant =
        planned->algorithm + (planned->variant.empty() ? "" : ", " + planned->variant);
    prepared.channel = planned->channel, prepared.channel_detail = planned->channel_detail;
    prepared.predicted = planned->predicted, prepared.rounds = planned->rounds;
    prepared.times = planned->times, prepared.predicted_native = planned->predicted_native;
    prepared.description = planned->description;
    exchange = {planned, planned->exchange.get()};
  } else {
    exchange = build_messages(*grid, request, settings, candidate, memory);
    prepared.channel = channel_of(request.kind);
  }
  if (request.reverse)
    exchange = std::make_shared<CombiningExchange>(
        std::move(exchange), std::move(memory.contributions), request.reduction);
  prepared.exchange = std::make_unique<HaloRun>(grid, std::move(exchange), std::move(memory.views));
  return candidate;
}

// The question of a contest: what the fastest kind depends on.
std::string question(const GridShape& shape, const HaloRequest& request,
                     const HaloSettings& settings) {
  const Decomposition& parts = shape.parts;
  Hash hash;
  for (int k = 0; k < shape.dims(); ++k) {
    const auto d = static_cast<std::size_t>(k);
    hash.word(parts.ranks.size(k)).word(parts.ranks.periodic(k)).word(parts.per_rank[d]);
    hash.word(parts.lower[d]).word(parts.upper[d]).word(shape.brick[d]);
    for (const std::int64_t cells : parts.cuts[d]) hash.word(cells);
  }
  hash.word(shape.element_bytes).word(shape.fields).word(shape.interleaved);
  hash.word(shape.page).word(shape.huge);
  if (shape.order != ArrayOrder::c) hash.bytes("fortran");
  if (request.reach != Reach{request.reach.along})
    for (int k = 0; k < shape.dims(); ++k)
      hash.word(request.reach.lower[k]).word(request.reach.upper[k]);
  const int along = std::min(request.reach.along, shape.dims());
  const Settings& plan = settings.common;
  return text(request.reverse ? "reverse halo|" : "halo|", name(shape.storage), "|", shape.dims(),
              "|", std::hex, hash.value(), std::dec, "|",
              along == shape.dims() ? "all"
              : along == 1          ? "faces"
                                    : text(along),
              "|", plan.algorithm, "/", plan.variant, "|", plan.channel, "|", plan.ports);
}

// Between two exchanges programs sweep over the grid: what the surface's cells cost then depends on
// how much else they touched. Writes what is there.
void sweep(const HaloGrid& grid, int copy) {
  for (int s = 0; s < grid.subdomains(); ++s) {
    CellBox own;
    for (int k = 0; k < grid.shape().dims(); ++k) own.end[k] = grid.box(s).own[k];
    for (int f = 0; f < grid.shape().fields; ++f)
      grid.for_each_piece(s, copy, f, own, [](std::byte* at, std::size_t bytes) {
        for (std::size_t k = 0; k < bytes; k += cache_line) {
          volatile std::byte& line = at[k];
          line = line;
        }
      });
  }
}

// The cells that a reverse exchange changes, as they are before it is timed.
class SavedCells {
 public:
  SavedCells(const HaloGrid& grid, HaloRequest request) {
    request.kind = grid.shape().bricked() ? HaloKind::layout : HaloKind::pack;
    Views none;
    const std::vector<HaloEnds> steps = halo_ends(grid, request);
    for (const HaloEnd& end : steps.front().receive)
      cells_.add(bytes_of(grid, request, end, true, none), 0);
    saved_ = Memory(cells_.bytes());
    Walk(nullptr, cells_).gather(saved_.data(), cells_.bytes());
  }
  ~SavedCells() { Walk(nullptr, cells_).scatter(saved_.data(), cells_.bytes()); }
  SavedCells(const SavedCells&) = delete;
  SavedCells& operator=(const SavedCells&) = delete;

 private:
  Layout cells_;
  Memory saved_;
};

HaloCandidate choose(const std::shared_ptr<HaloGrid>& grid, HaloRequest request, Use use,
                     MPI_Info info, const HaloSettings& settings, std::string& details) {
  const std::vector<HaloKind> kinds =
      settings.kind ? std::vector{*settings.kind} : kinds_of(grid->shape(), request);
  std::optional<SavedCells> saved;
  if (request.reverse && kinds.size() > 1 && measures(settings.common.tune))
    run_collectively(grid->context()->comm(), [&] { saved.emplace(*grid, request); });
  std::vector<HaloCandidate> made(kinds.size());
  Alternatives ways;
  for (const HaloKind kind : kinds) ways.names.emplace_back(name(kind));
  ways.make = [&](std::size_t k) {
    request.kind = kinds[k];
    made[k] = build_candidate(grid, request, use, info, settings);
  };
  ways.timed = [&](std::size_t k) -> Exchange& { return *made[k].prepared->exchange; };
  ways.question = question(grid->shape(), request, settings);
  ways.between = [&] { sweep(*grid, request.copy); };
  Decision decision = decide(*grid->context(), settings.common.tune, ways);
  HaloCandidate& chosen = made[decision.winner];
  chosen.prepared->reason = settings.kind ? "forced" : decision.reason;
  chosen.prepared->measured = decision.measured;
  details = std::move(decision.details);
  return std::move(chosen);
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

void describe(const HaloGrid& grid, const HaloRequest& request, double start,
              const std::string& details, Prepared& prepared) {
  const GridShape& shape = grid.shape();
  const std::string inner = std::move(prepared.description);
  prepared.operation = request.reverse ? "reverse halo" : "halo";
  prepared.describe(
      start,
      text(request.reverse ? "reverse halo of copy " : "halo of copy ", request.copy, ", ",
           shape.dims(), " dimensions, ", request.reach.along == 1 ? "faces only, " : "",
           request.reach != Reach{request.reach.along} ? "some ghosts only, " : "", "storage ",
           name(shape.storage), shape.mapped_ghosts ? " with mapped ghosts" : "", ", ",
           grid.subdomains(), grid.subdomains() == 1 ? " subdomain" : " subdomains"),
      prepared.algorithm,
      details + (inner.empty() ? "" : "as an exchange between neighbors: " + inner));
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
std::shared_ptr<Prepared> build(const std::shared_ptr<HaloGrid>& grid, const HaloRequest& request,
                                double start, Use use, MPI_Info info,
                                const HaloSettings& settings) {
  HaloCandidate chosen{};
  run_collectively(grid->context()->comm(), [&] {
    std::string details;
    chosen = choose(grid, request, use, info, settings, details);
    if (settings.common.progress_thread && use == Use::persistent)
      chosen.prepared->drive_by_thread();
    describe(*grid, request, start, details, *chosen.prepared);
    free_arrays(*grid, request.copy, *chosen.prepared);
  });
  grid->context()->take_tags(chosen.tags);
  return chosen.prepared;
}

}  // namespace

std::shared_ptr<Prepared> prepare_halo(const std::shared_ptr<HaloGrid>& grid, const HaloCall& call,
                                       MPI_Info info, Output output) {
  const double start = MPI_Wtime();
  HaloRequest request;
  HaloSettings settings;
  agree_on_call(*grid, call, info, output, nullptr, request, settings);
  return build(grid, request, start, Use::persistent, info, settings);
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
  return build(grid, request, start, Use::once, MPI_INFO_NULL, settings);
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
              prepared = build(grid, request, start, Use::once, MPI_INFO_NULL, settings));
  run_to_end(*recorded(std::move(prepared), CalledBy::one_shot));
}

}  // namespace tonari
