// SPDX-License-Identifier: BSD-3-Clause
#include "engine/comm/read_topology.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/hash.hpp"
#include "base/setting_table.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/owned_comm.hpp"

namespace tonari {

namespace {

int dimensions_of(MPI_Comm cart) {
  int d = 0;
  check_mpi(MPI_Cartdim_get(cart, &d), "MPI_Cartdim_get");
  return d;
}

// With 1 to max_dimensions of them.
Grid grid_of(MPI_Comm cart, int d) {
  int sizes[max_dimensions], periods[max_dimensions], coordinates[max_dimensions];
  check_mpi(MPI_Cart_get(cart, d, sizes, periods, coordinates), "MPI_Cart_get");
  bool periodic[max_dimensions];
  std::copy(periods, periods + d, periodic);
  Grid grid(std::span<const int>(sizes, d), std::span<const bool>(periodic, d));
  const Vec here = grid.coordinates(rank_in(cart));
  if (!std::equal(coordinates, coordinates + d, here.begin()))
    fail(Errc::topology, "the Cartesian topology does not number its ranks in row-major order");
  return grid;
}

}  // namespace

std::optional<Grid> read_grid(MPI_Comm cart) {
  const int d = dimensions_of(cart);
  if (d < 1 || d > max_dimensions) return std::nullopt;
  return grid_of(cart, d);
}

Grid require_grid(MPI_Comm comm, int most) {
  int kind = MPI_UNDEFINED;
  check_mpi(MPI_Topo_test(comm, &kind), "MPI_Topo_test");
  if (kind != MPI_CART)
    fail(Errc::topology,
         "the communicator has no Cartesian topology; make one with MPI_Cart_create");
  const int d = dimensions_of(comm);
  if (d < 1 || d > most)
    fail(Errc::topology, "the Cartesian topology has ", d, " dimensions; there must be 1 to ", most,
         " dimensions");
  return grid_of(comm, d);
}

void require_intracommunicator(MPI_Comm comm) {
  int inter = 0;
  check_mpi(MPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter)
    fail(Errc::topology,
         "an intercommunicator has no Cartesian or graph topology; use an intracommunicator");
}

namespace {

std::int32_t from_mpi(int rank) { return rank == MPI_PROC_NULL ? -1 : rank; }

std::vector<std::int32_t> from_mpi(std::vector<int> ranks, int count) {
  ranks.resize(static_cast<std::size_t>(count));
  for (int& rank : ranks) rank = from_mpi(rank);
  return ranks;
}

// Each dimension has first the neighbor in the negative, then the one in the positive direction.
// Block 2j goes down and arrives from above, in block 2j+1.
TopologyLists read_cartesian(MPI_Comm cart) {
  const int d = dimensions_of(cart);
  TopologyLists lists;
  lists.grid = read_grid(cart);
  for (int j = 0; j < d; ++j) {
    int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
    check_mpi(MPI_Cart_shift(cart, j, 1, &below, &above), "MPI_Cart_shift");
    lists.targets.push_back(from_mpi(below));
    lists.targets.push_back(from_mpi(above));
    lists.origins.push_back(static_cast<std::uint32_t>(2 * j + 1));
    lists.origins.push_back(static_cast<std::uint32_t>(2 * j));
  }
  lists.sources = lists.targets;
  return lists;
}

TopologyLists read_graph(MPI_Comm graph) {
  const int rank = rank_in(graph);
  int count = 0;
  check_mpi(MPI_Graph_neighbors_count(graph, rank, &count), "MPI_Graph_neighbors_count");
  std::vector<int> neighbors(std::max(1, count));  // MPIs refuse null
  check_mpi(MPI_Graph_neighbors(graph, rank, count, neighbors.data()), "MPI_Graph_neighbors");
  TopologyLists lists;
  lists.targets = lists.sources = from_mpi(std::move(neighbors), count);
  return lists;
}

TopologyLists read_distributed_graph(MPI_Comm graph) {
  int in = 0, out = 0, weighted = 0;
  check_mpi(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted),
            "MPI_Dist_graph_neighbors_count");
  std::vector<int> sources(std::max(1, in)), targets(std::max(1, out)), in_weights(sources.size()),
      out_weights(targets.size());
  check_mpi(MPI_Dist_graph_neighbors(
                graph, in, sources.data(), weighted ? in_weights.data() : MPI_UNWEIGHTED, out,
                targets.data(), weighted ? out_weights.data() : MPI_UNWEIGHTED),
            "MPI_Dist_graph_neighbors");
  TopologyLists lists;
  lists.sources = from_mpi(std::move(sources), in);
  lists.targets = from_mpi(std::move(targets), out);
  lists.weighted = weighted != 0;
  if (!lists.weighted) return lists;
  lists.source_weights.assign(in_weights.begin(), in_weights.begin() + in);
  lists.target_weights.assign(out_weights.begin(), out_weights.begin() + out);
  return lists;
}

}  // namespace

