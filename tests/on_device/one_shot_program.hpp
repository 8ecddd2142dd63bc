// SPDX-License-Identifier: BSD-3-Clause
// A program that exchanges with itself by one-shot calls, blocking ones and others. The host waits
// for what is sent and for nothing else but the calls. A seed draws its streams.
#pragma once

#include <array>
#include <functional>
#include <utility>

#include "on_device/device_buffers.hpp"

namespace tonari::test {

class OneShotProgram {
 public:
  // near: of this rank alone. enters: hears which function of the library comes next.
  OneShotProgram(SimulatedDevice& device, tonari_neighborhood near, std::uint32_t seed,
                 std::function<void(const char*)> enters)
      : device_(device),
        near_(near),
        out_(device, sizeof(int)),
        in_(device, sizeof(int)),
        random_(seed),
        enters_(std::move(enters)) {
    for (DeviceStream& stream : streams_) stream = device_.make_stream(0);
    event_ = device_.make_event(0);
    last_read_ = streams_[0];
  }
  ~OneShotProgram() {
    for (const DeviceStream stream : streams_) device_.end_stream(stream);
    device_.end_event(event_);
  }

  void exchange(int round) {
    const DeviceStream stream = streams_[random_() % 3], waits = streams_[random_() % 3];
    write(stream, round);
    device_.synchronize(stream);
    if (random_() % 3 == 0)
      note("run",
           [&] { return tonari_alltoall(out_.at(), 1, MPI_INT, in_.at(), 1, MPI_INT, near_); });
    else
      by_request(waits);
    if (random_() % 4 == 0) return;  // unread, so nothing follows the stream
    read(waits, round);
    last_read_ = waits;
  }
  void complete() {
    for (const DeviceStream stream : streams_) device_.synchronize(stream);
  }
  int wrong() const { return wrong_; }

 private:
  template <class Call>
  void note(const char* function, const Call& call) {
    enters_(function);
    wrong_ += call() != TONARI_SUCCESS;
  }
  void by_request(DeviceStream waits) {
    tonari_request request = TONARI_REQUEST_NULL;
    note("start", [&] {
      return tonari_ialltoall(out_.at(), 1, MPI_INT, in_.at(), 1, MPI_INT, near_, &request);
    });
    int flag = 0;
    if (random_() % 4 == 0) note("test", [&] { return tonari_test(request, &flag); });
    if (random_() % 4 == 0)
      note("wait", [&] { return tonari_wait(request); });
    else
      note("wait_on",
           [&] { return tonari_wait_on(request, reinterpret_cast<void*>(waits.value)); });
    note("free", [&] { return tonari_request_free(&request); });
  }
  // What was sent before is packed, since calls wait for that.
  void write(DeviceStream stream, int value) {
    if (stream != last_read_) {
      device_.record(last_read_, event_);
      device_.wait_event(stream, event_);
    }
    const SimulatedDevice::Touched all{reinterpret_cast<const std::byte*>(out_.at()), sizeof(int)};
    device_.launch(stream, {}, {&all, 1}, [at = out_.values<int>(), value] { *at = value; });
  }
  void read(DeviceStream stream, int value) {
    const SimulatedDevice::Touched all{reinterpret_cast<const std::byte*>(in_.at()), sizeof(int)};
    device_.launch(stream, {&all, 1}, {},
                   [this, at = in_.values<int>(), value] { wrong_ += *at != value; });
  }

  SimulatedDevice& device_;
  tonari_neighborhood near_;
  MemoryOnDevice out_, in_;
  Random random_;
  std::function<void(const char*)> enters_;
  std::array<DeviceStream, 3> streams_;
  DeviceEvent event_;
  DeviceStream last_read_;
  int wrong_ = 0;
};

}  // namespace tonari::test
