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
    repeats_ = rebinds_ = false;
  }
  // For a rank that is its only neighbor, so that it may exchange the same values again. enters:
  // hears which function of the library comes next.
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
    taken_ = written_ = last_wait_ = streams_[0];
    tonari_request_info info;
    EXPECT_OK(tonari_request_get_info(request, &info));
    by_handles_ = std::string(info.channel) == "device-handles";
    rebinds_ = repeats_ && !by_handles_ && seed % 4 == 3;
  }
  ~Program() {
    for (const DeviceStream stream : streams_) device_.end_stream(stream);
    device_.end_event(event_);
  }

  // sent(round, i, rank): what block i of a rank is.
  template <class Sent>
  void exchange(int round, Sent sent, int before, int behind) {
    const DeviceStream stream = streams_[random_() % 3];
    // Then the same values go once more, and the program orders nothing.
    if (!unread_ || random_() % 2 == 0) {
      write(stream, sent(round, 0), sent(round, 1));
      round_ = round;
    }
    const bool by_host = random_() % (repeats_ ? 3 : 8) == 0;
    if (by_host) {
      device_.synchronize(written_);
      // From then on starts in streams wait for the packing, so few requests do that.
      if (rebinds_ && random_() % 8 == 0)
        note("start_with", [&] { return tonari_start_with(request_, out_.at(), in_.at()); });
      else
        note("start", [&] { return tonari_start(request_); });
    } else {
      follow(stream, written_);
      note("start_on", [&] { return tonari_start_on(request_, as_handle(stream)); });
    }
    const DeviceStream waits = streams_[random_() % 3];
    // A start by the host packs in a stream of the library, and may wait for that.
    taken_ = by_host && by_handles_ ? waits : stream;
    const bool tests = random_() % 4 == 0;
    int flag = 0;
    if (tests) note("test", [&] { return tonari_test(request_, &flag); });
    if (random_() % 8 == 0) {
      device_.synchronize(waits);
      note("wait", [&] { return tonari_wait(request_); });
    } else {
      note(tests ? "wait_on behind a test" : "wait_on",
           [&] { return tonari_wait_on(request_, as_handle(waits)); });
    }
    const bool leaves = random_() % 4 == 0;  // unread, so nothing follows the stream
    unread_ = repeats_ && leaves;
    if (leaves) return;
    read(waits, sent(round_, 0, before), sent(round_, 1, behind));
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
    follow(stream, taken_);      // behind it the last values may be replaced
    follow(stream, last_wait_);  // whose consumer reads those that have come
    written_ = stream;
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
  std::array<DeviceStream, 3> streams_;
  DeviceEvent event_;
  DeviceStream taken_, written_, last_wait_;
  bool by_handles_ = false, repeats_ = true, rebinds_ = false, unread_ = false;
  int round_ = 0;  // of the values that were written last
  int wrong_ = 0;
};

}  // namespace tonari::test
