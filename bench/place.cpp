// SPDX-License-Identifier: BSD-3-Clause

#include "base/error.hpp"
#include "graph_patterns.hpp"
#include "topology/grid.hpp"
#include "workload.hpp"

namespace bench {
using tonari::Errc, tonari::Grid, tonari::Vec;

namespace {

std::vector<int> choose_dims(const Options& options, int dimensions, int ranks) {
  std::vector<int> dims = options.dims;
  if (dims.empty()) {
    dims.assign(dimensions, 0);
    MPI_Dims_create(ranks, dimensions, dims.data());
  }
  if (static_cast<int>(dims.size()) != dimensions)
    tonari::fail(Errc::argument, "the pattern has ", dimensions, " dimensions, --dims has ",
                 dims.size());
  long long product = 1;
  for (const int extent : dims) product *= extent;
  if (product != ranks)
    tonari::fail(Errc::argument, "--dims makes ", product, " ranks, but there are ", ranks);
  return dims;
}

}  // namespace

void Place::stand_on_grid(const Options& options) {
  pattern = tonari::parse_pattern(options.pattern);
  dims = choose_dims(options, pattern.dimensions, ranks);
  const std::vector<int> periods(dims.size(), !options.mesh);
  MPI_Cart_create(MPI_COMM_WORLD, pattern.dimensions, dims.data(), periods.data(), 0, &cart);
  MPI_Comm_rank(cart, &rank);

  bool periodic[tonari::max_dimensions];
  for (bool& each : periodic) each = !options.mesh;
  const Grid grid(dims, std::span<const bool>(periodic, dims.size()));
  const Vec here = grid.coordinates(rank);
  for (const Vec& offset : pattern.offsets) {
    for (int j = 0; j < pattern.dimensions; ++j) flat.push_back(offset[j]);
    const int target = grid.rank_at(here + offset), source = grid.rank_at(here - offset);
    targets.push_back(target < 0 ? MPI_PROC_NULL : target);
    sources.push_back(source < 0 ? MPI_PROC_NULL : source);
    origins.push_back(static_cast<int>(origins.size()));
    complete = complete && grid.fully_periodic();
    self = self || target == rank;
  }
}

Place::Place(const Options& options) {
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (is_graph(options.pattern)) {
    graph = make_graph(options.pattern, ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &cart);
    MPI_Comm_rank(cart, &rank);
    const tonari::Vertex& mine = graph[rank];
    targets = mine.targets;
    sources = mine.sources;
    origins.assign(mine.origins.begin(), mine.origins.end());
  } else {
    stand_on_grid(options);
  }
  int most[] = {self, static_cast<int>(targets.size())};
  MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT, MPI_MAX, cart);
  self = most[0];
  neighbors = static_cast<std::size_t>(most[1]);
}

std::vector<int> existing(const std::vector<int>& ranks) {
  std::vector<int> some;
  for (const int rank : ranks)
    if (rank != MPI_PROC_NULL) some.push_back(rank);
  return some;
}

MPI_Comm distributed_graph(const std::vector<int>& sources, const std::vector<int>& targets) {
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(),
                                 MPI_UNWEIGHTED, static_cast<int>(targets.size()), targets.data(),
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  return graph;
}

Place::~Place() {
  if (cart != MPI_COMM_NULL) MPI_Comm_free(&cart);
}

}  // namespace bench