TopologyLists read_topology(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  check_mpi(MPI_Topo_test(comm, &kind), "MPI_Topo_test");
  if (kind == MPI_CART) return read_cartesian(comm);
  if (kind == MPI_GRAPH) return read_graph(comm);
  if (kind == MPI_DIST_GRAPH) return read_distributed_graph(comm);
  fail(Errc::topology,
       "the communicator has no topology; make one with MPI_Cart_create, MPI_Graph_create or "
       "MPI_Dist_graph_create_adjacent, or give lists of sources and "
       "destinations");
}

std::vector<std::int32_t> read_ranks(MPI_Comm comm, int count, const int* list, const char* what) {
  if (count < 0)
    fail(Errc::argument, "the number of ", what, "s is ", count, "; it must not be negative");
  if (count > 0 && !list) fail(Errc::argument, "`", what, "s` is NULL, but its length is ", count);
  const int ranks = ranks_of(comm);
  for (int i = 0; i < count; ++i)
    if (list[i] != MPI_PROC_NULL && (list[i] < 0 || list[i] >= ranks))
      fail(Errc::argument, what, " ", i, " of rank ", rank_in(comm), " is ", list[i],
           "; ranks go from 0 to ", ranks - 1, ", and MPI_PROC_NULL stands for none");
  return from_mpi(std::vector<int>(list, list + count), count);
}

std::string nodes_in_environment() { return in_environment(setting("TONARI_NODES")).value_or(""); }

NodeMembers emulated_node(MPI_Comm comm, const std::string& text) {
  if (text.empty()) return {};
  return node_from_text(text, setting("TONARI_NODES").variable, ranks_of(comm), rank_in(comm));
}

Ballot nodes_ballot(const std::string& text) { return Hash().bytes(text).value(); }

namespace {

// As the MPI tells, whose call may keep a core from ranks that share it.
std::shared_ptr<const Node> node_by_mpi(MPI_Comm comm, const NodeMembers& emulated,
                                        const std::function<void()>& ready) {
  const int rank = rank_in(comm);
  OwnedComm sharing, part;
  call_mpi("MPI_Comm_split_type", [&] {
    return MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, sharing.place());
  });
  if (!emulated.ranks.empty())
    call_mpi("MPI_Comm_split",
             [&] { return MPI_Comm_split(sharing.get(), emulated.node, rank, part.place()); });
  return std::make_shared<const Node>(emulated.ranks.empty() ? sharing.get() : part.get(), rank,
                                      ready);
}

}  // namespace

RankNode read_node(MPI_Comm comm, NodeMembers members, const std::function<void()>& meet,
                   int most_told) {
  std::shared_ptr<const Node> node;
  if (ranks_of(comm) <= most_told) node = Node::on_one_system(comm, members.ranks, meet);
  if (!node) {
    meet();
    node = node_by_mpi(comm, members, meet);
  }
  if (members.ranks.empty()) members = {node->ranks().front(), node->ranks()};
  return {std::move(members), std::move(node)};
}

}  // namespace tonari
