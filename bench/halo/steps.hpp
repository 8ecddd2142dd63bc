// SPDX-License-Identifier: BSD-3-Clause
// Steps of a stencil on one storage, and what they are compared with: plain loops, loops in tiles,
// and the speed of memory.
#pragma once

#include <memory>
#include <string>

#include "halo/exchange.hpp"

namespace bench::halo {

// Ghost cell expansion (section 2): where ghosts are this rank's own, an exchange lasts for as many
// steps as the stencil's radius fits into the ghosts, and the ring that those steps need is
// computed by every rank that needs it. Mapped ghosts are others' memory: an exchange per step, and
// nothing is computed twice.
class Steps {
 public:
  virtual ~Steps() = default;
  int per_exchange() const { return per_exchange_; }
  // step s after an exchange, from copy `from` to the other one
  virtual void step(int s, int from) const = 0;
  void own_cells(int from) const { step(per_exchange_ - 1, from); }

 protected:
  explicit Steps(int per_exchange) : per_exchange_(per_exchange) {}

 private:
  int per_exchange_;
};

std::unique_ptr<Steps> make_steps(const Field& field, int points);

// All steps from one exchange to the next, without one. Begins and ends in copy 0, or goes from the
// copy exchanged last to the other one.
void compute(const Steps& steps, int from);
// The same and an exchange.
void cycle(const Steps& steps, Exchange& exchange);
// The checksum after so many steps from new data; [collective].
unsigned long long result_of(const Steps& steps, Exchange& exchange, const Field& field, int count,
                             int generation);
// The same without any exchange, on an array whose ghosts are filled by what is known of them.
unsigned long long expected_result(const Steps& steps, const Field& array, int generation);

// Own cells of an array by loops that the compiler vectorizes.
class PlainLoops {
 public:
  PlainLoops(const Field& array, int points);
  void plain() const;
  void tiled() const;                          // in the tiles that were the fastest
  bool agrees_with(const Steps& steps) const;  // but for rounding

 private:
  struct Tile {
    long long planes, rows;
  };
  void sweep(Tile tile) const;
  const Field& field_;
  int points_;
  Tile best_;
};

// Reads as many doubles as the own cells are and writes as many, each multiplied by a number, with
// plain stores (STREAM's "scale"): what a stencil that finds all neighbors in the cache must at
// least do.
class MemorySpeed {
 public:
  explicit MemorySpeed(long long cells);
  ~MemorySpeed();
  void run() const;
  // Where the two arrays of every rank are: in the core's own cache ("l2"), the cache that all
  // cores share ("l3"), or "memory", also where nobody knows the caches.
  std::string level(int ranks) const;

 private:
  struct Arrays;
  std::unique_ptr<Arrays> arrays_;
  long long cells_;
};

}  // namespace bench::halo
