// SPDX-License-Identifier: BSD-3-Clause
#include "halo_device/by_tonari.hpp"

#include <tonari/grid.h>

#include "base/error.hpp"

namespace bench::halo {
namespace {

void must(int code) {
  if (code != TONARI_SUCCESS) tonari::fail(tonari::Errc::internal, tonari_last_error());
}

class ByTonari final : public DeviceWay {
 public:
  ByTonari(const DeviceCube& cube, MPI_Comm comm, bool in_stream) : in_stream_(in_stream) {
    constexpr int one[]{1, 1, 1}, periodic[]{1, 1, 1};
    MPI_Comm cart;
    MPI_Cart_create(comm, cube_dims, one, periodic, 0, &cart);
    tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
    shape.dims = cube_dims, shape.type = MPI_DOUBLE;
    for (int k = 0; k < cube_dims; ++k) {
      shape.cells[k] = cube.shape().size;
      shape.lower[k] = shape.upper[k] = cube.shape().ghost;
    }
    void* const arrays[]{cube.base()};
    const auto failed = tonari::error_of([&] {
      must(tonari_grid_create(cart, &shape, arrays, MPI_INFO_NULL, &grid_));
      must(tonari_grid_exchange_init(grid_, 0, MPI_INFO_NULL, &request_));
    });
    MPI_Comm_free(&cart);
    if (failed) throw *failed;
  }
  ~ByTonari() override {
    tonari_request_free(&request_);
    tonari_grid_free(&grid_);
  }

  void put(tonari::DeviceStream stream) override {
    auto* const handle = reinterpret_cast<void*>(stream.value);
    if (in_stream_) {
      must(tonari_start_on(request_, handle));
      must(tonari_wait_on(request_, handle));
    } else {
      must(tonari_start(request_));
      must(tonari_wait(request_));
    }
  }

 private:
  bool in_stream_;
  tonari_grid grid_ = TONARI_GRID_NULL;
  tonari_request request_ = TONARI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<DeviceWay> make_by_tonari(const DeviceCube& cube, MPI_Comm comm, bool in_stream) {
  return std::make_unique<ByTonari>(cube, comm, in_stream);
}

}  // namespace bench::halo
