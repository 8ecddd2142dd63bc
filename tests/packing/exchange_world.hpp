// SPDX-License-Identifier: BSD-3-Clause
// Ranks that exchange by streams, played in one process or several, with programs around their
// exchanges that are right: what a case finds is a mistake of the exchange. A seed draws who uses
// which stream, how the ranks' calls interleave, and in which order the streams run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/mutated_device.hpp"
#include "device/simulated_device.hpp"
#include "packing/packed_exchange.hpp"

namespace tonari::test {

// Words of 8 bytes in a rank's memory that a message takes along.
using Words = std::vector<std::uint32_t>;
struct WorldMessage {
  std::int32_t from, to, tag;
  Words source, target;
  // A rank that passes it on; -1: it goes straight; `from`: straight, in the step behind the first.
  std::int32_t via = -1;
};

struct WorldShape {
  std::string name;
  std::int32_t ranks;
  std::uint32_t words;  // of each rank's memory
  std::vector<WorldMessage> messages;
  // Words are both source and target: each exchange passes on what the last one brought.
  bool passes_on = false;

  bool relays(std::int32_t rank) const {
    return std::ranges::count(messages, rank, &WorldMessage::via) > 0;
  }
  bool relays() const {
    return std::ranges::any_of(messages, [](const WorldMessage& m) { return m.via >= 0; });
  }
};

// Each rank has 4^3 cells with ghosts, and 26 messages to its neighbors on a periodic grid: all to
// itself, or some to the other rank of two.
WorldShape own_neighbors();
WorldShape two_neighbors();
WorldShape one_way();         // three ranks; nobody hears of those that it sends to
WorldShape passing_around();  // three ranks in a ring
WorldShape relaying();        // three ranks, each between the two others
WorldShape joining();         // one rank sends what it has together with what it gets from two
WorldShape passing_twice();   // three ranks in a ring, from one to the next but one

// Another kind of device over the simulated one, with the same addresses, streams and events.
using Over = std::function<std::unique_ptr<Device>(SimulatedDevice&)>;

class ExchangeWorld {
 public:
  // The ranks from `first` to `last` - 1 are played here; connect them before cases run. Exchanges
  // use the device that `over` makes, and programs the simulated one.
  ExchangeWorld(const WorldShape& shape, const SimulatedOptions& options, std::uint64_t seed,
                const Mutant& mutant = {}, std::int32_t first = 0, std::int32_t last = -1,
                const Over& over = {});
  PackedOffers offers() const;
  void connect(const PackedOffers& offers);

  // Some exchanges with what is around them, also of what is left of the last ones. Throws what the
  // device throws; wrong() has the rest.
  void run(std::uint64_t seed);
  // The same, and the exchanges end before all of it is done.
  void finish(std::uint64_t seed);
  std::size_t wrong() const { return wrong_; }  // words that had other values than they should
  const std::vector<OrderingCall>& calls() const { return mutated_.calls(); }

 private:
  using Values = std::vector<std::uint64_t>;
  struct Step {
    enum class Kind : std::uint8_t { produce, start, wait, consume } kind;
    DeviceStream stream;
    std::shared_ptr<const Values> values;  // to write, or to expect
    // a wait that the program orders behind its consumer, a start that it does not order behind the
    // start before
    bool behind_consumer = false, beside = false;
  };
  struct Rank {
    std::int32_t number = 0;
    std::byte* memory = nullptr;
    std::vector<DeviceStream> streams;
    DeviceEvent event;
    std::unique_ptr<PackedExchange> exchange;
    Words sources, targets;
    std::vector<SimulatedDevice::Touched> source_bytes, target_bytes;
    std::vector<Step> steps;
    std::size_t next = 0;
    // where the program's last step, what was before the last start, and the last unpacking went
    DeviceStream last, before_start, waited;
  };

  void make(std::int32_t number);
  void begin(std::uint64_t seed);
  // Who relays does more, so what it calls counts by itself.
  void enter(const Rank& rank, const std::string& function) {
    mutated_.enter(shape_.relays(rank.number) ? "relaying " + function : function);
  }
  void plan(SimulatedRandom& random);
  void plan_all(Step::Kind kind, SimulatedRandom& random, bool behind_consumer = false,
                bool beside = false);
  std::shared_ptr<const Values> played(std::int32_t rank, Step::Kind kind, std::uint64_t salt);
  void issue(SimulatedRandom& random);
  void issue(Rank& rank, const Step& step);
  void start(Rank& rank, const Step& step);
  void wait(Rank& rank, const Step& step);
  void follow(Rank& rank, DeviceStream stream, DeviceStream behind);
  void write(Rank& rank, const Step& step);
  void read(Rank& rank, const Step& step);
  void compare(const std::byte* memory, const Words& places, const Values& values);
  void complete();

  WorldShape shape_;
  SimulatedDevice device_;
  std::unique_ptr<Device> over_;
  MutatedDevice mutated_;
  bool alone_;  // no other process plays ranks
  std::int32_t first_;
  std::vector<Rank> ranks_;                     // that are played here
  std::vector<Values> model_;                   // of all ranks: what their memory should hold
  std::vector<std::vector<Values>> in_flight_;  // by exchange and message
  std::size_t wrong_ = 0;
  bool ran_ = false;
};

}  // namespace tonari::test
