// SPDX-License-Identifier: BSD-3-Clause
#include "exchange.hpp"

namespace {

// The extent is that of one piece: count 1 and block j is where MPI_Alltoall looks for it.
MPI_Datatype block_type(const Slab& slab) {
  const int planes = static_cast<int>(slab.planes()), columns = static_cast<int>(slab.columns());
  MPI_Datatype row, pieces, block;
  MPI_Type_contiguous(static_cast<int>(slab.n2), MPI_C_DOUBLE_COMPLEX, &row);
  MPI_Type_vector(planes, columns, static_cast<int>(slab.n1), row, &pieces);
  MPI_Type_create_resized(
      pieces, 0, static_cast<MPI_Aint>(slab.columns() * slab.n2 * sizeof(Complex)), &block);
  MPI_Type_commit(&block);
  MPI_Type_free(&pieces);
  MPI_Type_free(&row);
  return block;
}

tonari::Request request(const Slab& slab, Complex* grid, MPI_Datatype block,
                        const std::string& memory) {
  MPI_Info info;
  MPI_Info_create(&info);
  if (!memory.empty()) MPI_Info_set(info, "tonari_inplace_memory", memory.c_str());
  tonari_request handle = TONARI_REQUEST_NULL;
  const int code = tonari_alltoall_inplace_init(grid, 1, block, slab.comm, info, &handle);
  MPI_Info_free(&info);
  tonari::check(code);
  return tonari::Request(handle);
}

}  // namespace

Exchange::Exchange(const Slab& slab, Complex* grid)
    : slab_(slab), grid_(grid), block_(block_type(slab)) {}

void Exchange::operator()() {
  const double start = MPI_Wtime();
  exchange();
  seconds_ = MPI_Wtime() - start;
}

TonariExchange::TonariExchange(const Slab& slab, Complex* grid, const std::string& memory)
    : Exchange(slab, grid), request_(request(slab, grid, block_, memory)) {}

void TonariExchange::exchange() {
  request_.start();
  request_.wait();
}

std::string TonariExchange::name() const {
  const tonari_request_info info = request_.info();
  return std::string("tonari, ") + info.algorithm + ", " + info.channel;
}
