// SPDX-License-Identifier: BSD-3-Clause
// Halo exchanges as plans: the reference executor proves what every rank does, and that every ghost
// with an owner ends with that owner's value, cell by cell.
#include "layout/halo_ends.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>

#include "analysis/executor.hpp"
#include "layout/random_bricks.hpp"
#include "layout/random_parts.hpp"
#include "plan/builder.hpp"
#include "support/zu.hpp"

namespace tonari {
namespace {

using test::for_cells;

// One exchange between all ranks. Cells are numbered per rank, subdomain by subdomain: in an array
// lexicographically, in bricks as they lie.
class HaloWorld {
 public:
  // brick: of cells with one field of a byte; all 0: arrays.
  HaloWorld(const Decomposition& parts, const Cells& brick, HaloMethod method, bool piecewise)
      : parts_(parts), brick_(brick), method_(method) {
    for (int rank = 0; rank < ranks(); ++rank) {
      std::vector<const BrickLayout*> bricks;
      first_.emplace_back(1, 0);
      for (int s = 0; s < parts.subdomains(); ++s) {
        const GridBox box = parts.box(rank, s);
        if (bricked())
          bricks.push_back(
              layouts_
                  .emplace_back(std::make_unique<BrickLayout>(
                      box, BrickShape{brick, 1, 1, false, 1}, surface_order(parts.dims())))
                  .get());
        layout_.push_back(bricked() ? bricks.back() : nullptr);
        first_.back().push_back(first_.back().back() + cells(rank, s));
      }
      steps_.push_back(halo_ends(parts, rank, bricks, method));
      plans_.push_back(make_halo_plan(rank, steps_.back(), piecewise));
    }
    piecewise_ = piecewise;
  }

  // The plans as they are run, each block a whole message.
  Proof messages() const {
    Delivery delivery;
    std::map<std::array<std::int64_t, 3>, Delivery::Origin> sent;  // step, key, piece
    for (int rank = 0; rank < ranks(); ++rank) {
      auto& bytes = delivery.send_bytes.emplace_back();
      for_blocks(rank, true,
                 [&](std::int64_t step, const HaloEnd& end, std::int64_t k,
                     const std::vector<std::uint32_t>& all) {
                   sent[{step, end.link.key, k}] = {rank, static_cast<std::uint32_t>(bytes.size())};
                   bytes.push_back(all.size());
                 });
    }
    for (int rank = 0; rank < ranks(); ++rank) {
      auto& bytes = delivery.recv_bytes.emplace_back();
      auto& expected = delivery.expected.emplace_back();
      for_blocks(rank, false,
                 [&](std::int64_t step, const HaloEnd& end, std::int64_t k,
                     const std::vector<std::uint32_t>& all) {
                   expected.push_back(sent.at({step, end.link.key, k}));
                   bytes.push_back(all.size());
                 });
    }
    return prove(plans_, delivery);
  }

  // The same with each cell as a block, so that what travels in several steps is seen to arrive.
  // What the plan does not order the cells must not order either.
  Proof all_cells() const {
    std::vector<Plan> plans;
    Delivery delivery;
    delivery.in_place = true;
    for (int rank = 0; rank < ranks(); ++rank) {
      plans.push_back(in_cells(rank));
      if (const std::string lacks = order_lacks(plans_[zu(rank)], plans.back()); !lacks.empty())
        return {false, lacks};
      delivery.recv_bytes.emplace_back(first_[zu(rank)].back(), 1);
      delivery.expected.push_back(wanted(rank));
    }
    return prove(plans, delivery);
  }

  int sends(int rank) const {
    return static_cast<int>(
        std::ranges::count(plans_[zu(rank)].operations(), Kind::send, &Operation::kind));
  }

 private:
  int ranks() const { return parts_.ranks.ranks(); }
  bool bricked() const { return brick_[0] > 0; }
  std::size_t at(int rank, int s) const { return zu(rank) * zu(parts_.subdomains()) + zu(s); }

  std::uint32_t cells(int rank, int s) const {
    const GridBox box = parts_.box(rank, s);
    return static_cast<std::uint32_t>(bricked()
                                          ? layout_[at(rank, s)]->bytes()
                                          : static_cast<Bytes>(count(test::whole(box), box.dims)));
  }
  std::uint32_t cell(int rank, int s, const Cells& x) const {
    const GridBox box = parts_.box(rank, s);
    std::int64_t row = 0, inside = 0;
    for (std::size_t k = 0; k < zu(box.dims); ++k) {
      const std::int64_t side = bricked() ? brick_[k] : 1, from_ghosts = x[k] + box.lower[k];
      row = row * ((box.lower[k] + box.own[k] + box.upper[k]) / side) + from_ghosts / side;
      inside = inside * side + from_ghosts % side;
    }
    if (bricked()) row = layout_[at(rank, s)]->place()[zu(layout_[at(rank, s)]->number()[zu(row)])];
    return first_[zu(rank)][zu(s)] + static_cast<std::uint32_t>(row + inside);
  }

