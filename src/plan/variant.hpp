// SPDX-License-Identifier: BSD-3-Clause
// A variant of an algorithm on one pattern: it gives every rank its plan, whatever planner made it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "plan/plan.hpp"

namespace tonari {

// The places where forwarded blocks wait.
enum class Storage : std::uint8_t {
  // all-to-all by offsets: alternately in the receive buffer and one scratch block (Träff 2016,
  // Algorithm 1), so at most s scratch blocks
  alternate,
  // a scratch block for every hop: more memory, but no message waits for an earlier one to leave
  separate,
};

struct EmitOptions {
  Storage storage = Storage::separate;
  int ports = 0;  // at most this many messages in and out at a time; 0: no limit
};

class Variant {
 public:
  // `variant` is empty, or distinguishes it from the algorithm's other variants.
  Variant(std::string algorithm, std::string variant)
      : algorithm_(std::move(algorithm)), variant_(std::move(variant)) {}
  virtual ~Variant() = default;

  const std::string& algorithm() const { return algorithm_; }
  const std::string& variant() const { return variant_; }
  std::string label() const {
    return variant_.empty() ? algorithm_ : algorithm_ + " (" + variant_ + ")";
  }

  // messages after one another, if each waited for the one before
  virtual std::size_t rounds() const = 0;
  virtual std::size_t messages() const = 0;  // sent by the busiest rank
  virtual std::size_t hops() const = 0;      // blocks sent by the busiest rank in an all-to-all
  virtual std::size_t tags() const = 0;      // plans use tags from 0 to below this
  // equal for variants on one pattern that do nearly the same: only the first is offered
  virtual std::uint64_t dedup_key() const = 0;
  virtual Plan plan(int rank, EmitOptions options = {}) const = 0;

 protected:
  Variant(const Variant&) = default;
  Variant(Variant&&) = default;
  Variant& operator=(const Variant&) = default;
  Variant& operator=(Variant&&) = default;

 private:
  std::string algorithm_, variant_;
};
using VariantPtr = std::shared_ptr<const Variant>;

}  // namespace tonari
