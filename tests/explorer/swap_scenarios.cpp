// SPDX-License-Identifier: BSD-3-Clause
// Swaps in place of two ranks, through cells and where the blocks lie.
#include <array>
#include <cstring>
#include <map>
#include <memory>

#include "channels/shared/single_copy_swap.hpp"
#include "channels/shared/swap.hpp"
#include "explorer/scenarios.hpp"

namespace tonari::explorer {
namespace {

struct SwapWay {
  bool single_copy;
  std::size_t words, chunk;  // of a block; bytes
  std::uint64_t swaps = 1;
  bool killed = false, leaves = false;
};

struct Partner {
  std::size_t rank;
  std::shared_ptr<const Node> node;
  std::shared_ptr<SharedLink> link;
  std::unique_ptr<Swap> swap;
  std::uint64_t* block = nullptr;
};

void fill(const SwapWay& way, const Partner& own) {
  for (std::size_t k = 0; k < way.words; ++k) own.block[k] = payload(own.rank, 0, k);
}

void expect(const SwapWay& way, const Partner& own, std::size_t from) {
  std::vector<std::uint64_t> seen(way.words);
  std::memcpy(seen.data(), own.block, 8 * way.words);
  for (std::size_t k = 0; k < way.words; ++k)
    must(seen[k] == payload(from, 0, k), "a swapped block is not what the other rank had");
}

// Whoever has given up may use its memory again.
void leave(const SwapWay& way, const Partner& own) {
  own.swap->leave();
  std::memset(own.block, 0, 8 * way.words);
}

void run(const SwapWay& way, const Partner& own) {
  for (std::uint64_t k = 0; k < way.swaps; ++k) {
    own.swap->start();
    for (Swap::State state{}; state != Swap::State::complete;) {
      if (way.leaves && choose(2) == 1) return leave(way, own);
      const auto advance = [&] { return (state = own.swap->advance()) != Swap::State::idle; };
      const bool moved = goes_on(advance, [&] { own.swap->check(); });
      note(static_cast<std::uint64_t>(state));
      if (moved) continue;
      must(way.killed || way.leaves, "a rank that is only late was given up");
      return leave(way, own);
    }
    expect(way, own, k % 2 == 0 ? 1 - own.rank : own.rank);
  }
}

void connect(const SwapWay& way, std::array<Partner, 2>& both) {
  const SharedLimits limits{.canary = 0,
                            .whole = 0,
                            .chunk = way.single_copy ? 128 : way.chunk,
                            .cells = 2,
                            .ring = true};
  const std::size_t bytes = way.single_copy ? sizeof(SwapAddress) : 8 * way.words;
  std::map<std::int32_t, SegmentName> names;
  for (Partner& each : both) {
    const auto rank = static_cast<std::int32_t>(each.rank);
    each.node = std::make_shared<const Node>(MPI_Comm{}, rank);
    const EdgeMessage message{1 - rank, 7, bytes};
    each.link = std::make_shared<SharedLink>(each.node, rank, std::vector{message},
                                             std::vector{message}, limits);
    names[rank] = each.link->segment();
  }
  for (Partner& each : both) each.link->attach(names), each.link->finish_attach();
}

void make_swap(const SwapWay& way, Partner& own) {
  const auto other = static_cast<std::int32_t>(1 - own.rank);
  const SwapBlock block{other, 8 * way.words, reinterpret_cast<std::byte*>(own.block)};
  if (!way.single_copy) {
    own.swap = make_shared_swap(block, own.link, own.link->out(0), own.link->in(0));
    return;
  }
  own.swap = make_single_copy_swap(
      block, {own.node, own.link, &own.link->out(0), &own.link->in(0), own.rank == 0},
      std::make_shared<Memory>(way.chunk));
}

Program make_swap(const SwapWay& way) {
  blocks_may_change = false;
  const auto both = std::make_shared<std::array<Partner, 2>>();
  for (std::size_t k = 0; k < 2; ++k) {
    (*both)[k].rank = k;
    (*both)[k].block = reinterpret_cast<std::uint64_t*>(shared_memory(8 * way.words));
    fill(way, (*both)[k]);
  }
  connect(way, *both);
  for (Partner& each : *both) make_swap(way, each);
  Program program;
  for (std::size_t k = 0; k < 2; ++k)
    program.ranks.push_back([way, both, k] { run(way, (*both)[k]); });
  program.mortal.assign(2, way.killed);
  return program;
}

}  // namespace

std::vector<Scenario> swap_scenarios() {
  constexpr std::size_t two_pages = 1024;  // words: each rank swaps one page
  const std::vector<std::pair<std::string, SwapWay>> ways{
      {"by cells", {false, 2, 8}},
      {"by cells, once round and on", {false, 3, 8}},
      {"by cells, there and back", {false, 2, 8, 2}},
      {"by cells, a rank is killed", {false, 2, 8, 1, true}},
      {"by cells, a rank leaves", {false, 2, 8, 1, false, true}},
      {"where they lie", {true, two_pages, 4096}},
      {"where they lie, there and back", {true, 2, 16, 2}},
      {"where they lie, a rank is killed", {true, 2, 8, 1, true}},
      {"where they lie, a rank leaves", {true, 2, 8, 1, false, true}},
      {"where they lie, a rank leaves or is killed", {true, 2, 16, 1, true, true}},
  };
  std::vector<Scenario> all;
  for (const auto& [name, way] : ways)
    all.push_back({"swap, " + name, [way = way] { return make_swap(way); },
                   !way.single_copy && way.words * way.swaps > 2});
  return all;
}

}  // namespace tonari::explorer