  // Of each cell of a rank, where its value must come from.
  std::vector<Delivery::Origin> wanted(int rank) const {
    std::vector<Delivery::Origin> all(first_[zu(rank)].back());
    const int dims = parts_.dims();
    for (int s = 0; s < parts_.subdomains(); ++s)
      for (const Region v : directions(dims)) {
        const auto owner = parts_.neighbor(rank, s, v);
        if (!owner || (method_.reach == Reach::faces && !method_.shift && !is_face(v, dims)))
          continue;
        const GridBox box = parts_.box(rank, s), theirs = parts_.box(owner->rank, owner->subdomain);
        for_cells(ghost_box(box, v), dims, [&](const Cells& x) {
          Cells there = x;
          for (int k = 0; k < dims; ++k)
            there[zu(k)] += sign(v, k, dims) < 0   ? theirs.own[zu(k)]
                            : sign(v, k, dims) > 0 ? -box.own[zu(k)]
                                                   : 0;
          all[cell(rank, s, x)] = {owner->rank, cell(owner->rank, owner->subdomain, there)};
        });
      }
    return all;
  }

  // use(step, end, piece, cells): of all blocks of one side, in their order.
  template <class Use>
  void for_blocks(int rank, bool send, Use use) const {
    for (std::size_t step = 0; step < steps_[zu(rank)].size(); ++step) {
      const HaloEnds& ends = steps_[zu(rank)][step];
      for (const HaloEnd& end : send ? ends.send : ends.receive) {
        std::vector<std::uint32_t> all;
        std::int64_t piece = 0;
        const auto flush = [&] { use(static_cast<std::int64_t>(step), end, piece++, all); };
        if (!bricked())
          for_cells(end.cells, parts_.dims(),
                    [&](const Cells& x) { all.push_back(cell(rank, end.link.subdomain, x)); });
        for (const BrickPiece& p : end.pieces) {
          for (Bytes k = 0; k < p.bytes; ++k)
            all.push_back(first_[zu(rank)][zu(end.link.subdomain)] +
                          static_cast<std::uint32_t>(p.offset + k));
          if (piecewise_) flush(), all.clear();
        }
        if (!piecewise_) flush();
      }
    }
  }

  Plan in_cells(int rank) const {
    std::vector<std::vector<std::uint32_t>> out, in;
    for_blocks(rank, true, [&](auto, auto&, auto, auto& all) { out.push_back(all); });
    for_blocks(rank, false, [&](auto, auto&, auto, auto& all) { in.push_back(all); });
    const auto slices = [&](std::span<const Slice> blocks) {
      std::vector<Slice> all;
      for (const Slice b : blocks)
        for (const std::uint32_t c : (b.buffer == Buffer::send ? out : in)[b.block])
          all.push_back({Buffer::recv, c});
      return all;
    };
    const Plan& plan = plans_[zu(rank)];
    Builder cells(rank, first_[zu(rank)].back());
    for (const Operation& op : plan.operations()) {
      if (op.kind == Kind::copy) {
        cells.copy(slices(plan.copy_sources(op)), slices(plan.copy_targets(op)));
        continue;
      }
      for (const Slice s : slices(plan.slices(op))) cells.slice(s);
      op.kind == Kind::send ? cells.send(op.peer, op.tag) : cells.recv(op.peer, op.tag);
    }
    return cells.build();
  }

  static std::string order_lacks(const Plan& plan, const Plan& finer) {
    std::vector<std::vector<bool>> after(plan.size(), std::vector<bool>(plan.size()));
    for (OpId a = static_cast<OpId>(plan.size()); a-- > 0;)
      for (const OpId b : plan.successors(a)) {
        after[a][b] = true;
        for (OpId c = b; c < plan.size(); ++c) after[a][c] = after[a][c] || after[b][c];
      }
    for (OpId a = 0; a < finer.size(); ++a)
      for (const OpId b : finer.successors(a))
        if (!after[a][b])
          return text("operation ", b, " of rank ", plan.rank(), " does not wait for ", a);
    return "";
  }

