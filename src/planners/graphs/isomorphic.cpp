// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/isomorphic.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "base/error.hpp"
#include "topology/by_peer.hpp"

// Step 1: the offsets, in no order. Along a non-periodic dimension the first rank has all neighbors
// on its right that any rank has, the last one all on its left. So each offset with a neighbor
// anywhere is found at one of the corners, which send theirs to rank 0, which tells everybody. Step
// 2: each rank compares: its own must be those that lie inside from where it is. Step 3: the order.
// An offset gets the length of the longest chain of offsets that stand before it in the ranks'
// lists. If no two ranks contradict each other, these numbers become steady (at once if some rank
// has all neighbors), and each rank's list is ordered by them.

namespace tonari {
namespace {

constexpr Word longest_pattern = 65536;
// as many ranks, one after the other, as the order of two offsets may follow from
constexpr int most_passes = 32;

// Shortest offsets as numbers: mixed radix, with -(p-1)..p-1 along a mesh and 0..p-1 along a ring.
class Code {
 public:
  explicit Code(const Grid& grid) : grid_(grid) {}

  Word encode(const Vec& offset) const {
    const Vec inside = grid_.wrap(offset);
    Word code = 0;
    for (int j = 0; j < grid_.dimensions(); ++j) code = code * base(j) + inside[j] + low(j);
    return code;
  }
  Vec decode(Word code) const {
    Vec offset;
    for (int j = grid_.dimensions() - 1; j >= 0; --j) {
      offset[j] = static_cast<std::int32_t>(code % base(j) - low(j));
      code /= base(j);
    }
    return grid_.shortest(offset);
  }

 private:
  Word low(int j) const { return grid_.periodic(j) ? 0 : grid_.size(j) - 1; }
  Word base(int j) const { return grid_.size(j) + low(j); }
  const Grid& grid_;
};

bool is_corner(const Grid& grid, int rank) {
  const Vec at = grid.coordinates(rank);
  for (int j = 0; j < grid.dimensions(); ++j)
    if (at[j] != 0 && (grid.periodic(j) || at[j] != grid.size(j) - 1)) return false;
  return true;
}

// The offsets of a rank's destinations in its order.
std::vector<Word> codes_of(const Grid& grid, const Code& code, const Vertex& vertex) {
  std::vector<Word> codes;
  const Vec here = grid.coordinates(vertex.rank);
  for (std::int32_t target : vertex.targets)
    if (target >= 0) codes.push_back(code.encode(grid.coordinates(target) - here));
  return codes;
}

std::vector<Word> sorted(std::vector<Word> words) {
  std::sort(words.begin(), words.end());
  return words;
}

// Collective: rank 0's words on all ranks; they must not be negative. Nothing if there are more
// than `most`.
std::vector<Word> broadcast(BspComm& bsp, std::vector<Word> words, Word most) {
  const Word length = bsp.max(static_cast<Word>(words.size()));
  if (length > most) return {};
  words.resize(static_cast<std::size_t>(length), -1);
  bsp.max(words);
  return words;
}

// Collective. Ascending; an offset that some rank has n times stands there n times.
std::vector<Word> offsets_of_corners(BspComm& bsp, const Grid& grid,
                                     const std::vector<std::vector<Word>>& lists) {
  for (std::size_t k = 0; k < lists.size(); ++k)
    if (is_corner(grid, bsp.here()[k])) bsp.send(k, 0, sorted(lists[k]));
  bsp.exchange();
  std::vector<Word> all;
  for (std::size_t k : bsp.receivers())  // rank 0, if it is here
    for (const BspMessage& message : bsp.inbox(k)) {
      std::vector<Word> both;
      std::set_union(all.begin(), all.end(), message.words.begin(), message.words.end(),
                     std::back_inserter(both));
      all = std::move(both);
    }
  return broadcast(bsp, std::move(all), longest_pattern);
}

bool has_all_inside(const Grid& grid, const Code& code, int rank, const std::vector<Word>& offsets,
                    const std::vector<Word>& list) {
  std::vector<Word> inside;
  const Vec here = grid.coordinates(rank);
  std::copy_if(offsets.begin(), offsets.end(), std::back_inserter(inside),
               [&](Word c) { return grid.contains(here + code.decode(c)); });
  return inside == sorted(list);
}

// The numbers in `offsets` of what stands in the list, the n-th of equal ones for the n-th.
std::vector<std::size_t> places(const std::vector<Word>& offsets, const std::vector<Word>& list) {
  std::vector<std::size_t> found, taken(offsets.size(), 0);
  for (Word c : list) {
    const auto first = static_cast<std::size_t>(
        std::lower_bound(offsets.begin(), offsets.end(), c) - offsets.begin());
    found.push_back(first + taken[first]++);
  }
  return found;
}

// Collective. The numbers 0 .. size-1 in an order of which all lists are parts; nothing if they
// contradict each other.
std::vector<std::size_t> common_order(BspComm& bsp, std::size_t size,
                                      const std::vector<std::vector<std::size_t>>& lists) {
  std::vector<Word> level(size, 0), before;
  for (int pass = 0; level != before; ++pass) {
    if (pass == most_passes || std::any_of(level.begin(), level.end(),
                                           [&](Word l) { return l >= static_cast<Word>(size); }))
      return {};
    before = level;
    for (const std::vector<std::size_t>& list : lists) {
      Word least = 0;
      for (std::size_t place : list) least = 1 + (level[place] = std::max(level[place], least));
    }
    bsp.max(level);
  }
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return level[a] < level[b]; });
  return order;
}

