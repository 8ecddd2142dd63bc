// SPDX-License-Identifier: BSD-3-Clause
// What each rank tells all others, as sparse/pair_messages.cpp does it.
#include <memory>

#include "explorer/scenarios.hpp"
#include "memory/broadcast_slots.hpp"

namespace tonari::explorer {
namespace {

struct BoardWay {
  std::size_t ranks;
  std::uint64_t exchanges;
  std::uint64_t before = 0;  // exchanges that were before the first one
  bool killed = false;
};

struct Board {
  std::size_t rank;
  std::vector<BroadcastSlots> slots;  // by rank
  std::uint64_t number;

  std::uint64_t& word(std::size_t of, std::uint64_t exchange) const {
    return *reinterpret_cast<std::uint64_t*>(slots[of].payload(exchange));
  }
};

void expect_words(const Board& own) {
  for (std::size_t k = 0; k < own.slots.size(); ++k)
    must(own.word(k, own.number) == payload(k, own.number, 0), "a word is not what was told");
}

void run(const BoardWay& way, Board& own) {
  for (std::uint64_t k = 0; k < way.exchanges; ++k) {
    own.word(own.rank, own.number + 1) = payload(own.rank, own.number + 1, 0);
    if (k > 0) expect_words(own);  // valid until the next exchange begins
    own.slots[own.rank].publish(++own.number);
    for (std::size_t other = 0; other < way.ranks; ++other) {
      const bool there =
          other == own.rank || goes_on([&] { return own.slots[other].arrived(own.number); },
                                       [&] {
                                         if (explored_ended(other))
                                           fail(Errc::peer, "it has ended");
                                       });
      if (there) continue;
      return must(way.killed, "a rank that is only late was given up");
    }
  }
  expect_words(own);
}

Program make_board(const BoardWay& way) {
  std::vector<BroadcastSlots> slots;
  for (std::size_t k = 0; k < way.ranks; ++k)
    slots.push_back({shared_memory(BroadcastSlots::bytes_for(8)), 8});
  Program program;
  for (std::size_t k = 0; k < way.ranks; ++k) {
    const auto board = std::make_shared<Board>(Board{k, slots, way.before});
    program.ranks.push_back([way, board] { run(way, *board); });
  }
  program.mortal.assign(way.ranks, way.killed);
  return program;
}

}  // namespace

std::vector<Scenario> board_scenarios() {
  constexpr std::uint64_t almost_all = UINT64_MAX - 2;
  return {
      {"board, two ranks", [] { return make_board({2, 4}); }},
      {"board, three ranks", [] { return make_board({3, 3}); }},
      {"board, when numbers begin again", [=] { return make_board({2, 4, almost_all}); }},
      {"board, a rank is killed", [] { return make_board({3, 2, 0, true}); }},
  };
}

}  // namespace tonari::explorer
