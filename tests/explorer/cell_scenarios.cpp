// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <memory>

#include "explorer/scenarios.hpp"
#include "memory/cell.hpp"

namespace tonari::explorer {
namespace {

using Word = Cell::Word;
constexpr std::size_t words = 2, bytes = words * sizeof(Word);

struct CellWay {
  bool with_canary;
  std::uint64_t exchanges;
  std::uint64_t ends_in_canary;  // that exchange's message; none: as many as there are exchanges
  bool clears = false;           // the writer is told of the cell when the reader has cleared it
};

Word last_word(const CellWay& way, std::uint64_t exchange) {
  return exchange == way.ends_in_canary ? Cell::canary : payload(0, exchange, words - 1);
}

void write(const CellWay& way, const Cell& cell, std::uint64_t exchange) {
  await([&] { return cell.free(); });
  const Word first = payload(0, exchange, 0), last = last_word(way, exchange);
  std::memcpy(cell.payload(), &first, sizeof first);
  if (way.with_canary) return cell.publish(last);
  std::memcpy(cell.payload() + sizeof first, &last, sizeof last);
  cell.publish();
}

void read(const CellWay& way, const Cell& cell, std::uint64_t exchange) {
  await([&] { return cell.full(); });
  Word seen[words];
  std::memcpy(seen, cell.payload(), sizeof seen);
  cell.release();
  must(seen[0] == payload(0, exchange, 0) && seen[1] == last_word(way, exchange),
       "a message is not what was written");
}

// The cell's name travels by a message of the MPI.
struct Told {
  std::atomic<int>* told;
  void tell() const { told->store(1, std::memory_order_release); }
  void hear() const {
    await([&] { return told->load(std::memory_order_acquire) == 1; });
  }
};

Program make_cell(const CellWay& way) {
  const Cell cell(shared_memory(Cell::bytes_for(bytes)), bytes, way.with_canary);
  const Told name{new (shared_memory(64)) std::atomic<int>(0)};
  if (!way.clears) cell.clear();
  Program program;
  program.ranks = {
      [=] {
        if (way.clears) name.hear();
        for (std::uint64_t k = 0; k < way.exchanges; ++k) write(way, cell, k);
      },
      [=] {
        if (way.clears) cell.clear(), name.tell();
        for (std::uint64_t k = 0; k < way.exchanges; ++k) read(way, cell, k);
      },
  };
  return program;
}

}  // namespace

std::vector<Scenario> cell_scenarios() {
  return {
      {"cell, mark", [] { return make_cell({false, 3, 3}); }},
      {"cell, canary", [] { return make_cell({true, 3, 3}); }},
      {"cell, canary, first message ends in it", [] { return make_cell({true, 3, 0}); }},
      {"cell, canary, second message ends in it", [] { return make_cell({true, 4, 1}); }},
      {"cell, cleared by its reader", [] { return make_cell({true, 2, 1, true}); }},
  };
}

}  // namespace tonari::explorer
