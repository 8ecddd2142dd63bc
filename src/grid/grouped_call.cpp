// SPDX-License-Identifier: BSD-3-Clause
// Halo exchanges in a group.
#include <array>
#include <optional>

#include "engine/wait/agree.hpp"
#include "grid/halo_plan.hpp"
#include "grid/halo_use.hpp"
#include "grid/request.hpp"
#include "request/settings.hpp"

namespace tonari {
namespace {

// Keeps what the exchange needs; combines what a reverse one brings.
class HaloWork final : public CombiningWork {
 public:
  HaloWork(std::shared_ptr<HaloGrid> grid, Views views, Contributions contributions,
           const Reduction& reduction)
      : CombiningWork(std::move(contributions), reduction),
        use_{std::make_shared<GridMark>(std::move(grid)),
             std::make_shared<Views>(std::move(views))} {}
  void give_up() override {
    CombiningWork::give_up();
    use_.give_up();
  }

 private:
  HaloUse use_;
};

// Links are in the order of their keys at both ends.
class GroupedHalo final : public GroupedCall {
 public:
  GroupedHalo(std::shared_ptr<HaloGrid> grid, const HaloCall& call, MPI_Info info)
      : grid_(std::move(grid)), call_(call), request_(read_request(*grid_, call)) {
    if (grid_->some_on_device())
      fail(Errc::argument,
           "cells of the grid lie in memory of a GPU, and groups take memory of the host; prepare "
           "this exchange outside of the group");
    faces_ = read_only(info, setting("TONARI_HALO_NEIGHBORS")).halo_faces;
  }

  std::string name() const override {
    return request_.reverse ? "reverse halo exchange" : "halo exchange";
  }
  Context& context() const override { return *grid_->context(); }
  void agree_and_prepare() override {
    const auto [copy, direction, ghosts, reduction] = alike(*grid_, call_, request_);
    agree_on_arguments(context().comm(), MPI_INFO_NULL, std::nullopt,
                       std::array{copy, direction, ghosts, reduction,
                                  Alike{faces_,
                                        "ranks gave tonari_halo_neighbors different values; it "
                                        "must be the same on all ranks"}});
    if (faces_) request_.reach.along = 1;
    run_collectively(context().comm(), [&] {
      ends_ = std::move(all_halo_ends(*grid_, request_).front());
      touched_ = {bytes(ends_.send), bytes(ends_.receive)};
      if (request_.reverse) arrivals_.emplace(*grid_, request_, ends_, views_);
    });
    if (mapped()) beside_ = prepare_agreed_halo(grid_, request_);
  }
  std::size_t steps() const override { return mapped() ? 0 : 1; }
  GroupSide sent(std::size_t /*step*/) override { return side_of(ends_.send, true); }
  GroupSide received(std::size_t /*step*/) override { return side_of(ends_.receive, false); }
  TouchedBytes touched() const override { return touched_; }
  std::shared_ptr<Prepared> beside() override { return std::move(beside_); }
  std::unique_ptr<LocalWork> work() override {
    Contributions contributions;
    if (arrivals_) contributions = std::move(arrivals_->contributions);
    return std::make_unique<HaloWork>(grid_, std::move(views_), std::move(contributions),
                                      request_.reduction);
  }

 private:
  // Most neighbors send nothing then, so there is nothing to join.
  bool mapped() const { return grid_->ghost_maps(); }
  GroupSide side_of(const std::vector<HaloEnd>& ends, bool send) {
    GroupSide side;
    for (const HaloEnd& end : ends) {
      side.peers.push_back(end.link.peer);
      if (arrivals_ && !send)
        add_arrival(*arrivals_, &end, side.blocks);
      else
        add_block(*grid_, request_, &end, send, side.blocks, views_);
    }
    return side;
  }
  // Where they lie, not where views show them.
  Layout bytes(const std::vector<HaloEnd>& ends) const {
    Layout all;
    Views none;
    for (const HaloEnd& end : ends)
      all.add(bytes_of(*grid_, {HaloKind::layout, request_.reach, request_.copy}, end, true, none),
              0);
    return all;
  }

  std::shared_ptr<HaloGrid> grid_;
  const HaloCall call_;
  HaloRequest request_;
  bool faces_ = false;
  HaloEnds ends_;
  TouchedBytes touched_;
  std::optional<Arrivals> arrivals_;  // of a reverse exchange
  std::shared_ptr<Prepared> beside_;  // through mapped ghosts
  Views views_;
};

}  // namespace

std::unique_ptr<GroupedCall> group_halo(const std::shared_ptr<HaloGrid>& grid, const HaloCall& call,
                                        MPI_Info info) {
  return std::make_unique<GroupedHalo>(grid, call, info);
}

}  // namespace tonari