// A neighbor lists what it sends here in the order of the pattern, so the n-th of its blocks in its
// own order goes with the n-th offset that leads here from it.
std::vector<std::int32_t> recv_blocks(const Grid& grid, const Vertex& vertex,
                                      const std::vector<Vec>& offsets) {
  const ByPeer by_source(vertex.sources);
  for (const ByPeer::Peer& peer : by_source.peers())
    std::sort(peer.blocks.begin(), peer.blocks.end(), [&](std::uint32_t a, std::uint32_t b) {
      return vertex.origins[a] < vertex.origins[b];
    });
  std::vector<std::size_t> taken(by_source.peers().size() + 1, 0);
  std::vector<std::int32_t> blocks(offsets.size(), -1);
  const Vec here = grid.coordinates(vertex.rank);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const int source = grid.rank_at(here - offsets[i]);
    if (source < 0) continue;
    const std::size_t g = by_source.find(source);
    if (g == by_source.peers().size() || taken[g] == by_source.peers()[g].blocks.size())
      fail(Errc::internal, "rank ", vertex.rank, " lacks a block from rank ", source,
           ", which sends it");
    blocks[i] = static_cast<std::int32_t>(by_source.peers()[g].blocks[taken[g]++]);
  }
  return blocks;
}

std::vector<std::int32_t> send_blocks(const Vertex& vertex, const std::vector<std::size_t>& order,
                                      const std::vector<std::size_t>& list) {
  std::vector<std::int32_t> block_at(order.size(), -1), blocks;
  std::size_t n = 0;
  for (std::size_t i = 0; i < vertex.targets.size(); ++i)
    if (vertex.targets[i] >= 0) block_at[list[n++]] = static_cast<std::int32_t>(i);
  for (std::size_t place : order) blocks.push_back(block_at[place]);
  return blocks;
}

}  // namespace

std::vector<Isomorphism> find_isomorphism(BspComm& bsp, const Grid& grid,
                                          std::span<const Vertex> vertices) {
  const Code code(grid);
  std::vector<std::vector<Word>> lists;
  for (const Vertex& vertex : vertices) lists.push_back(codes_of(grid, code, vertex));
  const std::vector<Word> offsets = offsets_of_corners(bsp, grid, lists);

  bool fits = true;
  for (std::size_t k = 0; k < lists.size(); ++k)
    fits = fits && has_all_inside(grid, code, bsp.here()[k], offsets, lists[k]);
  if (bsp.min(Word{fits}) == 0) return {};

  std::vector<std::vector<std::size_t>> placed;
  for (const std::vector<Word>& list : lists) placed.push_back(places(offsets, list));
  const std::vector<std::size_t> order = common_order(bsp, offsets.size(), placed);
  if (order.size() != offsets.size()) return {};

  std::vector<Vec> pattern;
  for (std::size_t place : order) pattern.push_back(code.decode(offsets[place]));
  std::vector<Isomorphism> found;
  for (std::size_t k = 0; k < vertices.size(); ++k)
    found.push_back({pattern, send_blocks(vertices[k], order, placed[k]),
                     recv_blocks(grid, vertices[k], pattern)});
  return found;
}

}  // namespace tonari
