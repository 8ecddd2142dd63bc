// SPDX-License-Identifier: BSD-3-Clause
// The fastest tree over which one rank reaches n others under LogGP, if these have nothing else to
// do: a scatter tree for an all-to-all, a broadcast tree for an allgather (Karp, Sahay, Santos,
// Schauer 1993; Alexandrov et al. 1995).
#pragma once

#include <cstdint>
#include <vector>

#include "cost/loggp.hpp"
#include "topology/neighborhood.hpp"

namespace tonari {

class LogGPTree {
 public:
  LogGPTree(Collective collective, const LogGP& machine, double block_bytes);

  // Seconds from the first send until the last of n others has its block.
  double time(std::int64_t n);
  // The same with n messages one after the other.
  double direct(std::int64_t n) const;

  // How a rank with n receivers left starts best: by a message to a helper, which takes x of them
  // over.
  struct Branch {
    std::int64_t x;
    double time;  // until all n are reached
  };
  // x is at most `most`. receiver: whether the helper is itself one of the n; delay: seconds for
  // which it is busy after the message arrived.
  Branch branch(std::int64_t n, std::int64_t most, bool receiver, double delay);

  // The least n for which a helper pays; 0 if there is none up to `most`. All ranks may ask:
  // nothing is remembered for it.
  std::int64_t least(std::int64_t most) const;

  // Numbers remembered: as many as the largest n that was asked for.
  std::size_t remembered() const { return time_.size() - 1; }

 private:
  struct Sides {
    double helper, self;  // when the helper's receivers and the own ones have their blocks
    double later() const { return helper > self ? helper : self; }
  };
  Sides sides(std::int64_t n, std::int64_t x, bool receiver, double delay) const;
  Branch search(std::int64_t n, std::int64_t most, bool receiver, double delay) const;
  double bytes(std::int64_t blocks) const;
  double wire(std::int64_t blocks) const;
  double step(std::int64_t blocks) const;
  double arrival(std::int64_t blocks) const;

  bool alltoall_;
  LogGP machine_;
  double block_bytes_;
  std::vector<double> time_{0};  // time_[n]
};

}  // namespace tonari
