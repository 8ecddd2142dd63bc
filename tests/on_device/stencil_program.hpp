// SPDX-License-Identifier: BSD-3-Clause
// A program around one halo exchange that waits for its device at the end only. Its kernels write
// own cells, and look at ghosts after exchanges. A seed draws their streams.
#pragma once

#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "on_device/device_grid.hpp"

namespace tonari::test {

// Each rank has a grid of its own, and is its only neighbor.
inline Geometry alone(int dims, std::int64_t own) {
  Geometry g = plain_geometry(dims, own);
  g.ranks.fill(1);
  for (int k = 0; k < dims; ++k) {
    g.shape.lower[k] = g.shape.upper[k] = 1;
    g.cuts[k].assign(1, own);
  }
  return g;
}

inline void* as_handle(DeviceStream stream) { return reinterpret_cast<void*>(stream.value); }

class Stencil {
 public:
  Stencil(UsedDevice& device, DeviceGrid& grid, tonari_request request, std::uint32_t seed)
      : Stencil(device.program(), grid, request, seed, [](const char*) {}) {
    repeats_ = false;
  }
  // For a rank that is its only neighbor, so that it may exchange the same cells again. enters:
  // hears which function of the library comes next.
  Stencil(SimulatedDevice& device, DeviceGrid& grid, tonari_request request, std::uint32_t seed,
          std::function<void(const char*)> enters)
      : device_(device), grid_(grid), request_(request), random_(seed), enters_(std::move(enters)) {
    for (DeviceStream& stream : streams_) stream = device_.make_stream(0);
    event_ = device_.make_event(0), written_ = device_.make_event(0);
    last_wait_ = streams_[0];
    grid_.for_fields([&](int s, int f) { fields_.push_back({s, f}); });
  }
  ~Stencil() {
    for (const DeviceStream stream : streams_) device_.end_stream(stream);
    device_.end_event(event_), device_.end_event(written_);
  }

  void exchange(int round) {
    const DeviceStream stream = streams_[random_() % 3];
    // Then the same cells go once more, and the program orders nothing.
    const bool again = unread_ && random_() % 2 == 0;
    if (!again) write(stream, round);
    if (random_() % 8 == 0) {
      device_.synchronize(stream);
      note("start", [&] { return tonari_start(request_); });
    } else {
      note("start_on", [&] { return tonari_start_on(request_, as_handle(stream)); });
    }
    const DeviceStream waits = streams_[random_() % 3];
    int flag = 0;
    if (random_() % 4 == 0) note("test", [&] { return tonari_test(request_, &flag); });
    if (random_() % 8 == 0) {
      note("wait", [&] { return tonari_wait(request_); });
    } else {
      note("wait_on", [&] { return tonari_wait_on(request_, as_handle(waits)); });
    }
    unread_ = repeats_ && random_() % 3 == 0;
    if (!unread_) read(waits);
    last_wait_ = waits;
  }
  void complete() {
    for (const DeviceStream stream : streams_) device_.synchronize(stream);
  }
  int wrong() const { return wrong_; }

 private:
  struct Field {
    int s, f;
  };
  using Touched = SimulatedDevice::Touched;

  template <class Call>
  void note(const char* function, const Call& call) {
    enters_(function);
    wrong_ += call() != TONARI_SUCCESS;
  }
  void follow(DeviceStream stream, DeviceStream behind) {
    if (stream == behind) return;
    device_.record(behind, event_);
    device_.wait_event(stream, event_);
  }
  // Own cells, or ghosts: where they lie.
  std::vector<Touched> cells(bool own) {
    std::vector<Touched> all;
    for (const auto [s, f] : fields_) {
      auto* const base = static_cast<const std::byte*>(grid_.memory(s, 0, f).address());
      grid_.for_places(s, [&](std::size_t at, bool inside) {
        if (inside == own) all.push_back({base + at, grid_.g.element_bytes});
      });
    }
    return all;
  }
  // use(of the device, of what must be there) for each such cell
  template <class Use>
  void for_cells_of(const Field& field, const std::vector<Byte>& want, bool own, Use use) {
    Byte* const seen = grid_.memory(field.s, 0, field.f).seen();
    grid_.for_places(field.s, [&](std::size_t at, bool inside) {
      if (inside == own) use(seen + at, &want[at]);
    });
  }
  void write(DeviceStream stream, int round) {
    follow(stream, last_wait_);  // behind it own cells may be written, and ghosts were read
    if (round > 0) device_.wait_event(stream, written_);
    round_ = round;
    device_.launch(stream, {}, cells(true), [this, round] {
      for (const Field& field : fields_)
        for_cells_of(
            field, grid_.before(field.s, 0, field.f, round), true,
            [&](Byte* to, const Byte* from) { std::memcpy(to, from, grid_.g.element_bytes); });
    });
    device_.record(stream, written_);
  }
  void read(DeviceStream stream) {
    device_.launch(stream, cells(false), {}, [this, round = round_] {
      for (const Field& field : fields_)
        for_cells_of(field, grid_.after(field.s, 0, field.f, round), false,
                     [&](const Byte* is, const Byte* must_be) {
                       wrong_ += std::memcmp(is, must_be, grid_.g.element_bytes) != 0;
                     });
    });
  }

  SimulatedDevice& device_;
  DeviceGrid& grid_;
  tonari_request request_;
  Random random_;
  std::function<void(const char*)> enters_;
  bool repeats_ = true, unread_ = false;
  std::array<DeviceStream, 3> streams_;
  DeviceEvent event_, written_;
  DeviceStream last_wait_;
  std::vector<Field> fields_;
  int round_ = 0;  // of the cells that were written last
  int wrong_ = 0;
};

}  // namespace tonari::test
