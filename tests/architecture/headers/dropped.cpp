// SPDX-License-Identifier: BSD-3-Clause
// A program that drops what functions return: dropped.py wants a warning for each line that ends in
// "dropped", and none for any other.
#include <tonari/blocks.hpp>
#include <tonari/grid.hpp>
#include <tonari/group.hpp>
#include <tonari/sparse.hpp>
#include <tonari/spmv.hpp>
#include <tonari/vector.hpp>

using Near = tonari::Neighborhood;
using Vector = tonari::DistributedVector;

void drop(const Near& near, MPI_Comm comm, std::span<const double> out, std::span<double> in);
void drop(const Near& near, MPI_Comm comm, std::span<const double> out, std::span<double> in) {
  const std::array<int, 2> counts{1, 1};
  const std::array<MPI_Aint, 2> at{0, 1};
  const std::array types{MPI_DOUBLE, MPI_DOUBLE};
  const MPI_Datatype type = MPI_DOUBLE;
  const double* const from = out.data();
  double* const to = in.data();
  near.alltoall(out, in);
  near.ialltoall(out, in);      // dropped
  near.alltoall_init(out, in);  // dropped
  near.allgather(out, in);
  near.iallgather(out, in);      // dropped
  near.allgather_init(out, in);  // dropped
  near.alltoall(from, 1, type, to, 1, type);
  near.ialltoall(from, 1, type, to, 1, type);      // dropped
  near.alltoall_init(from, 1, type, to, 1, type);  // dropped
  near.allgather(from, 1, type, to, 1, type);
  near.iallgather(from, 1, type, to, 1, type);      // dropped
  near.allgather_init(from, 1, type, to, 1, type);  // dropped
  near.alltoallv(from, counts, at, type, to, counts, at, type);
  near.ialltoallv(from, counts, at, type, to, counts, at, type);      // dropped
  near.alltoallv_init(from, counts, at, type, to, counts, at, type);  // dropped
  near.alltoallw(from, counts, at, types, to, counts, at, types);
  near.ialltoallw(from, counts, at, types, to, counts, at, types);      // dropped
  near.alltoallw_init(from, counts, at, types, to, counts, at, types);  // dropped
  near.allgatherv(from, 1, type, to, counts, at, type);
  near.iallgatherv(from, 1, type, to, counts, at, type);      // dropped
  near.allgatherv_init(from, 1, type, to, counts, at, type);  // dropped
  near.allgatherw(from, 1, type, to, counts, at, types);
  near.iallgatherw(from, 1, type, to, counts, at, types);      // dropped
  near.allgatherw_init(from, 1, type, to, counts, at, types);  // dropped
  Near(comm, counts);                                          // dropped
  Near::adjacent(comm, counts, counts);                        // dropped
  Near::adjacent(comm, counts, counts, counts, counts);        // dropped
  Near::from_destinations(comm, counts);                       // dropped
  Near::from_comm(comm);                                       // dropped
}

void drop_in_place(MPI_Comm comm, std::span<double> buf);
void drop_in_place(MPI_Comm comm, std::span<double> buf) {
  const std::array<int, 2> n{1, 1};
  const std::array<MPI_Aint, 2> at{0, 1};
  const std::array types{MPI_DOUBLE, MPI_DOUBLE};
  tonari::alltoall_inplace(buf, comm);
  tonari::ialltoall_inplace(buf, comm);      // dropped
  tonari::alltoall_inplace_init(buf, comm);  // dropped
  tonari::alltoallv_inplace(buf, n, at, comm);
  tonari::ialltoallv_inplace(buf, n, at, comm);      // dropped
  tonari::alltoallv_inplace_init(buf, n, at, comm);  // dropped
  tonari::alltoallw_inplace(buf.data(), n, at, types, comm);
  tonari::ialltoallw_inplace(buf.data(), n, at, types, comm);      // dropped
  tonari::alltoallw_inplace_init(buf.data(), n, at, types, comm);  // dropped
  tonari::alltoallv_inplace_general(buf, n, at, n, at, comm);
  tonari::ialltoallv_inplace_general(buf, n, at, n, at, comm);      // dropped
  tonari::alltoallv_inplace_general_init(buf, n, at, n, at, comm);  // dropped
}

void drop_vectors(const Vector& vector, std::span<const tonari::VectorField> fields,
                  std::span<double> x);
void drop_vectors(const Vector& vector, std::span<const tonari::VectorField> fields,
                  std::span<double> x) {
  const std::array<std::int64_t, 1> ids{0};
  const std::array<int, 1> cells{2};
  vector.forward(x, x);
  vector.forward_init(x, x);                          // dropped
  vector.reverse_init(MPI_SUM, x, x);                 // dropped
  vector.combine_init(MPI_SUM, x, x);                 // dropped
  vector.forward_init(fields);                        // dropped
  vector.reverse_init(MPI_SUM, fields);               // dropped
  vector.combine_init(MPI_SUM, fields);               // dropped
  Vector(MPI_COMM_WORLD, 0, 1, ids);                  // dropped
  Vector::from_neighbors(MPI_COMM_WORLD, 1, {}, {});  // dropped
  Vector::from_ids(MPI_COMM_WORLD, ids, ids);         // dropped
  Vector::shared(MPI_COMM_WORLD, ids);                // dropped
  Vector::box_nodes(MPI_COMM_WORLD, cells);           // dropped
  Vector::box_cells(MPI_COMM_WORLD, cells);           // dropped
  tonari::read_matrix("matrix.mtx", MPI_COMM_WORLD);  // dropped
}

void drop_others(const tonari::Grid& grid, const tonari::Blocks& blocks, tonari::Group& group,
                 std::span<const double> values);
void drop_others(const tonari::Grid& grid, const tonari::Blocks& blocks, tonari::Group& group,
                 std::span<const double> values) {
  const std::array<int, 1> to{0};
  const std::array<MPI_Count, 1> counts{1};
  tonari::Grid(MPI_COMM_WORLD, tonari::GridShape());      // dropped
  tonari::Blocks(MPI_COMM_WORLD, tonari_blocks_shape{});  // dropped
  grid.forward();
  grid.exchange_init();      // dropped
  grid.forward_init(0, {});  // dropped
  grid.reverse_init();       // dropped
  blocks.forward({});
  blocks.forward_init({});  // dropped
  blocks.reverse_init({});  // dropped
  group.add(grid.exchange_init());
  group.run();
  group.end();                                                    // dropped
  group.irun();                                                   // dropped
  tonari::Group(MPI_COMM_WORLD);                                  // dropped
  tonari::sparse_alltoallv(MPI_COMM_WORLD, to, counts, values);   // dropped
  tonari::sparse_ialltoallv(MPI_COMM_WORLD, to, counts, values);  // dropped
  auto messages = tonari::sparse_ialltoallv(MPI_COMM_WORLD, to, counts, values);
  messages.wait();  // dropped
}
