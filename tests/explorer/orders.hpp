// SPDX-License-Identifier: BSD-3-Clause
// The memory orders that explored code asks for, by lines of its source, and how they are weakened
// by one step for a while: what nobody misses is stronger than it need be.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "explorer/explorer.hpp"

namespace tonari::explorer {

// Some operation of a line. Functions that are compiled into others occur at several places.
struct OrderedLine {
  std::string file, text;  // without the source root; of the line
  Kind kind;
  std::memory_order order;
  std::vector<const void*> sites;
};

// What was asked for since the last call of forget_orders().
std::vector<OrderedLine> ordered_lines();
void forget_orders();

// How many mutants the orders have that the library's sources name, by place, as of weaker(): in
// all of src, whether explored or not.
std::map<std::string, std::size_t> mutants_in_sources();

// By one step; empty: the order is relaxed.
std::vector<std::memory_order> weaker(Kind kind, std::memory_order order);
// For as long as it lives, the line asks for this order instead.
class Weakened {
 public:
  Weakened(const OrderedLine& line, std::memory_order order);
  ~Weakened();
  Weakened(const Weakened&) = delete;
  Weakened& operator=(const Weakened&) = delete;
};

// The order to go by. relaxed fences are none.
std::memory_order order_at(const void* site, Kind kind, std::memory_order order);
std::string name(std::memory_order order);
std::string place(const void* site);  // "src/memory/cell.hpp:65"

}  // namespace tonari::explorer
