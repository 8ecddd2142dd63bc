// SPDX-License-Identifier: BSD-3-Clause
// A program around one request that never waits for its device but at the end, with producers and
// consumers that are late. A seed draws their streams.
#pragma once

#include <functional>

#include "on_device/device_ring.hpp"

namespace tonari::test {

// A program around one request, which waits for its device at the end only.
class Program {
 public:
  Program(UsedDevice& device, tonari_request request, MemoryOnDevice& out, MemoryOnDevice& in,
          std::uint32_t seed)
      : Program(device.program(), request, out, in, seed, [](const char*) {}) {
    leaves_some_ = false;
  }
  // enters: hears which function of the library comes next.
  Program(SimulatedDevice& device, tonari_request request, MemoryOnDevice& out, MemoryOnDevice& in,
          std::uint32_t seed, std::function<void(const char*)> enters)
      : device_(device),
        request_(request),
        out_(out),
        in_(in),
        random_(seed),
        enters_(std::move(enters)) {
    for (DeviceStream& stream : streams_) stream = device_.make_stream(0);
    event_ = device_.make_event(0);
    last_start_ = last_wait_ = streams_[0];
  }
  ~Program() {
    for (const DeviceStream stream : streams_) device_.end_stream(stream);
    device_.end_event(event_);
  }

  // sent(round, i, rank): what block i of a rank is.
  template <class Sent>
  void exchange(int round, Sent sent, int before, int behind) {
    const DeviceStream stream = streams_[random_() % 3];
    follow(stream, last_start_);  // which packs the last values
    follow(stream, last_wait_);   // whose consumer reads those that have come
    write(stream, sent(round, 0), sent(round, 1));
    if (random_() % 8 == 0) {
      device_.synchronize(stream);
      note("start", [&] { return tonari_start(request_); });
    } else {
      note("start_on", [&] { return tonari_start_on(request_, as_handle(stream)); });
    }
    last_start_ = stream;
    const DeviceStream waits = streams_[random_() % 3];
    int flag = 0;
    if (random_() % 4 == 0) note("test", [&] { return tonari_test(request_, &flag); });
    if (random_() % 8 == 0) {
      device_.synchronize(waits);
      note("wait", [&] { return tonari_wait(request_); });
    } else {
      note("wait_on", [&] { return tonari_wait_on(request_, as_handle(waits)); });
    }
    if (leaves_some_ && random_() % 4 == 0) return;  // unread, so nothing follows the stream
    read(waits, sent(round, 0, before), sent(round, 1, behind));
    last_wait_ = waits;
  }
  void complete() {
    for (const DeviceStream stream : streams_) device_.synchronize(stream);
  }
  int wrong() const { return wrong_; }

  static void* as_handle(DeviceStream stream) { return reinterpret_cast<void*>(stream.value); }

 private:
  // What the device finds wrong comes as an error of a call, or in a kernel.
  template <class Call>
  void note(const char* function, const Call& call) {
    enters_(function);
    wrong_ += call() != TONARI_SUCCESS;
  }
  static const std::byte* bytes(const MemoryOnDevice& memory) {
    return reinterpret_cast<const std::byte*>(memory.at());
  }
  void follow(DeviceStream stream, DeviceStream behind) {
    if (stream == behind) return;
    device_.record(behind, event_);
    device_.wait_event(stream, event_);
  }
  void write(DeviceStream stream, int first, int second) {
    const SimulatedDevice::Touched all{bytes(out_), 8};
    device_.launch(stream, {}, {&all, 1},
                   [at = out_.values<int>(), first, second] { at[0] = first, at[1] = second; });
  }
  void read(DeviceStream stream, int first, int second) {
    const SimulatedDevice::Touched all{bytes(in_), 8};
    device_.launch(stream, {&all, 1}, {}, [this, at = in_.values<int>(), first, second] {
      wrong_ += (at[0] != first) + (at[1] != second);
    });
  }

  SimulatedDevice& device_;
  tonari_request request_;
  MemoryOnDevice &out_, &in_;
  Random random_;
  std::function<void(const char*)> enters_;
  bool leaves_some_ = true;  // some of what comes is not read
  std::array<DeviceStream, 3> streams_;
  DeviceEvent event_;
  DeviceStream last_start_, last_wait_;
  int wrong_ = 0;
};

}  // namespace tonari::test
