// SPDX-License-Identifier: BSD-3-Clause
// Halo exchanges in the order of streams, by programs that wait for their device at the end only.
#include "on_device/device_grid.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;
using tonari::DeviceStream;
using tonari::SimulatedDevice;

void* as_handle(DeviceStream stream) { return reinterpret_cast<void*>(stream.value); }

// Kernels write own cells, and look at ghosts after exchanges.
class Stencil {
 public:
  Stencil(UsedDevice& device, DeviceGrid& grid, tonari_request request, std::uint32_t seed)
      : device_(device.program()), grid_(grid), request_(request), random_(seed) {
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
    follow(stream, last_wait_);  // behind it own cells may be written, and ghosts were read
    if (round > 0) device_.wait_event(stream, written_);
    write(stream, round);
    device_.record(stream, written_);
    if (random_() % 8 == 0) {
      device_.synchronize(stream);
      note(tonari_start(request_));
    } else {
      note(tonari_start_on(request_, as_handle(stream)));
    }
    const DeviceStream waits = streams_[random_() % 3];
    int flag = 0;
    if (random_() % 4 == 0) note(tonari_test(request_, &flag));
    if (random_() % 8 == 0) {
      note(tonari_wait(request_));
    } else {
      note(tonari_wait_on(request_, as_handle(waits)));
    }
    read(waits, round);
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

  void note(int code) { wrong_ += code != TONARI_SUCCESS; }
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
    device_.launch(stream, {}, cells(true), [this, round] {
      for (const Field& field : fields_)
        for_cells_of(
            field, grid_.before(field.s, 0, field.f, round), true,
            [&](Byte* to, const Byte* from) { std::memcpy(to, from, grid_.g.element_bytes); });
    });
  }
  void read(DeviceStream stream, int round) {
    device_.launch(stream, cells(false), {}, [this, round] {
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
  std::array<DeviceStream, 3> streams_;
  tonari::DeviceEvent event_, written_;
  DeviceStream last_wait_;
  std::vector<Field> fields_;
  int wrong_ = 0;
};

class GridStreams : public testing::Test {
 protected:
  // How many values were wrong, or more if the device throws.
  static int play(const Geometry& g, std::uint32_t seed, int rounds, int lie = -1) {
    UsedDevice device({}, seed);
    int wrong = 0;
    {
      DeviceGrid t(g, device.program(), true);
      t.fill(0, 0);
      tonari_request request = TONARI_REQUEST_NULL;
      must(tonari_grid_exchange_init(t.grid, 0, Info{{"tonari_tune", "off"}}, &request));
      device->lie_about(lie);
      {
        Stencil stencil(device, t, request, seed + static_cast<unsigned>(world_rank()));
        const auto failed = tonari::error_of([&] {
          for (int round = 0; round < rounds; ++round) stencil.exchange(round);
          stencil.complete();
        });
        wrong = stencil.wrong() + (failed ? 1000 : 0);
        if (failed && lie < 0) ADD_FAILURE() << failed->what() << "\n" << g.text();
        if (failed || lie >= 0) device.program().reset(0);
      }
      device->lie_about(-1);
      must(tonari_request_free(&request));
    }
    return wrong;
  }
};

// Small, since every cell is looked at by itself.
Geometry small(Random& random, int dims) {
  Geometry g = plain_geometry(dims, 3);
  for (int k = 0; k < dims; ++k) {
    g.periodic[k] = pick(random, 0, 3) != 0;
    g.shape.lower[k] = pick(random, 0, 2), g.shape.upper[k] = pick(random, 0, 2);
    g.per_rank[k] = g.shape.subdomains[k] = pick(random, 1, 2);
    g.cuts[k].assign(static_cast<std::size_t>(g.ranks[k] * g.per_rank[k]), 3);
  }
  g.shape.fields = pick(random, 1, 2);
  return g;
}

TEST_F(GridStreams, EveryConsumerSeesWhatOwnersHaveWhateverTheOrder) {
  Random common(91);
  for (int k = 0; k < cases(400); ++k)
    ASSERT_EQ(play(small(common, 1 + k % 3), static_cast<std::uint32_t>(k), 8), 0) << "seed " << k;
}

}  // namespace
