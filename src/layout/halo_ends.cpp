// SPDX-License-Identifier: BSD-3-Clause
#include "layout/halo_ends.hpp"

#include <algorithm>
#include <map>

#include "plan/builder.hpp"

namespace tonari {
namespace {

// Sides of a subdomain along each dimension that have no neighbor: ghosts there belong to nobody
// and do not travel.
Sides open_sides(const Decomposition& parts, int rank, int subdomain) {
  Sides open{};
  const int dims = parts.dims();
  for (const Region v : directions(dims))
    for (int k = 0; k < dims; ++k)
      if (is_face(v, dims) && sign(v, k, dims) != 0)
        open[k][sign(v, k, dims) > 0] = !parts.neighbor(rank, subdomain, v);
  return open;
}

CellBox cells_of(const GridBox& box, Region direction, bool send) {
  return send ? send_box(box, direction) : ghost_box(box, direction);
}
CellBox shifted_cells(const GridBox& box, int step, int side, const Sides& open, bool send) {
  return send ? shift_send_box(box, step, side, open) : shift_ghost_box(box, step, side, open);
}
std::vector<BrickPiece> pieces_of(const BrickLayout& bricks, Region direction,
                                  const HaloMethod& method, bool send) {
  if (method.packed) return send ? bricks.send_bricks(direction) : bricks.receive_bricks(direction);
  if (method.regions) return send ? bricks.send_basic(direction) : bricks.receive_basic(direction);
  return send ? bricks.send(direction) : bricks.receive(direction);
}
std::vector<BrickPiece> shifted_pieces(const BrickLayout& bricks, int step, int side,
                                       const Sides& open, bool send) {
  return send ? bricks.shift_send(step, side, open) : bricks.shift_receive(step, side, open);
}

// The blocks of one end.
struct Blocks {
  const HaloEnd* end;
  std::uint32_t first, count;
};

class Planner {
 public:
  Planner(int rank, std::span<const HaloEnds> steps, bool piecewise)
      : rank_(rank), piecewise_(piecewise), plan_(rank, blocks_received(steps)) {
    for (const HaloEnds& ends : steps) add_step(ends);
  }
  Plan plan() { return plan_.build(); }

 private:
  std::uint32_t count(const HaloEnd& end) const {
    return piecewise_ ? static_cast<std::uint32_t>(end.pieces.size()) : 1;
  }
  std::size_t blocks_received(std::span<const HaloEnds> steps) const {
    std::size_t all = 0;
    for (const HaloEnds& ends : steps)
      for (const HaloEnd& end : ends.receive) all += count(end);
    return all;
  }
  std::vector<Blocks> number(const std::vector<HaloEnd>& ends, std::uint32_t& next) const {
    std::vector<Blocks> all;
    for (const HaloEnd& end : ends) {
      all.push_back({&end, next, count(end)});
      next += count(end);
    }
    return all;
  }

  void add_step(const HaloEnds& ends) {
    const std::vector<Blocks> in = number(ends.receive, received_), out = number(ends.send, sent_);
    const std::size_t before = filled_.size();
    for (const Blocks& blocks : in)
      if (blocks.end->link.peer != rank_) receive(blocks);
    for (const Blocks& blocks : out)
      if (blocks.end->link.peer != rank_) send(blocks, before);
    for (const Blocks& to : in)
      if (to.end->link.peer == rank_)
        copy(*std::ranges::lower_bound(out, to.end->link.key, {}, key_of), to, before);
  }
  static std::int64_t key_of(const Blocks& blocks) { return blocks.end->link.key; }

  void receive(const Blocks& blocks) {
    const HaloLink& link = blocks.end->link;
    for (std::uint32_t k = 0; k < blocks.count; ++k) {
      plan_.slice({Buffer::recv, blocks.first + k});
      filled_.push_back({plan_.recv(link.peer, received_from_[link.peer]++), link.subdomain});
    }
  }
  void send(const Blocks& blocks, std::size_t before) {
    const HaloLink& link = blocks.end->link;
    for (std::uint32_t k = 0; k < blocks.count; ++k) {
      plan_.slice({Buffer::send, blocks.first + k});
      wait_for_ghosts(plan_.send(link.peer, sent_to_[link.peer]++), link.subdomain, before);
    }
  }
  void copy(const Blocks& from, const Blocks& to, std::size_t before) {
    std::vector<Slice> sources, targets;
    for (std::uint32_t k = 0; k < from.count; ++k) {
      sources.push_back({Buffer::send, from.first + k});
      targets.push_back({Buffer::recv, to.first + k});
    }
    const OpId op = plan_.copy(sources, targets);
    wait_for_ghosts(op, from.end->link.subdomain, before);
    filled_.push_back({op, to.end->link.subdomain});
  }
  // What a step sends contains ghosts that earlier steps filled: the blocks overlap in memory.
  void wait_for_ghosts(OpId op, int subdomain, std::size_t before) {
    for (std::size_t k = 0; k < before; ++k)
      if (filled_[k].subdomain == subdomain) plan_.after(filled_[k].op, op);
  }

  struct Filled {
    OpId op;
    int subdomain;
  };
  int rank_;
  bool piecewise_;
  Builder plan_;
  std::uint32_t sent_ = 0, received_ = 0;       // blocks
  std::map<int, int> sent_to_, received_from_;  // messages, which are their tags
  std::vector<Filled> filled_;
};

}  // namespace

std::vector<HaloEnds> halo_ends(const Decomposition& parts, int rank,
                                std::span<const BrickLayout* const> bricks, HaloMethod method) {
  const int dims = parts.dims();
  std::vector<HaloEnds> steps;
  // Ghosts at the receiving end; all subdomains have the same widths.
  const auto wanted = [&](const HaloLink& link, bool send) {
    return method.shift || method.reach.has(parts.box(rank, link.subdomain),
                                            send ? opposite(link.direction, dims) : link.direction);
  };
  const auto end_of = [&](const HaloLink& link, int step, bool send) {
    const Sides open = method.shift ? open_sides(parts, rank, link.subdomain) : Sides{};
    const int side = sign(link.direction, step, dims);
    HaloEnd end{link};
    if (bricks.empty()) {
      const GridBox box = method.reach.narrowed(parts.box(rank, link.subdomain));
      end.cells = method.shift ? shifted_cells(box, step, side, open, send)
                               : cells_of(box, link.direction, send);
    } else {
      const BrickLayout& layout = *bricks[static_cast<std::size_t>(link.subdomain)];
      end.pieces = method.shift ? shifted_pieces(layout, step, side, open, send)
                                : pieces_of(layout, link.direction, method, send);
    }
    return end;
  };
  const auto ends_of = [&](const std::vector<HaloLink>& links, int step, bool send) {
    std::vector<HaloEnd> ends;
    for (const HaloLink& link : links) {
      if (!wanted(link, send)) continue;
      HaloEnd end = end_of(link, step, send);
      if (bricks.empty() ? !empty(end.cells, dims) : !end.pieces.empty())
        ends.push_back(std::move(end));
    }
    return ends;
  };
  for (int k = 0; k < (method.shift ? dims : 1); ++k) {
    const HaloLinks links =
        method.shift ? shift_links(parts, rank, k) : halo_links(parts, rank, method.reach);
    steps.push_back({ends_of(links.send, k, true), ends_of(links.receive, k, false)});
  }
  return steps;
}

Plan make_halo_plan(int rank, std::span<const HaloEnds> steps, bool piecewise) {
  return Planner(rank, steps, piecewise).plan();
}

}  // namespace tonari
