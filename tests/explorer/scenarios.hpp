// SPDX-License-Identifier: BSD-3-Clause
// What ranks do with each of the library's ways through shared memory, for the explorer to try in
// all orders. Payloads differ by rank, exchange and place.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "explorer/explorer.hpp"

namespace tonari::explorer {

struct Scenario {
  std::string name;
  std::function<Program()> make;
  bool takes_long = false;  // for `make test-all`
};

std::vector<Scenario> cell_scenarios();
std::vector<Scenario> ring_scenarios();
std::vector<Scenario> board_scenarios();
std::vector<Scenario> link_scenarios();
std::vector<Scenario> swap_scenarios();
std::vector<Scenario> turn_scenarios();

// A rank may read the block of one that gave up and writes it anew: the system copies some words or
// others. Blocks are relaxed atomic words then; set it where programs are made.
inline bool blocks_may_change = false;

// Waits as PolledExchange does: it looks, now and then asks whether others are still there, and
// then looks once more. False: one that it waits for has ended or left, and what it waits for never
// comes. advance: tells whether something moved; what it leaves behind follows from that and from
// what it stores. check: throws Errc::peer.
template <class Advance, class Check>
bool goes_on(Advance advance, Check check) {
  bool moved = false;
  const auto breaks = [](auto work) {
    const std::optional<Error> error = error_of(work);
    must(!error || error->code() == Errc::peer, error ? error->what() : "");
    return error.has_value();
  };
  const auto looks = [&] { moved = advance(); };
  await(
      [&] {
        if (breaks(looks) || moved) return true;
        return breaks(check) && (breaks(looks) || true);
      },
      Follows::from_stores);
  note(moved);
  return moved;
}

// What rank `from` writes at `place` in an exchange.
constexpr std::uint64_t payload(std::uint64_t from, std::uint64_t exchange, std::uint64_t place) {
  return 1 + from * 10'000 + exchange * 100 + place;
}

}  // namespace tonari::explorer
