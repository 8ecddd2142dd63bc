// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <vector>

#include "base/hash.hpp"
#include "engine/comm/all_lists.hpp"
#include "engine/comm/read_topology.hpp"
#include "engine/wait/agree.hpp"
#include "mpi/collective.hpp"
#include "mpi/mpi_error.hpp"
#include "neighborhood/follow_schedule.hpp"
#include "neighborhood/handles.hpp"
#include "neighborhood/promises.hpp"
#include "request/agree_on_arguments.hpp"
#include "request/free_handle.hpp"
#include "request/settings.hpp"

namespace tonari {
namespace {

PackedOffsets read_offsets(int s, const int offsets[], int d) {
  if (s < 0) fail(Errc::argument, "`s` is ", s, "; the number of neighbors must not be negative");
  if (s > 0 && !offsets) fail(Errc::argument, "`offsets` is NULL, but there are ", s, " neighbors");
  return {std::span(offsets, static_cast<std::size_t>(s) * static_cast<std::size_t>(d)), d};
}

// Collective, after the lists were found to differ: rank 0 broadcasts its list, and the lowest rank
// with another one says where they differ.
[[noreturn]] void explain_difference(MPI_Comm comm, const PackedNeighborhood& near) {
  const int d = near.grid.dimensions(), rank = rank_in(comm);
  int s = static_cast<int>(near.offsets.count());
  broadcast(&s, 1, MPI_INT, 0, comm);
  const std::vector<Vec> mine = near.offsets.list();
  std::vector<Vec> first = mine;
  first.resize(static_cast<std::size_t>(s));
  stay_together(comm);
  broadcast(first.data(), s * max_dimensions, MPI_INT, 0, comm);
  const auto shown = [&](const Vec& v) {
    std::string list = "(";
    for (int j = 0; j < d; ++j) list += (j ? "," : "") + std::to_string(v[j]);
    return list + ")";
  };
  run_collectively(comm, [&] {
    if (mine.size() != first.size())
      fail(Errc::mismatch, "rank ", rank, " gave ", mine.size(), " offsets, rank 0 gave ", s,
           "; all ranks must give the same list in the same order");
    for (std::size_t i = 0; i < mine.size(); ++i)
      if (mine[i] != first[i])
        fail(Errc::mismatch, "offset ", i, " is ", shown(mine[i]), " on rank ", rank, ", but ",
             shown(first[i]), " on rank 0; all ranks must give the same list in the same order");
  });
  fail(Errc::mismatch, "ranks disagree about the grid");
}

template <class... What>
std::unique_ptr<tonari_neighborhood_s> handle_of(What&&... what) {
  auto handle = std::make_unique<tonari_neighborhood_s>();
  handle->context = std::make_shared<Context>(std::forward<What>(what)...);
  return handle;
}

std::shared_ptr<const Settings> of(const std::shared_ptr<const KeptSettings>& kept) {
  return {kept, &kept->settings};
}

constexpr Where read_by_creation = where::any_request | where::neighborhoods;

// What the environment has of nodes.
std::string nodes_in(const Variables& variables) {
  const char* const value = variables.value(setting("TONARI_NODES"));
  return value ? value : "";
}

// The places of what ranks compare: for every neighborhood, then for offsets, or else for a graph.
struct Compares {
  enum : std::size_t {
    settings,
    nodes,
    tuning,
    always,
    offsets = always,
    has_grid = always,
    words
  };
};

void put_always(std::span<Alike> things, const KeptSettings* kept,
                const SharedComm::Surroundings& around) {
  things[Compares::settings] = {kept ? kept->print : 0, other_settings};
  things[Compares::nodes] = {nodes_ballot(around.nodes), other_nodes};
  things[Compares::tuning] = {around.other_tuning};
}

// Collective. It takes one agreement: each rank makes its part before.
tonari_neighborhood create(MPI_Comm cart, int s, const int offsets[], MPI_Info info,
                           Output output) {
  require_intracommunicator(cart);  // all ranks know
  const std::shared_ptr<SharedComm> shared = SharedComm::of(cart);
  std::shared_ptr<const PackedNeighborhood> near;
  std::shared_ptr<const KeptSettings> kept;
  SharedComm::Surroundings around;
  std::unique_ptr<tonari_neighborhood_s> handle;
  std::array<Alike, Compares::offsets + 1> things;
  const std::optional<Error> wrong = wrong_argument(output, [&] {
    Grid grid = require_grid(cart, max_dimensions);
    PackedOffsets list = read_offsets(s, offsets, grid.dimensions());
    near = std::make_shared<const PackedNeighborhood>(
        PackedNeighborhood{std::move(grid), std::move(list)});
    const Variables variables(read_by_creation);
    kept = read_kept_settings(info, read_by_creation, variables);
    if (kept->settings.exact_byte_communications) check_weights({}, rank_in(cart));
    around = shared->read_surroundings(nodes_in(variables));
    if (shared->ranks() > 1) things[Compares::offsets] = {near->fingerprint()};
    handle = handle_of(shared, near, of(kept));
  });
  put_always(things, kept.get(), around);
  const Compared compared = agree_on_arguments(shared->comm(), info, wrong, things);
  if (!compared.same[Compares::offsets])
    run_collectively(shared->comm(), [&] { explain_difference(shared->comm(), *near); });
  const bool again = shared->looks_again(around),
             other_tuning = compared.said[Compares::tuning] != 0;
  if (!again && kept->settings.schedule.empty()) {
    shared->adopt(std::move(around), other_tuning);
    return handle.release();
  }
  run_collectively(shared->comm(), [&] {
    shared->adopt(std::move(around), other_tuning);
    if (again) handle = handle_of(shared, near, of(kept));
    follow_schedule(*handle->context);
  });
  return handle.release();
}

// Collective, together: who has each of these ranks among its targets, as often as it has.
void find_sources(BspComm& bsp, std::span<Vertex> vertices) {
  for (std::size_t k = 0; k < vertices.size(); ++k)
    for (const std::int32_t target : vertices[k].targets)
      if (target >= 0) bsp.send(k, target, {});
  bsp.exchange();
  for (std::size_t k = 0; k < vertices.size(); ++k)
    for (const BspMessage& from : bsp.inbox(k)) vertices[k].sources.push_back(from.from);
}

enum class Sources : bool { given, unknown };

// What a rank reads for a neighborhood of a graph.
struct GraphArguments {
  TopologyLists lists;
  std::shared_ptr<const KeptSettings> kept;
  SharedComm::Surroundings around;
  AllLists all;
};

// Collective, together, and begins right after an agreement: the lists of all ranks.
std::unique_ptr<tonari_neighborhood_s> of_small_graph(const std::shared_ptr<SharedComm>& shared,
                                                      GraphArguments& mine, Sources sources) {
  mine.all.tell(shared->comm(), mine.lists, shared->nodes()->members.node);
  std::vector<Vertex> all = mine.all.vertices();
  if (sources == Sources::unknown) {
    LocalBspComm bsp(shared->ranks());
    find_sources(bsp, all);
  }
  auto handle = handle_of(shared, std::move(all), mine.lists.grid, of(mine.kept));
  follow_schedule(*handle->context);
  return handle;
}

std::unique_ptr<tonari_neighborhood_s> of_large_graph(const std::shared_ptr<SharedComm>& shared,
                                                      GraphArguments& mine, Sources sources) {
  TopologyLists& lists = mine.lists;
  if (sources == Sources::unknown) {
    BspComm& bsp = shared->bsp();
    bsp.run_collectively([&] {
      Vertex vertex;
      vertex.rank = shared->rank(), vertex.targets = lists.targets;
      find_sources(bsp, std::span(&vertex, 1));
      lists.sources = std::move(vertex.sources);
    });
  }
  auto handle = handle_of(shared, lists, of(mine.kept));
  follow_schedule(*handle->context);
  if (mine.kept->settings.exact_byte_communications)
    promise_exact_sizes(*handle->context, handle->choices, lists);
  return handle;
}

// Collective. `read` returns this rank's lists and may throw.
template <class Read>
tonari_neighborhood create_graph(MPI_Comm comm, MPI_Info info, Output output, Read read,
                                 Sources sources = Sources::given) {
  require_intracommunicator(comm);  // all ranks know
  const std::shared_ptr<SharedComm> shared = SharedComm::of(comm);
  GraphArguments mine;
  const std::optional<Error> wrong = wrong_argument(output, [&] {
    mine.lists = read();
    const Variables variables(read_by_creation);
    mine.kept = read_kept_settings(info, read_by_creation, variables);
    if (mine.kept->settings.exact_byte_communications) check_weights(mine.lists, rank_in(comm));
    mine.around = shared->read_surroundings(nodes_in(variables));
    // promised sizes belong to one rank's edges
    if (!mine.kept->settings.exact_byte_communications) mine.all = AllLists(shared->ranks());
  });
  std::array<Alike, Compares::words + 1> things;
  put_always(things, mine.kept.get(), mine.around);
  things[Compares::has_grid] = {mine.lists.grid.has_value()};
  things[Compares::words] = {AllLists::words(mine.lists)};
  const Compared compared = agree_on_arguments(shared->comm(), info, wrong, things);
  std::unique_ptr<tonari_neighborhood_s> handle;
  run_collectively(shared->comm(), [&] {
    if (!compared.same[Compares::has_grid]) mine.lists.grid.reset();
    shared->adopt(std::move(mine.around), compared.said[Compares::tuning] != 0);
    const bool small = mine.all.has_room(compared.said[Compares::words]);
    handle = (small ? of_small_graph : of_large_graph)(shared, mine, sources);
  });
  return handle.release();
}

// Tells whether there are weights. A rank without edges always has them.
bool read_weights(int degree, const int given[], std::vector<int>& weights) {
  if (degree == 0) return true;
  if (!given || given == MPI_UNWEIGHTED || given == MPI_WEIGHTS_EMPTY) return false;
  weights.assign(given, given + degree);
  return true;
}

// A graph over a Cartesian communicator may turn out to be isomorphic.
std::optional<Grid> grid_below(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  check_mpi(MPI_Topo_test(comm, &kind), "MPI_Topo_test");
  return kind == MPI_CART ? read_grid(comm) : std::nullopt;
}

}  // namespace
}  // namespace tonari

