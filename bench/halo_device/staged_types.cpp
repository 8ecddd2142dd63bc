// SPDX-License-Identifier: BSD-3-Clause
#include "halo_device/staged_types.hpp"

#include <array>
#include <optional>

#include "layout/array_cells.hpp"
#include "plain_messages.hpp"

namespace bench::halo {

using namespace tonari;

namespace {

class StagedTypes final : public DeviceWay {
 public:
  StagedTypes(Place& place, const DeviceCube& cube, MPI_Comm comm)
      : place_(place), box_(cube.shape().box()), held_(place.device()) {
    host_ = held_.allocate(MemoryKind::pinned, 0, cube.bytes());
    make_tables(cube);
    std::vector<PlainMessage> in, out;
    int tag = 0;
    for (const Region v : directions(cube_dims)) {
      in.push_back({host_, 1, type_of(ghost_box(box_, v)), 0, tag});
      out.push_back({host_, 1, type_of(send_box(box_, opposite(v, cube_dims))), 0, tag++});
    }
    messages_.emplace(comm, in, out, false);
  }
  ~StagedTypes() override {
    for (MPI_Datatype& type : types_) MPI_Type_free(&type);
  }

  void put(DeviceStream stream) override {
    place_.device().move(stream, down_);
    place_.device().synchronize(stream);
    messages_->start();
    messages_->wait();
    place_.device().move(stream, up_);
  }

 private:
  // Every cell once: surface regions go down, and ghosts up, to the same place of the array.
  void make_tables(const DeviceCube& cube) {
    std::vector<Move> down, up;
    for (const Region v : directions(cube_dims)) {
      move(down, host_, cube.base(), region_box(box_, v));
      move(up, cube.base(), host_, ghost_box(box_, v));
    }
    down_ = held_.table(0, down), up_ = held_.table(0, up);
  }
  void move(std::vector<Move>& moves, std::byte* to, const std::byte* from, const CellBox& cells) {
    const Layout bytes = bytes_of_cells(box_, ArrayOrder::c, cells, sizeof(double), 0);
    make_moves(moves, to, bytes, from, bytes);
  }
  MPI_Datatype type_of(const CellBox& cells) {
    std::array<int, cube_dims> whole, some, first;
    for (std::size_t k = 0; k < cube_dims; ++k) {
      whole[k] = static_cast<int>(box_.lower[k] + box_.own[k] + box_.upper[k]);
      some[k] = static_cast<int>(cells.end[k] - cells.first[k]);
      first[k] = static_cast<int>(cells.first[k] + box_.lower[k]);
    }
    MPI_Datatype& type = types_.emplace_back();
    MPI_Type_create_subarray(cube_dims, whole.data(), some.data(), first.data(), MPI_ORDER_C,
                             MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
  }

  Place& place_;
  GridBox box_;
  HeldOnDevice held_;
  std::byte* host_ = nullptr;
  DeviceTable down_, up_;
  std::vector<MPI_Datatype> types_;
  std::optional<PlainMessages> messages_;
};

}  // namespace

std::unique_ptr<DeviceWay> make_staged_types(Place& place, const DeviceCube& cube, MPI_Comm comm) {
  return std::make_unique<StagedTypes>(place, cube, comm);
}

}  // namespace bench::halo
