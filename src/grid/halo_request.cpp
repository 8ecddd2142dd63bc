#include "grid/halo_request.hpp"

#include <array>

#include "api/handles.hpp"
#include "api/settings.hpp"
#include "base/hash.hpp"
#include "channels/abandon.hpp"
#include "channels/mpi_error.hpp"
#include "engine/agree.hpp"
#include "engine/contest.hpp"
#include "engine/plan_exchange.hpp"
#include "grid/halo_plan.hpp"
#include "grid/mapped_exchange.hpp"

namespace tonari {
namespace {

struct HaloSettings {
  std::optional<HaloKind> kind;  // none: auto
  Reach reach = Reach::all;
  Settings common;
  std::uint64_t fingerprint() const {
    return Hash()
        .word(kind ? static_cast<std::uint64_t>(*kind) + 1 : 0)
        .word(static_cast<std::uint64_t>(reach))
        .word(common.fingerprint())
        .value();
  }
};

HaloKind parse_kind(const std::string& word, const GridShape& shape) {
  const std::vector<HaloKind> kinds = kinds_of(shape);
  std::string list = "auto";
  for (const HaloKind kind : kinds) {
    if (word == name(kind)) return kind;
    list += text(", ", name(kind));
  }
  fail(Errc::algorithm, name_of(setting(SettingId::halo)), " is '", word, "'; on storage ",
       name(shape.storage), shape.mapped_ghosts ? " with mapped ghosts" : "", " it must be one of ",
       list);
}

HaloSettings read_halo_settings(MPI_Info info, const GridShape& shape) {
  HaloSettings settings;
  if (const auto value = lookup(info, SettingId::halo); value && *value != "auto")
    settings.kind = parse_kind(*value, shape);
  if (const auto value = lookup(info, SettingId::halo_neighbors))
    settings.reach = *value == "all" ? Reach::all : Reach::faces;
  settings.common = read_settings(info, {});
  return settings;
}

// The part of a request that it owns: the exchange, its views, and a mark for the grid that it is
// in use.
class HaloRun final : public WrappedExchange {
 public:
  HaloRun(std::shared_ptr<HaloGrid> grid, std::shared_ptr<Exchange> exchange, Views views)
      : WrappedExchange(std::move(exchange)), grid_(std::move(grid)), views_(std::move(views)) {
    ++grid_->requests;
  }
  ~HaloRun() override { --grid_->requests; }
  HaloRun(const HaloRun&) = delete;
  HaloRun& operator=(const HaloRun&) = delete;
  void give_up() override {
    inner().give_up();
    leak(std::move(views_));  // sends may still read them
  }