using namespace tonari;

extern "C" int tonari_neighborhood_create_cart(MPI_Comm cart, int s, const int offsets[],
                                               MPI_Info info, tonari_neighborhood* near) {
  return guarded([&] {
    require_comm(cart, "cart");
    *near = create(cart, s, offsets, info, {near, "near"});
  });
}

extern "C" int tonari_neighborhood_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                                   const int* sourceweights, int outdegree,
                                                   const int destinations[], const int* destweights,
                                                   MPI_Info info, tonari_neighborhood* near) {
  return guarded([&] {
    require_comm(comm, "comm");
    *near = create_graph(comm, info, {near, "near"}, [&] {
      TopologyLists lists;
      lists.sources = read_ranks(comm, indegree, sources, "source");
      lists.targets = read_ranks(comm, outdegree, destinations, "destination");
      lists.weighted = read_weights(indegree, sourceweights, lists.source_weights) &&
                       read_weights(outdegree, destweights, lists.target_weights);
      lists.grid = grid_below(comm);
      return lists;
    });
  });
}

extern "C" int tonari_neighborhood_create_from_destinations(MPI_Comm comm, int outdegree,
                                                            const int destinations[], MPI_Info info,
                                                            tonari_neighborhood* near) {
  return guarded([&] {
    require_comm(comm, "comm");
    const auto read = [&] {
      TopologyLists lists;
      lists.targets = read_ranks(comm, outdegree, destinations, "destination");
      lists.grid = grid_below(comm);
      return lists;
    };
    *near = create_graph(comm, info, {near, "near"}, read, Sources::unknown);
  });
}

