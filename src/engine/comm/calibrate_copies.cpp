// SPDX-License-Identifier: BSD-3-Clause
// What copies cost, in the cache of a core and beyond it.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "copy/moves.hpp"
#include "engine/comm/calibrate.hpp"
#include "engine/wait/agree.hpp"
#include "memory/memory.hpp"

namespace tonari {
namespace {

constexpr std::size_t usual_cache = 1024 * 1024, least_cache = 256 * 1024,
                      most_cache = 2 * 1024 * 1024;

double time_of(std::span<const Move> moves, int times) {
  std::vector<double> seconds;
  for (int k = 0; k < times; ++k) {
    const double start = MPI_Wtime();
    run_moves(moves);
    seconds.push_back(MPI_Wtime() - start);
  }
  return undisturbed(seconds);
}

// Of the second level, which on today's processors each core has for itself. Where the system does
// not say, a usual one.
std::size_t cache_of_a_core() {
  const long bytes = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? std::clamp(static_cast<std::size_t>(bytes), least_cache, most_cache)
                   : usual_cache;
}

struct Buffers {
  explicit Buffers(std::size_t bytes) : from(bytes), to(bytes) {
    std::fill_n(from.data(), bytes, std::byte{1});
    std::fill_n(to.data(), bytes, std::byte{2});
  }
  Memory from, to;
};

}  // namespace

void measure_copies(LogGP& machine) {
  constexpr std::size_t big = 64 * 1024, small = 32, blocks = 16;
  const Buffers buffers(big);
  std::byte *const from = buffers.from.data(), *const to = buffers.to.data();
  std::vector<Move> many;
  for (std::size_t k = 0; k < blocks; ++k)
    many.push_back({to + 4096 * k, from + 4096 * k, small, 1, 0, 0});
  const Move one{to, from, big, 1, 0, 0};
  machine.copy_byte = std::max(1e-12, time_of(std::span(&one, 1), 10) / big);
  machine.copy_block = std::max(1e-10, time_of(many, 10) / blocks);
}

// Twice as much as the cache holds, by all ranks at once, since they share what lies behind it.
void measure_long_copies(LogGP& machine, MPI_Comm comm) {
  const std::size_t whole = cache_of_a_core();
  std::unique_ptr<Buffers> buffers;
  run_collectively(comm, [&] { buffers = std::make_unique<Buffers>(whole); });
  const Move one{buffers->to.data(), buffers->from.data(), whole, 1, 0, 0};
  machine.cache = whole / 2;  // what else a program and its MPI touch takes as much
  machine.copy_beyond =
      std::max(machine.copy_byte, time_of(std::span(&one, 1), 3) / static_cast<double>(whole));
}

}  // namespace tonari
