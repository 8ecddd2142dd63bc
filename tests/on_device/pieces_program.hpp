// SPDX-License-Identifier: BSD-3-Clause
// A program that sends itself blocks in pieces, and waits for its device at the end only. A seed
// draws its streams, and how often it tests before it says where to unpack.
#pragma once

#include <array>
#include <functional>
#include <utility>

#include "neighborhood/handles.hpp"
#include "on_device/device_buffers.hpp"
#include "request/connect_pieces.hpp"

namespace tonari::test {

class PiecesProgram {
 public:
  // near: of this rank alone. enters: hears which function of the exchange comes next.
  PiecesProgram(SimulatedDevice& device, tonari_neighborhood near, std::uint32_t seed,
                std::function<void(const char*)> enters)
      : device_(device),
        out_(device, bytes),
        in_(device, bytes),
        random_(seed),
        enters_(std::move(enters)) {
    for (DeviceStream& stream : streams_) stream = device_.make_stream(0);
    event_ = device_.make_event(0);
    started_ = waited_ = streams_[0];
    tonari::run_collectively(near->context->comm(), [&] {
      made_ = tonari::connect_pieces(*near->context, 10, [this] { return blocks(); },
                                     "it is asked for", {bytes / 4, pieces});
      near->context->take_tags(made_.tags);
    });
    EXPECT_TRUE(made_.exchange) << made_.refusal->what();
  }
  ~PiecesProgram() {
    made_.exchange.reset();
    for (const DeviceStream stream : streams_) device_.end_stream(stream);
    device_.end_event(event_);
  }

  void exchange(int round) {
    const DeviceStream stream = any(), waits = any();
    follow(stream, started_);  // which packs the last values
    follow(stream, waited_);   // whose consumer reads those that have come
    write(stream, round);
    enters_("start");
    made_.ordered->pack_on(stream);
    made_.exchange->start();
    started_ = stream;
    enters_("test");
    for (std::size_t tests = random_() % 12; tests > 0; --tests)
      if (made_.exchange->test()) break;
    enters_("wait");
    made_.ordered->unpack_on(waits);
    made_.exchange->wait();
    enters_("finish_on");
    made_.ordered->finish_on(waits);
    enters_("rest");
    if (random_() % 4 == 0) return;  // unread, so nothing follows the stream
    read(waits, round);
    waited_ = waits;
  }
  void complete() {
    for (const DeviceStream stream : streams_) device_.synchronize(stream);
  }
  int wrong() const { return wrong_; }

 private:
  static constexpr std::size_t pieces = 2, numbers = 6;  // every other one in memory
  static constexpr Bytes bytes = 2 * numbers * sizeof(int);

  PackedBlocks blocks() const {
    return {tonari::present_device(""), 0, {message(in_)}, {message(out_)}};
  }
  static PackedMessage message(const MemoryOnDevice& memory) {
    PackedMessage message{0, 0, reinterpret_cast<std::byte*>(memory.at()), {}};
    message.layout.add({0, sizeof(int), 2 * sizeof(int), numbers});
    return message;
  }
  DeviceStream any() { return streams_[random_() % streams_.size()]; }
  void follow(DeviceStream stream, DeviceStream behind) {
    if (stream == behind) return;
    device_.record(behind, event_);
    device_.wait_event(stream, event_);
  }
  static int sent(int round, std::size_t k) { return 100 * round + static_cast<int>(k) + 1; }
  void write(DeviceStream stream, int round) {
    const SimulatedDevice::Touched all{reinterpret_cast<const std::byte*>(out_.at()), bytes};
    device_.launch(stream, {}, {&all, 1}, [at = out_.values<int>(), round] {
      for (std::size_t k = 0; k < numbers; ++k) at[2 * k] = sent(round, k);
    });
  }
  void read(DeviceStream stream, int round) {
    const SimulatedDevice::Touched all{reinterpret_cast<const std::byte*>(in_.at()), bytes};
    device_.launch(stream, {&all, 1}, {}, [this, at = in_.values<int>(), round] {
      for (std::size_t k = 0; k < numbers; ++k) wrong_ += at[2 * k] != sent(round, k);
    });
  }

  SimulatedDevice& device_;
  MemoryOnDevice out_, in_;
  Random random_;
  std::function<void(const char*)> enters_;
  std::array<DeviceStream, 3> streams_;
  DeviceEvent event_;
  ConnectedMessages made_;
  DeviceStream started_, waited_;
  int wrong_ = 0;
};

}  // namespace tonari::test
