// SPDX-License-Identifier: BSD-3-Clause
// Steps of two or three ranks whose ghosts are each other's cells, in two copies in turn.
#include <cstring>
#include <map>
#include <memory>

#include "explorer/scenarios.hpp"
#include "grid/ghost_turns.hpp"

namespace tonari::explorer {
namespace {

struct TurnWay {
  std::size_t ranks;
  std::uint64_t steps;
  bool killed = false, leaves = false;
};

constexpr std::size_t copies = 2;

struct Grid {
  std::size_t rank;
  std::vector<std::uint64_t*> cells;  // by rank; a word of each copy, 128 bytes apart
  std::unique_ptr<GhostTurns> turns;

  std::uint64_t& cell(std::size_t of, std::uint64_t step) const {
    return cells[of][step % copies * 16];
  }
};

void expect_ghosts(const Grid& own, std::uint64_t step) {
  for (std::size_t k = 0; k < own.cells.size(); ++k)
    must(own.cell(k, step) == payload(k, step, 0), "a ghost is not its owner's cell");
}

// False: a rank that it waits for has given up or ended.
bool exchange(const Grid& own, std::uint64_t step) {
  const int copy = static_cast<int>(step % copies);
  own.turns->check_turn(copy);
  own.turns->publish(copy);
  const auto check = [&] {
    for (std::size_t k = 0; k < own.cells.size(); ++k)
      if (k != own.rank && explored_ended(k)) fail(Errc::peer, "rank ", k, " has ended");
  };
  if (!goes_on([&] { return own.turns->complete(copy); }, check)) return false;
  own.turns->finish(copy);
  return true;
}

void run(const TurnWay& way, const Grid& own) {
  for (std::uint64_t step = 0; step < way.steps; ++step) {
    if (step > 0) expect_ghosts(own, step - 1);
    if (way.leaves && choose(2) == 1) return own.turns->give_up();
    own.cell(own.rank, step) = payload(own.rank, step, 0);
    if (exchange(own, step)) continue;
    must(way.killed || way.leaves, "a rank that is only late was given up");
    return own.turns->give_up();
  }
}

Program make_turn(const TurnWay& way) {
  std::vector<std::byte*> words;
  std::vector<std::uint64_t*> cells;
  for (std::size_t k = 0; k < way.ranks; ++k) {
    words.push_back(shared_memory(copies * GhostTurns::apart));
    cells.push_back(reinterpret_cast<std::uint64_t*>(shared_memory(copies * 128)));
  }
  Program program;
  for (std::size_t k = 0; k < way.ranks; ++k) {
    std::map<int, std::byte*> theirs;
    for (std::size_t other = 0; other < way.ranks; ++other)
      if (other != k) theirs[static_cast<int>(other)] = words[other];
    const auto grid = std::make_shared<Grid>(
        Grid{k, cells, std::make_unique<GhostTurns>(words[k], theirs, copies)});
    program.ranks.push_back([way, grid] { run(way, *grid); });
  }
  program.mortal.assign(way.ranks, way.killed);
  return program;
}

}  // namespace

std::vector<Scenario> turn_scenarios() {
  return {
      {"ghosts, two ranks", [] { return make_turn({2, 4}); }},
      {"ghosts, three ranks", [] { return make_turn({3, 3}); }},
      {"ghosts, a rank is killed", [] { return make_turn({2, 3, true}); }},
      {"ghosts, one of three ranks is killed", [] { return make_turn({3, 2, true}); }, true},
      {"ghosts, a rank gives up", [] { return make_turn({3, 2, false, true}); }},
  };
}

}  // namespace tonari::explorer