  Decomposition parts_;
  Cells brick_;
  HaloMethod method_;
  bool piecewise_;
  std::vector<std::unique_ptr<BrickLayout>> layouts_;
  std::vector<const BrickLayout*> layout_;         // of all subdomains of all ranks
  std::vector<std::vector<std::uint32_t>> first_;  // cell of each rank's subdomains
  std::vector<std::vector<HaloEnds>> steps_;       // by rank
  std::vector<Plan> plans_;
};

std::string describe(const Decomposition& parts, HaloMethod method) {
  std::string line = method.shift ? "shift" : method.regions ? "regions" : "";
  line += method.reach == Reach::faces ? " faces" : "";
  for (int k = 0; k < parts.dims(); ++k)
    line += text(" [", parts.ranks.size(k), " ranks x ", parts.per_rank[zu(k)], ", -",
                 parts.lower[zu(k)], " +", parts.upper[zu(k)], "]");
  return line;
}

void expect_proven(const Decomposition& parts, const Cells& brick, HaloMethod method,
                   bool piecewise) {
  const HaloWorld world(parts, brick, method, piecewise);
  const Proof messages = world.messages(), cells = world.all_cells();
  EXPECT_TRUE(messages) << messages.what << ":" << describe(parts, method);
  EXPECT_TRUE(cells) << cells.what << ":" << describe(parts, method);
}

// Few cells: a proof looks at each pair of accesses to one of them.
Decomposition small_parts(std::mt19937& random, int dims) {
  Decomposition parts = test::random_parts(random, dims);
  while (test::all_subdomains(parts) > 24) parts = test::random_parts(random, dims);
  return parts;
}

TEST(HaloPlans, OfArraysAreProven) {
  std::mt19937 random(3);
  for (int dims = 1; dims <= 3; ++dims)
    for (int repeat = 0; repeat < (dims < 3 ? 12 : 4); ++repeat) {
      Decomposition parts = small_parts(random, dims);
      if (repeat % 3 == 2)  // both surfaces share cells
        for (std::size_t k = 0; k < zu(dims); ++k) {
          parts.lower[k] = parts.upper[k] = 2;
          std::ranges::fill(parts.cuts[k], 3);
        }
      for (const Reach& reach : {Reach::all, Reach::faces})
        expect_proven(parts, {}, {.reach = reach}, false);
      expect_proven(parts, {}, {.shift = true}, false);
    }
}

TEST(HaloPlans, OfBricksAreProven) {
  std::mt19937 random(4);
  for (int dims = 1; dims <= 3; ++dims)
    for (int repeat = 0; repeat < (dims < 3 ? 8 : 3); ++repeat) {
      Decomposition parts = small_parts(random, dims);
      Cells brick{};
      for (std::size_t k = 0; k < zu(dims); ++k) {
        brick[k] = 1 + static_cast<std::int64_t>(random() % 2);
        parts.lower[k] *= brick[k], parts.upper[k] *= brick[k];
        for (std::int64_t& own : parts.cuts[k])
          own =
              parts.lower[k] + parts.upper[k] + brick[k] * static_cast<std::int64_t>(random() % 2);
        for (std::int64_t& own : parts.cuts[k]) own = std::max(own, brick[k]);
      }
      for (const bool piecewise : {false, true}) {
        for (const Reach& reach : {Reach::all, Reach::faces})
          for (const bool regions : {false, true})
            expect_proven(parts, brick, {.reach = reach, .regions = regions}, piecewise);
        expect_proven(parts, brick, {.shift = true}, piecewise);
      }
    }
}

// Of ranks with a neighbor on every side: as in Zhao 2021, Table 1.
TEST(HaloPlans, SendAsManyMessagesAsThePaperCounts) {
  Decomposition parts{Grid(std::array{3, 3, 3}, std::array{true, true, true})};
  for (std::size_t k = 0; k < 3; ++k)
    parts.per_rank[k] = 1, parts.lower[k] = parts.upper[k] = 1, parts.cuts[k] = {3, 3, 3};
  const Cells brick{1, 1, 1};
  const auto sends = [&](const Cells& b, HaloMethod method, bool piecewise) {
    return HaloWorld(parts, b, method, piecewise).sends(13);
  };
  EXPECT_EQ(sends({}, {}, false), 26);
  EXPECT_EQ(sends({}, {.reach = Reach::faces}, false), 6);
  EXPECT_EQ(sends({}, {.reach = {2}}, false), 18);  // faces and edges
  Reach below = Reach::all;
  below.lower[1] = below.lower[2] = 0, below.upper.fill(0);
  EXPECT_EQ(sends({}, {.reach = below}, false), 1);
  EXPECT_EQ(sends(brick, {.reach = below}, false), 1);
  EXPECT_EQ(sends({}, {.shift = true}, false), 6);
  EXPECT_EQ(sends(brick, {}, true), 42);
  EXPECT_EQ(sends(brick, {.regions = true}, true), 98);
  EXPECT_EQ(sends(brick, {}, false), 26);
}

}  // namespace
}  // namespace tonari
