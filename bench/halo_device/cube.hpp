// SPDX-License-Identifier: BSD-3-Clause
// A cube of doubles with ghosts in memory of a device, in one of three storages, and what is in it.
// One rank has it on a periodic grid, so it is its own neighbor in all 26 directions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "copy/moves.hpp"
#include "device/held_on_device.hpp"
#include "halo_device/place.hpp"
#include "layout/brick_layout.hpp"
#include "packing/aliased_memory.hpp"

namespace bench::halo {

// array; bricks without padding; bricks whose regions have whole pages of the device for
// themselves; the same with ghosts that are the surface's memory.
enum class DeviceStorage { array, brick, mapped, aliased };
const char* name(DeviceStorage storage);

constexpr int cube_dims = 3;

struct CubeShape {
  long long size, ghost;
  static constexpr long long brick = 8;
  tonari::GridBox box() const;
};

class DeviceCube {
 public:
  DeviceCube(Place& place, const CubeShape& shape, DeviceStorage storage);

  DeviceStorage storage() const { return storage_; }
  const CubeShape& shape() const { return shape_; }
  std::byte* base() const { return base_; }
  tonari::Bytes bytes() const { return bytes_; }
  const tonari::BrickLayout& bricks() const { return *bricks_; }
  // bytes that padding adds to the messages, and of memory that holds nothing, in percent
  double padding_of_messages() const;
  double padding_of_memory() const;

  // The bytes of a direction's ghosts, and those of the surface that they get, in one order.
  tonari::Layout ghosts(tonari::Region direction) const;
  tonari::Layout surface(tonari::Region direction) const;
  // Of bricks: the same, a move for every region of the surface.
  std::vector<tonari::Move> moves_by_region() const;

  // Own cells get values that differ, and ghosts what no cell has. `run` fills them. Whether all
  // then have what they should.
  template <class Run>
  bool verify(const Run& run) {
    write(poisoned_);
    run();
    return read() == filled_;
  }
  std::vector<double> read() const;
  void write(const std::vector<double>& content);
  const std::vector<double>& filled() const { return filled_; }

  std::int64_t at(long long z, long long y, long long x) const;  // in elements

 private:
  void allocate();
  void lay_out();
  void make_contents();
  template <class Use>
  void in_chunks(const Use& use) const;

  Place& place_;
  CubeShape shape_;
  DeviceStorage storage_;
  std::optional<tonari::BrickLayout> bricks_;
  std::unique_ptr<tonari::AliasedMemory> aliased_;
  tonari::HeldOnDevice held_;
  std::byte *base_ = nullptr, *pinned_ = nullptr;
  tonari::Bytes bytes_ = 0;
  tonari::DeviceStream stream_;
  std::vector<double> filled_, poisoned_;
};

}  // namespace bench::halo
