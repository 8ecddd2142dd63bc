// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include "copy/moves.hpp"

namespace tonari {
namespace {

using Address = std::uintptr_t;
constexpr Address middle = Address{1} << 63;  // a base from which all offsets lead both ways

// The bytes from low to high (exclusive) in which the pieces of one run lie.
struct Interval {
  Address low, high;
  const Run* run;
  std::uint32_t owner;  // index into the placed list
};

bool by_address(const Interval& a, const Interval& b) { return a.low < b.low; }

void sort_by_address(std::span<Interval> intervals) {
  if (!std::is_sorted(intervals.begin(), intervals.end(), by_address))
    std::sort(intervals.begin(), intervals.end(), by_address);
}

Interval span_of(const Run& run, Address base, std::uint32_t owner) {
  const Address first = base + static_cast<Address>(run.offset);
  const Address last = first + static_cast<Address>(run.stride) * (run.count - 1);
  return run.stride < 0 ? Interval{last, first + run.length, &run, owner}
                        : Interval{first, last + run.length, &run, owner};
}

// The two different blocks that reach furthest among the intervals seen so far.
class Frontier {
 public:
  void add(Address high, std::uint32_t owner) {
    if (owner == reach_[0].owner) {
      reach_[0].high = std::max(reach_[0].high, high);
    } else if (high > reach_[0].high) {
      reach_[1] = reach_[0];
      reach_[0] = {high, owner};
    } else if (high > reach_[1].high) {
      reach_[1] = {high, owner};
    }
  }

  // A block other than this one that reaches beyond the address.
  bool beyond(Address low, std::uint32_t owner, std::uint32_t& other) const {
    for (const Reach& r : reach_) {
      if (r.high <= low || r.owner == owner) continue;
      other = r.owner;
      return true;
    }
    return false;
  }

 private:
  static constexpr std::uint32_t nobody = UINT32_MAX;
  struct Reach {
    Address high = 0;
    std::uint32_t owner = nobody;
  };
  std::array<Reach, 2> reach_;
};

// Tells whether an interval meets a written one of another block. They are sorted, and every byte
// of each counts.
bool sweep(std::span<const Interval> pieces, std::span<const Placed> blocks, Overlap& overlap) {
  Frontier all, written;
  for (const Interval& piece : pieces) {
    const bool writes = blocks[piece.owner].written;
    std::uint32_t other;
    if ((writes ? all : written).beyond(piece.low, piece.owner, other)) {
      overlap = {std::min(piece.owner, other), std::max(piece.owner, other)};
      return true;
    }
    all.add(piece.high, piece.owner);
    if (writes) written.add(piece.high, piece.owner);
  }
  return false;
}

// Tells whether there are runs of different blocks, one of them written.
bool may_conflict(std::span<const Interval> cluster, std::span<const Placed> blocks) {
  const auto other_block = [&](const Interval& i) { return i.owner != cluster[0].owner; };
  const auto writes = [&](const Interval& i) { return blocks[i.owner].written; };
  return std::any_of(cluster.begin(), cluster.end(), other_block) &&
         std::any_of(cluster.begin(), cluster.end(), writes);
}

void add_pieces(std::vector<Interval>& pieces, const Interval& interval, Address base) {
  const Run& r = *interval.run;
  Address at = base + static_cast<Address>(r.offset);
  const std::size_t count = r.stride == 0 ? 1 : r.count;
  for (std::size_t i = 0; i < count; ++i, at += static_cast<Address>(r.stride))
    pieces.push_back({at, at + r.length, &r, interval.owner});
}

// Runs whose spans overlap may still share no byte (columns of one array), so this looks at their
// pieces.
class Exact {
 public:
  Exact(std::span<const Placed> blocks, std::size_t most_pieces)
      : blocks_(blocks), left_(most_pieces) {}

  bool overlaps(std::span<const Interval> cluster, Overlap& overlap) {
    if (cluster.size() < 2 || !may_conflict(cluster, blocks_)) return false;
    for (const Interval& i : cluster) {
      if (i.run->count > left_) return false;
      left_ -= i.run->count;
    }
    pieces_.clear();
    for (const Interval& i : cluster) add_pieces(pieces_, i, blocks_[i.owner].base);
    sort_by_address(pieces_);
    return sweep(pieces_, blocks_, overlap);
  }

 private:
  std::span<const Placed> blocks_;
  std::size_t left_;
  std::vector<Interval> pieces_;
};

std::vector<Interval> run_spans(std::span<const Placed> blocks) {
  std::size_t runs = 0;
  for (const Placed& block : blocks) runs += block.layout->runs().size();
  std::vector<Interval> spans;
  spans.reserve(runs);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (const Run& run : blocks[i].layout->runs())
      spans.push_back(span_of(run, blocks[i].base, static_cast<std::uint32_t>(i)));
  sort_by_address(spans);
  return spans;
}

}  // namespace

bool find_overlap(std::span<const Placed> blocks, Overlap& overlap, std::size_t most_pieces) {
  const std::vector<Interval> spans = run_spans(blocks);
  Exact exact(blocks, most_pieces);
  for (std::size_t begin = 0, end = 0; begin < spans.size(); begin = end) {
    Address high = spans[begin].high;
    for (end = begin + 1; end < spans.size() && spans[end].low < high; ++end)
      high = std::max(high, spans[end].high);
    if (exact.overlaps(std::span(spans).subspan(begin, end - begin), overlap)) return true;
  }
  return false;
}

bool overlaps_itself(const Layout& layout, std::size_t most_pieces) {
  std::vector<Interval> spans, pieces;
  for (const Run& run : layout.runs()) {
    const std::size_t step = static_cast<std::size_t>(run.stride < 0 ? -run.stride : run.stride);
    if (run.count > 1 && step < run.length) return true;
    spans.push_back(span_of(run, middle, 0));
  }
  sort_by_address(spans);
  for (std::size_t begin = 0, end = 0; begin < spans.size(); begin = end) {
    Address high = spans[begin].high;
    for (end = begin + 1; end < spans.size() && spans[end].low < high; ++end)
      high = std::max(high, spans[end].high);
    pieces.clear();
    for (std::size_t k = begin; end - begin > 1 && k < end; ++k) {
      if (spans[k].run->count > most_pieces) return false;
      most_pieces -= spans[k].run->count;
      add_pieces(pieces, spans[k], middle);
    }
    sort_by_address(pieces);
    for (std::size_t k = 1; k < pieces.size(); ++k)
      if (pieces[k].low < pieces[k - 1].high) return true;
  }
  return false;
}

}  // namespace tonari
