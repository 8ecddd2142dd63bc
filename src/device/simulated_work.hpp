// SPDX-License-Identifier: BSD-3-Clause
// What streams of simulated devices do, piece by piece: other streams go on between two pieces, so
// copies are slow, and kernels overlap.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "copy/moves.hpp"
#include "device/device.hpp"
#include "device/simulated_memory.hpp"
#include "device/simulated_order.hpp"

namespace tonari {

// Numbers that look random and follow from a seed (splitmix64: Steele et al. 2014).
class SimulatedRandom {
 public:
  explicit SimulatedRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E37'79B9'7F4A'7C15;
    z = (z ^ z >> 30) * 0xBF58'476D'1CE4'E5B9;
    z = (z ^ z >> 27) * 0x94D0'49BB'1331'11EB;
    return z ^ z >> 31;
  }

 private:
  std::uint64_t state_;
};

// The stream that goes on.
struct SimulatedTurn {
  int stream;
  SimulatedClock& clock;
  SimulatedRandom& random;
};

class SimulatedWork {
 public:
  virtual ~SimulatedWork() = default;
  virtual bool ready() const { return true; }  // it can go on
  // Does some of it; true: it is complete. Throws where it breaks a rule.
  virtual bool advance(const SimulatedTurn& turn) = 0;
  virtual bool uses(const SimulatedRange& range) const = 0;
  virtual bool uses_table(const void*) const { return false; }
  virtual std::string waits_for() const { return {}; }
  // the same from its beginning, for another launch of a graph
  virtual std::unique_ptr<SimulatedWork> again() const = 0;
};
using WorkPointer = std::unique_ptr<SimulatedWork>;

// Throws unless the bytes are allocated, and all accesses to them are ordered before this one.
void touch(const SimulatedBytes& bytes, bool writes, const SimulatedTurn& turn);

// A table of moves on addresses of the simulation, and the memory that they touch.
struct SimulatedTable {
  SimulatedTable(const SimulatedMemory& memory, int device, std::span<const Move> moves);
  struct End {
    SharedRange range;
    Bytes at;  // of the first piece
  };
  int device;
  std::vector<Move> moves;
  std::vector<End> to, from;  // by move
};

WorkPointer move_work(std::shared_ptr<const SimulatedTable> table);

// What a program launches. It reads and writes these bytes, and calls no function of the device.
struct SimulatedKernel {
  std::function<void()> body;
  std::vector<SimulatedBytes> reads, writes;
};
WorkPointer kernel_work(SimulatedKernel kernel);

struct SimulatedFlag {
  SimulatedBytes at;
  std::uint64_t value;
};
WorkPointer flag_writes(std::vector<SimulatedFlag> flags);
WorkPointer flag_waits(std::vector<SimulatedFlag> flags);

// One record of an event.
struct SimulatedRecord {
  bool complete = false;
  SimulatedClock clock;  // what was complete then
};
WorkPointer record_work(std::shared_ptr<SimulatedRecord> record);
WorkPointer wait_work(std::shared_ptr<const SimulatedRecord> record);

// Captured work, by number: each entry waits for those that it names, which come before it.
struct SimulatedGraph {
  struct Node {
    WorkPointer work;
    std::vector<std::size_t> after;
  };
  int device = 0;
  std::vector<Node> nodes;
};
WorkPointer graph_work(std::shared_ptr<const SimulatedGraph> graph);

}  // namespace tonari
