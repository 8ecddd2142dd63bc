// Halo exchanges in a group.
#include <array>

#include "api/settings.hpp"
#include "engine/agree.hpp"
#include "grid/halo_plan.hpp"
#include "grid/halo_request.hpp"
#include "grid/halo_use.hpp"

namespace tonari {
namespace {

// Keeps what the exchange needs, and has nothing to do itself.
class KeptHalo final : public LocalWork {
 public:
  KeptHalo(std::shared_ptr<HaloGrid> grid, Views views) : use_(std::move(grid), std::move(views)) {}
  void give_up() override { use_.give_up(); }

 private:
  HaloUse use_;
};

// Links are in the order of their keys at both ends.
class GroupedHalo final : public GroupedCall {
 public:
  GroupedHalo(std::shared_ptr<HaloGrid> grid, const HaloCall& call, MPI_Info info)
      : grid_(std::move(grid)), call_(call), request_(read_request(grid_->shape(), call)) {
    if (grid_->ghost_maps())
      fail(Errc::argument,
           "the grid has mapped ghosts, which no message fills; make a request of its own for it");
    if (request_.reverse)
      fail(Errc::argument,
           "a group takes no reverse exchange of a grid; make a request of its own for it");
    check_keys(info);
    const auto value = lookup(info, SettingId::halo_neighbors);
    faces_ = value && *value != "all";
  }

  std::string name() const override { return "halo exchange"; }
  Context& context() const override { return *grid_->context(); }
  void agree_and_prepare() override {
    const auto [copy, direction, ghosts, reduction] = alike(*grid_, call_, request_);
    agree_on_arguments(context().comm(), MPI_INFO_NULL, std::nullopt,
                       std::array{copy, direction, ghosts, reduction,
                                  Alike{faces_,
                                        "ranks gave tonari_halo_neighbors different values; it "
                                        "must be the same on all ranks"}});
    if (faces_) request_.reach.along = 1;
    run_collectively(context().comm(),
                     [&] { ends_ = std::move(halo_ends(*grid_, request_).front()); });
  }
  std::size_t steps() const override { return 1; }
  GroupSide sent(std::size_t /*step*/) override { return side_of(ends_.send, true); }
  GroupSide received(std::size_t /*step*/) override { return side_of(ends_.receive, false); }
  TouchedBytes touched() const override { return {bytes(ends_.send), bytes(ends_.receive)}; }
  std::unique_ptr<LocalWork> work() override {
    return std::make_unique<KeptHalo>(grid_, std::move(views_));
  }

 private:
  GroupSide side_of(const std::vector<HaloEnd>& ends, bool send) {
    GroupSide side;
    for (const HaloEnd& end : ends) {
      side.peers.push_back(end.link.peer);
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
  Views views_;
};

}  // namespace

std::unique_ptr<GroupedCall> group_halo(const std::shared_ptr<HaloGrid>& grid, const HaloCall& call,
                                        MPI_Info info) {
  return std::make_unique<GroupedHalo>(grid, call, info);
}

}  // namespace tonari
