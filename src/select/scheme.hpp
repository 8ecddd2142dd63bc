// What a candidate runs: something that gives every rank its plan, whatever planned it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "cost/simulator.hpp"
#include "planners/offsets/emit.hpp"

namespace tonari {

// How long the blocks of an exchange are, as far as all ranks know it.
struct Sizes {
  // of each block, where all ranks have the same blocks (allgather, graphs: one entry, of all);
  // empty if they differ between ranks
  std::vector<Bytes> bytes;
  double average = 0;  // bytes per block
};

class Scheme {
 public:
  Scheme(std::string algorithm, std::string variant)
      : algorithm_(std::move(algorithm)), variant_(std::move(variant)) {}
  virtual ~Scheme() = default;

  const std::string& algorithm() const { return algorithm_; }
  const std::string& variant() const { return variant_; }

  // messages after one another, if each waited for the one before
  virtual std::size_t rounds() const = 0;
  virtual std::size_t messages() const = 0;  // sent by the busiest rank
  virtual std::size_t hops() const = 0;      // blocks sent by the busiest rank in an all-to-all
  virtual std::size_t tags() const = 0;      // plans use tags from 0 to below this
  // equal for schemes of one repertoire that do the same, or nearly
  virtual std::uint64_t likeness() const = 0;
  virtual Plan plan(int rank, EmitOptions options) const = 0;  // graphs: of this process's rank
  // seconds
  virtual double price(const Sizes& sizes, const LogGP& machine, ChannelCost channel) const = 0;

 private:
  std::string algorithm_, variant_;
};
using SchemePtr = std::shared_ptr<const Scheme>;

// The schemes for one neighborhood.
class Repertoire {
 public:
  virtual ~Repertoire() = default;
  virtual std::vector<std::string> algorithms() const = 0;  // linear first
  // The variants of one algorithm, the same on all ranks; none, with the reason, if it cannot be
  // used. Collective on graphs.
  virtual std::vector<SchemePtr> schemes(const std::string& algorithm, Collective collective,
                                         double block_bytes, std::string& reason) = 0;
};

}  // namespace tonari
