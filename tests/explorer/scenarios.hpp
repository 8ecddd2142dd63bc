// SPDX-License-Identifier: BSD-3-Clause
// What ranks do with each of the library's ways through shared memory, for the explorer to try in
// all orders. Payloads differ by rank, exchange and place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "explorer/explorer.hpp"

namespace tonari::explorer {

struct Scenario {
  std::string name;
  std::function<Program()> make;
};

std::vector<Scenario> cell_scenarios();
std::vector<Scenario> ring_scenarios();
std::vector<Scenario> board_scenarios();
std::vector<Scenario> link_scenarios();
std::vector<Scenario> swap_scenarios();
std::vector<Scenario> turn_scenarios();

// What rank `from` writes at `place` in an exchange.
constexpr std::uint64_t payload(std::uint64_t from, std::uint64_t exchange, std::uint64_t place) {
  return 1 + from * 10'000 + exchange * 100 + place;
}

}  // namespace tonari::explorer
