// SPDX-License-Identifier: BSD-3-Clause
// All C++ headers, and a use of their templates, as a user's program has it: header_warnings.py
// compiles it with warnings.
#include <tonari/blocks.hpp>
#include <tonari/grid.hpp>
#include <tonari/group.hpp>
#include <tonari/in_place.hpp>
#include <tonari/matrix_file.hpp>
#include <tonari/neighborhood.hpp>
#include <tonari/ranges.hpp>
#include <tonari/request.hpp>
#include <tonari/sparse.hpp>
#include <tonari/spmv.hpp>
#include <tonari/stencil.hpp>
#include <tonari/tonari.hpp>
#include <tonari/vector.hpp>

#include "all.c"

namespace {

using Doubles = std::span<double>;
using ConstDoubles = std::span<const double>;

void use_neighborhood(MPI_Comm comm, Doubles values) {
  const int offsets[] = {1, -1};
  const tonari::Neighborhood near(comm, offsets);
  tonari::Request swap = near.alltoall_init(ConstDoubles(values), values);
  tonari::Request gather = near.allgather_init(ConstDoubles(values), values);
  tonari::startall(swap, gather);
  tonari::waitall(swap, gather);
  near.alltoall(ConstDoubles(values), values);
  near.ialltoall(ConstDoubles(values), values).wait();
  near.allgather(ConstDoubles(values), values);
  near.iallgather(ConstDoubles(values), values).wait();
  tonari::alltoall_inplace(values, comm);
  tonari::ialltoall_inplace(values, comm).wait();
  const int counts[] = {1, 2};
  const MPI_Aint places[] = {0, 1};
  tonari::alltoallv_inplace(values, counts, places, comm);
  tonari::alltoallv_inplace_general(values, counts, places, counts, places, comm);
  const std::vector<long long> out(2);
  std::vector<long long> in(2);
  near.alltoall_init(out, in).wait();
  near.alltoall(std::span(out), in);
  const std::array<std::complex<double>, 2> from{};
  std::vector<std::complex<double>> to(2);
  near.ialltoall(from, to).wait();
  std::vector<std::array<float, 3>> points(2);
  near.allgather(std::span<const std::array<float, 3>>(points).first(1), points);
  tonari::alltoall_inplace(points, comm);
  const std::vector<MPI_Count> large{1, 1};
  near.alltoallv(out.data(), large, places, MPI_LONG_LONG, in.data(), counts, places,
                 MPI_LONG_LONG);
  near.allgatherv_init(out.data(), 1, MPI_LONG_LONG, in.data(), large, places, MPI_LONG_LONG)
      .wait();
  const MPI_Datatype types[] = {MPI_LONG_LONG, MPI_LONG_LONG};
  near.ialltoallw(out.data(), counts, places, types, in.data(), large, places, types).wait();
  tonari::alltoallv_inplace(in, large, places, comm);
  tonari::alltoallw_inplace(in.data(), large, places, types, comm);
  tonari::Group group(comm);
  group.add(near.allgather_init(out, in));
  group.end(MPI_INFO_NULL).start();
}

void use_sparse(MPI_Comm comm, Doubles values) {
  const int destinations[] = {0};
  const MPI_Count counts[] = {1};
  for (const auto message : tonari::sparse_alltoallv(comm, destinations, counts, values))
    values[0] += message.values[0];
  auto pending = tonari::sparse_ialltoallv(comm, destinations, counts, ConstDoubles(values));
  if (pending.test()) values[0] += static_cast<double>(pending.wait().size());
}

void use_vector(MPI_Comm comm, Doubles values) {
  const std::int64_t indices[] = {1, 2};
  const tonari::DistributedVector vector(comm, 0, 1, indices);
  vector.forward_init(ConstDoubles(values), values).start();
  vector.reverse_init(MPI_SUM, ConstDoubles(values), values).start();
  vector.forward(ConstDoubles(values), values);
  vector.reverse(MPI_SUM, ConstDoubles(values), values);
  const std::vector<double> x(1);
  std::vector<double> ghosts(2);
  vector.forward(x, ghosts);
  vector.combine_init(MPI_SUM, ghosts, values).start();
  const tonari::Renumbering found = tonari::renumber(comm, indices, indices);
  const std::vector<MPI_Aint> places(2);
  const std::array<int, 2> ints{};
  const auto ids = tonari::DistributedVector::from_ids(comm, indices, indices, places, ints);
  const auto lists = tonari::DistributedVector::from_neighbors(comm, 1, {ints, ints, places},
                                                               {ints, std::span(ints), {}});
  values[0] += static_cast<double>(ids.owned() + lists.owned());
  const auto boxes = tonari::DistributedVector::box_cells(comm, std::array<MPI_Count, 1>{2});
  values[0] += static_cast<double>(boxes.needed());
  const tonari::MatrixPart part = tonari::read_matrix("matrix.mtx", comm);
  tonari::RowParallel(comm, part).multiply(x, ghosts);
  tonari::ColumnParallel(comm, part).multiply(x, ghosts);
  values[0] += static_cast<double>(found.first) + part.diagonal().front();
  tonari::RowParallel(comm, 0, 1, indices, indices, values).multiply(values, values, 2);
  tonari::ColumnParallel(comm, 0, 1, indices, indices, values).multiply(values, values);
}

void use_grid(MPI_Comm comm) {
  tonari::GridShape shape({64, 64, 64}, 8, MPI_DOUBLE);
  if (tonari::local_cells(comm, shape).length == 0) return;
  const tonari::Grid grid(comm, shape);
  double* const data = grid.data<double>();
  tonari::apply(tonari::star<3, 1>(), {0.4, 0.1}, grid.bricks<8, 8, 8>(), data, data,
                grid.own_bricks());
  tonari::apply(tonari::star<3, 1>(), {0.4, 0.1}, grid.array(), data, data, tonari_box{});
  tonari::apply(tonari::box<3, 1>(), {}, grid.bricks<8, 8, 8>(), data, data, grid.own_bricks());
  const tonari::Expansion expansion = grid.expansion(1);
  if (expansion.steps() > 0) grid.exchange_init().start();
  const tonari_box boxes[] = {{}};
  const int owners[] = {0};
  const tonari::Blocks blocks(comm, tonari::BlocksShape(boxes, owners, 3, 1, MPI_DOUBLE));
  blocks.forward({});
}

}  // namespace

void use_templates(MPI_Comm comm, Doubles values);
void use_templates(MPI_Comm comm, Doubles values) {
  use_neighborhood(comm, values), use_sparse(comm, values);
  use_vector(comm, values), use_grid(comm);
}