 private:
  std::shared_ptr<HaloGrid> grid_;
  Views views_;
};

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
  check_mpi(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
  return all;
}

std::shared_ptr<Exchange> build_messages(HaloGrid& grid, const HaloRequest& request,
                                         const HaloSettings& settings, HaloCandidate& candidate,
                                         Views& views) {
  Context& context = *grid.context();
  HaloProgram halo;
  run_collectively(context.comm(), [&] { halo = compile_halo(grid, request); });
  candidate.tags = static_cast<std::size_t>(largest(context.comm(), halo.tags()));
  context.reserve_tags(candidate.tags);
  std::shared_ptr<Exchange> built;
  run_collectively(context.comm(), [&] {
    views = std::move(halo.views);
    built = std::make_shared<PlanExchange>(
        halo.plan, std::move(halo.program), context.shared_comm(),
        PlanExchange::Options{context.first_tag(), true, context.node()->ranks()});
    const WaitPolicy wait{context.node()->crowded(), settings.common.timeout};
    if (grid.ghost_maps())
      built = std::make_shared<MappedExchange>(*grid.ghost_maps(), request.copy, std::move(built),
                                               context.shared_comm(), wait);
  });
  return built;
}

HaloCandidate build_candidate(const std::shared_ptr<HaloGrid>& grid, const HaloRequest& request,
                              MPI_Info info, const HaloSettings& settings) {
  HaloCandidate candidate{std::make_shared<Prepared>(grid->context())};
  Prepared& prepared = *candidate.prepared;
  std::shared_ptr<Exchange> exchange;
  Views views;
  prepared.algorithm = name(request.kind);
  prepared.rounds = request.kind == HaloKind::shift ? grid->shape().dims() : 1;
  if (request.kind == HaloKind::plan) {
    const std::shared_ptr<Prepared> planned = plan_halo(*grid, request, info, views);
    prepared.variant =
        planned->algorithm + (planned->variant.empty() ? "" : ", " + planned->variant);
    prepared.channel = planned->channel, prepared.channel_detail = planned->channel_detail;
    prepared.predicted = planned->predicted, prepared.rounds = planned->rounds;
    prepared.times = planned->times;
    prepared.description = planned->description;
    exchange = {planned, planned->exchange.get()};
  } else {
    exchange = build_messages(*grid, request, settings, candidate, views);
    prepared.channel = channel_of(request.kind);
  }
  prepared.exchange = std::make_unique<HaloRun>(grid, std::move(exchange), std::move(views));
  return candidate;
}

// The question of a contest: what the fastest kind depends on.
std::string question(const GridShape& shape, const HaloSettings& settings) {
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
  const Settings& plan = settings.common;
  return text("halo|", name(shape.storage), "|", shape.dims(), "|", std::hex, hash.value(),
              std::dec, "|", settings.reach == Reach::faces ? "faces" : "all", "|", plan.algorithm,
              "/", plan.variant, "|", plan.channel, "|", plan.ports);
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

HaloCandidate choose(const std::shared_ptr<HaloGrid>& grid, HaloRequest request, MPI_Info info,
                     const HaloSettings& settings, std::string& details) {
  const std::vector<HaloKind> kinds =
      settings.kind ? std::vector{*settings.kind} : kinds_of(grid->shape());
  std::vector<HaloCandidate> made(kinds.size());
  Alternatives ways;
  for (const HaloKind kind : kinds) ways.names.emplace_back(name(kind));
  ways.make = [&](std::size_t k) {
    request.kind = kinds[k];
    made[k] = build_candidate(grid, request, info, settings);
  };
  ways.timed = [&](std::size_t k) -> Exchange& { return *made[k].prepared->exchange; };
  ways.question = question(grid->shape(), settings);
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
    const auto cells =
        static_cast<Bytes>(a.stride[0]) * static_cast<Bytes>(a.lower[0] + a.own[0] + a.upper[0]);
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
  prepared.describe(
      start,
      text("halo of copy ", request.copy, ", ", shape.dims(), " dimensions, ",
           request.reach == Reach::faces ? "faces only, " : "", "storage ", name(shape.storage),
           shape.mapped_ghosts ? " with mapped ghosts" : "", ", ", grid.subdomains(),
           grid.subdomains() == 1 ? " subdomain" : " subdomains"),
      prepared.algorithm,
      details + (inner.empty() ? "" : "as an exchange between neighbors: " + inner));
}

}  // namespace

std::shared_ptr<Prepared> prepare_halo(const std::shared_ptr<HaloGrid>& grid, int copy,
                                       MPI_Info info, Output output) {
  const double start = MPI_Wtime();
  const MPI_Comm comm = grid->context()->comm();
  HaloSettings settings;
  agree_on_arguments(
      comm, info, output,
      [&] {
        if (copy < 0 || copy >= grid->shape().copies)
          fail(Errc::argument, "copy ", copy, " does not exist; the grid has ",
               grid->shape().copies);
        settings = read_halo_settings(info, grid->shape());
      },
      [&] {
        return std::array{Alike{static_cast<std::uint64_t>(copy),
                                "ranks asked for exchanges of different copies; it must be the "
                                "same copy on all ranks"},
                          Alike{settings.fingerprint(), other_settings}};
      });
  HaloCandidate chosen{};
  run_collectively(comm, [&] {
    std::string details;
    const HaloRequest request{HaloKind::plan, settings.reach, copy};
    chosen = choose(grid, request, info, settings, details);
    if (settings.common.progress_thread) chosen.prepared->drive_by_thread();
    describe(*grid, request, start, details, *chosen.prepared);
    free_arrays(*grid, copy, *chosen.prepared);
  });
  grid->context()->take_tags(chosen.tags);
  return chosen.prepared;
}

}  // namespace tonari