extern "C" int tonari_neighborhood_create_from_comm(MPI_Comm comm, MPI_Info info,
                                                    tonari_neighborhood* near) {
  return guarded([&] {
    require_comm(comm, "comm");
    *near = create_graph(comm, info, {near, "near"}, [&] { return read_topology(comm); });
  });
}

extern "C" int tonari_neighborhood_degrees(tonari_neighborhood near, int* indegree,
                                           int* outdegree) {
  return guarded([&] {
    require(near, "near");
    const Vertex& lists = as_given(near->context->topology());
    if (indegree) *indegree = static_cast<int>(lists.sources.size());
    if (outdegree) *outdegree = static_cast<int>(lists.targets.size());
  });
}

extern "C" int tonari_neighborhood_free(tonari_neighborhood* near) {
  return free_handle(near, "near",
                     [](tonari_neighborhood_s& freed) -> Context& { return *freed.context; });
}

extern "C" int tonari_neighborhood_count(tonari_neighborhood near, int* s) {
  return guarded([&] {
    require(near, "near"), require(s, "s");
    *s = static_cast<int>(as_given(near->context->topology()).targets.size());
  });
}

extern "C" int tonari_neighborhood_ranks(tonari_neighborhood near, int targets[], int sources[]) {
  return guarded([&] {
    require(near, "near");
    const Vertex& lists = as_given(near->context->topology());
    const auto rank_or_null = [](int rank) { return rank < 0 ? MPI_PROC_NULL : rank; };
    if (targets) std::transform(lists.targets.begin(), lists.targets.end(), targets, rank_or_null);
    if (sources) std::transform(lists.sources.begin(), lists.sources.end(), sources, rank_or_null);
  });
}
