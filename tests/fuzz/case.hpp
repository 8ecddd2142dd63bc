// SPDX-License-Identifier: BSD-3-Clause
// A case: some random exchanges, in flight together for some rounds. One number says all of it.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuzz/exchange.hpp"

namespace tonari::fuzz {

// A call failed that must not; the others may wait for this rank.
struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Case {
 public:
  // kind: one of the kinds of exchanges, or empty for any.
  Case(std::uint32_t seed, const Place& place, const std::string& kind);
  ~Case();
  // What was wrong with the data first on this rank, or empty. Throws Failed.
  std::string run();
  // Of what the case consists, for messages.
  const std::string& told() const { return told_; }

 private:
  struct Item;

  void make(const std::string& kind);
  void make_request(Item& item);
  void start_all();
  void complete_all();
  void finish(Item& item);
  void check(int code, const Item& item, const char* call) const;
  void free_requests();

  Random common_, own_;
  const Place& place_;
  int round_ = 0;
  std::vector<std::unique_ptr<Exchange>> exchanges_;
  std::vector<Item> items_;
  std::string told_, wrong_;
};

}  // namespace tonari::fuzz
