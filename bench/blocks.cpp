// SPDX-License-Identifier: BSD-3-Clause
#include "blocks.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/checked.hpp"
#include "base/hash.hpp"

namespace bench {
using tonari::Collective, tonari::Errc, tonari::Vec;

namespace {

// MPI's int displacements, and a sane amount of memory
constexpr std::size_t largest_buffer = std::size_t{1} << 31;

int nonzero(const Vec& offset) {
  return static_cast<int>(
      std::count_if(offset.begin(), offset.end(), [](int c) { return c != 0; }));
}

std::size_t irregular_size(std::size_t bytes, int dimensions, const Vec& offset) {
  const int z = std::max(1, nonzero(offset));
  if (dimensions == 1 || z == 1) return bytes;
  const double exponent = static_cast<double>(dimensions - z) / (dimensions - 1);
  return std::max<std::size_t>(1, std::llround(std::pow(static_cast<double>(bytes), exponent)));
}

// Every other block of 16 bytes and more as a vector of 8-byte elements, every second one left out.
Strided strided_block(std::size_t bytes, bool with_gaps) {
  if (!with_gaps || bytes < 16) return {0, bytes, {}};
  return {0, 8, {{bytes / 8, 16}}};
}

std::size_t extent(const Strided& block) {
  std::size_t last = block.element;
  for (const auto& step : block.steps) last += (step.count - 1) * step.stride;
  return last;
}

// Puts the blocks one after the other, `gap` bytes apart; returns the size of the buffer.
std::size_t line_up(std::vector<Strided>& blocks, std::size_t gap) {
  std::size_t end = 0;
  for (Strided& block : blocks) {
    block.offset = end;
    end = tonari::checked_add(end, extent(block) + gap, "the buffer");
    if (end > largest_buffer)
      tonari::fail(
          Errc::overflow,
          "the blocks of one rank take more than 2 GiB; use smaller blocks or fewer neighbors");
  }
  return end;
}

Blocks alltoall_blocks(const std::vector<std::size_t>& send, const std::vector<std::size_t>& recv,
                       Layout layout) {
  Blocks blocks;
  const auto strided = [&](std::size_t i) { return layout == Layout::strided && i % 2 == 1; };
  for (std::size_t i = 0; i < send.size(); ++i)
    blocks.send.push_back(strided_block(send[i], strided(i)));
  // What is a vector here arrives contiguous there: the types of the two sides may differ.
  for (std::size_t i = 0; i < recv.size(); ++i)
    blocks.recv.push_back({0, strided_block(recv[i], strided(i)).bytes(), {}});
  blocks.send_bytes = line_up(blocks.send, 0);
  blocks.recv_bytes = line_up(blocks.recv, 0);
  return blocks;
}

std::size_t edge_size(std::size_t bytes, int from, std::uint32_t block) {
  const std::uint64_t quarter = tonari::Hash().word(from).word(block).value() % 4 + 1;
  return std::max<std::size_t>(1, bytes * quarter / 4);
}

Blocks allgather_blocks(std::size_t neighbors, Operation operation, Layout layout,
                        std::size_t bytes) {
  const bool gaps = layout == Layout::strided && bytes >= 16;
  const std::size_t size = gaps ? bytes / 8 * 8 : bytes;
  Blocks blocks;
  blocks.send.push_back({0, size, {}});
  blocks.send_bytes = size;
  for (std::size_t i = 0; i < neighbors; ++i)
    blocks.recv.push_back(strided_block(size, gaps && i % 2 == 1));
  blocks.recv_bytes = line_up(blocks.recv, operation.form == Form::regular ? 0 : 8);
  return blocks;
}

//    ghost   interior     ghost
//   |-g .. -1|0 ... n-1|n .. n+g-1|     one dimension of extent n, ghost width g
// The block for offset +k is the layer n - k; the receiver finds it in its ghost layer -k. The
// block for -k is the layer k - 1 and lands in n + k - 1.
Strided halo_block(const Vec& offset, int dimensions, std::size_t n,
                   const std::vector<std::size_t>& ghost, std::size_t cell, bool receive) {
  Strided block{0, cell, {}};
  std::size_t stride = cell;
  for (int j = dimensions - 1; j >= 0; --j) {
    const long k = offset[j];
    const long size = static_cast<long>(n);
    const long layer = k > 0   ? (receive ? -k : size - k)
                       : k < 0 ? (receive ? size - k - 1 : -k - 1)
                               : 0;
    block.offset += static_cast<std::size_t>(layer + static_cast<long>(ghost[j])) * stride;
    if (k == 0) block.steps.insert(block.steps.begin(), {n, stride});
    stride *= n + 2 * ghost[j];
  }
  if (!block.steps.empty() && block.steps.back().stride == cell) {  // a row is one element
    block.element = block.steps.back().count * cell;
    block.steps.pop_back();
  }
  return block;
}

Blocks halo_blocks(const tonari::Pattern& pattern, std::size_t bytes) {
  const int d = pattern.dimensions;
  std::set<Vec> seen;
  for (const Vec& offset : pattern.offsets)
    if (offset.is_zero() || !seen.insert(offset).second)
      tonari::fail(Errc::argument,
                   "layout halo needs different offsets other than zero; use --layout contiguous "
                   "or strided");
  const std::size_t cell = bytes >= 8 ? 8 : 1;
  std::vector<std::size_t> ghost(d, 0);
  for (const Vec& offset : pattern.offsets)
    for (int j = 0; j < d; ++j) ghost[j] = std::max<std::size_t>(ghost[j], std::abs(offset[j]));
  const double side = d == 1 ? 1 : std::pow(static_cast<double>(bytes / cell), 1.0 / (d - 1));
  const std::size_t n =
      std::max<std::size_t>(std::llround(side), *std::max_element(ghost.begin(), ghost.end()));
  Blocks blocks;
  std::size_t size = cell;
  for (int j = 0; j < d; ++j) size = tonari::checked_multiply(size, n + 2 * ghost[j], "the array");
  if (size > largest_buffer)
    tonari::fail(Errc::overflow, "the array of one rank takes more than 2 GiB; use smaller blocks");
  for (const Vec& offset : pattern.offsets) {
    blocks.send.push_back(halo_block(offset, d, n, ghost, cell, false));
    blocks.recv.push_back(halo_block(offset, d, n, ghost, cell, true));
  }
  blocks.send_bytes = blocks.recv_bytes = size;
  blocks.one_array = true;
  return blocks;
}

}  // namespace

std::size_t Strided::bytes() const {
  std::size_t total = element;
  for (const Step& step : steps) total *= step.count;
  return total;
}

std::vector<std::size_t> Strided::offsets() const {
  std::vector<std::size_t> starts{offset};
  for (const Step& step : steps) {
    std::vector<std::size_t> finer;
    for (const std::size_t start : starts)
      for (std::size_t i = 0; i < step.count; ++i) finer.push_back(start + i * step.stride);
    starts = std::move(finer);
  }
  std::vector<std::size_t> all;
  all.reserve(bytes());
  for (const std::size_t start : starts)
    for (std::size_t byte = 0; byte < element; ++byte) all.push_back(start + byte);
  return all;
}

Blocks place_blocks(const tonari::Pattern& pattern, Operation operation, Layout layout,
                    std::size_t bytes) {
  if (layout == Layout::halo && !pattern.offsets.empty()) return halo_blocks(pattern, bytes);
  if (operation.collective == Collective::allgather)
    return allgather_blocks(pattern.offsets.size(), operation, layout, bytes);
  std::vector<std::size_t> sizes;
  for (const Vec& offset : pattern.offsets)
    sizes.push_back(operation.form == Form::regular
                        ? bytes
                        : irregular_size(bytes, pattern.dimensions, offset));
  return alltoall_blocks(sizes, sizes, layout);
}

Blocks place_graph_blocks(const std::vector<tonari::Vertex>& graph, int rank, Operation operation,
                          Layout layout, std::size_t bytes) {
  if (layout != Layout::contiguous)
    tonari::fail(Errc::argument, "layouts other than contiguous are for grids");
  const tonari::Vertex& v = graph[rank];
  if (operation.collective == Collective::allgather)
    return allgather_blocks(v.sources.size(), operation, layout, bytes);
  std::vector<std::size_t> send, recv;
  const auto size = [&](int from, std::uint32_t block) {
    return operation.form == Form::regular ? bytes : edge_size(bytes, from, block);
  };
  for (std::uint32_t i = 0; i < v.targets.size(); ++i) send.push_back(size(rank, i));
  for (std::size_t j = 0; j < v.sources.size(); ++j)
    recv.push_back(size(v.sources[j], v.origins[j]));
  return alltoall_blocks(send, recv, layout);
}

}  // namespace bench
