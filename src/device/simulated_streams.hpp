// SPDX-License-Identifier: BSD-3-Clause
// Streams of simulated devices: queues whose work runs in any order that the rules allow, drawn
// from a seed. There is no thread: work runs while the program calls, at times much and at times
// none, and as far as it must where the host waits. So a seed is an order, on any machine.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/simulated_order.hpp"
#include "device/simulated_work.hpp"

namespace tonari {

// What streams record instead of running it.
struct SimulatedCapture {
  DeviceStream origin;
  std::shared_ptr<SimulatedGraph> graph = std::make_shared<SimulatedGraph>();
  std::string broken;  // by what; empty: it is not
  bool ended = false;
};
using CaptureEnds = std::vector<std::size_t>;  // nodes that what comes next waits for

class SimulatedStreams {
 public:
  explicit SimulatedStreams(std::uint64_t seed, bool one_queue = false)
      : random_(seed), one_queue_(one_queue) {
    draw();
  }
  // Drops all work, and draws new orders. Streams stay.
  void reset(std::uint64_t seed);

  DeviceStream make(int device);
  void end(DeviceStream stream);  // behind what it holds
  int device_of(DeviceStream stream) const { return at(stream).device; }

  // Puts work at the end of the stream or of its capture, and may run some of any stream.
  void put(DeviceStream stream, WorkPointer work);
  void run_some(std::uint64_t at_least = 0);
  // Runs what can run until it is done; false: nothing can run. Throws what the work throws, then
  // and at each later call.
  bool run_until(const std::function<bool()>& done);
  bool empty(DeviceStream stream) const { return at(stream).queue.empty(); }
  void host_waited_for(const SimulatedClock& clock);
  void host_waited_for(DeviceStream stream);
  void check() const;  // throws what work threw

  bool uses(const SimulatedRange& range) const;
  bool uses_table(const void* table) const;
  std::string waits() const;  // what the streams wait for, as parts of a sentence

  // ---- captures
  std::shared_ptr<SimulatedCapture> capture_of(DeviceStream stream) const {
    return at(stream).capture;
  }
  const CaptureEnds& capture_ends(DeviceStream stream) const { return at(stream).ends; }
  void begin_capture(DeviceStream stream);
  // What follows in the stream waits for these nodes, too.
  void join_capture(DeviceStream stream, const std::shared_ptr<SimulatedCapture>& capture,
                    const CaptureEnds& ends);
  std::shared_ptr<const SimulatedGraph> end_capture(DeviceStream stream);
  bool any_capture() const;
  void break_captures(const std::string& by);

 private:
  using SharedClock = std::shared_ptr<const SimulatedClock>;
  struct Entry {
    WorkPointer work;
    SharedClock behind;        // what the host knew to be complete when it put the work there
    std::uint64_t number = 0;  // of all work, in the order in which it was put
  };
  struct Stream {
    int device = -1;
    std::uint64_t uses = 0;  // of this place, ever: it tells old handles from new ones
    bool open = false;
    std::uint64_t weight = 1;
    std::deque<Entry> queue;
    SimulatedClock clock;
    std::shared_ptr<SimulatedCapture> capture;
    CaptureEnds ends;
  };
  Stream& at(DeviceStream stream);
  const Stream& at(DeviceStream stream) const;
  void draw();
  bool step();
  void advance(std::size_t place);
  std::size_t choose();
  bool in_front(const Stream& stream) const;  // of its device's queue, if streams share one
  bool all_joined(const SimulatedCapture& capture, const CaptureEnds& ends) const;

  SimulatedRandom random_;
  bool one_queue_;
  std::uint64_t put_ = 0;                               // so many pieces of work, ever
  std::uint64_t eager_ = 0;                             // so many steps at most at each call
  std::array<Stream, most_simulated_streams> streams_;  // the first is the host
  std::size_t used_ = 1;                                // no place from here on was ever used
  SimulatedClock host_;
  SharedClock host_now_ = std::make_shared<SimulatedClock>();
  std::optional<Error> broken_;
};

}  // namespace tonari
