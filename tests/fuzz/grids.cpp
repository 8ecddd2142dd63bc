// SPDX-License-Identifier: BSD-3-Clause
// Ghosts of grids in all storages: filled from their owners, or combined there.
#include <tonari/grid.h>

#include "fuzz/exchange.hpp"
#include "fuzz/patches.hpp"
#include "support/zu.hpp"

namespace tonari::fuzz {
namespace {

// How many cells each of n parts has: the first ones are larger, by one unit.
std::int64_t part_of(std::int64_t cells, int n, int k, std::int64_t unit) {
  const std::int64_t units = cells / unit;
  return unit * (units / n + (k < units % n));
}

class Grid final : public Exchange {
 public:
  explicit Grid(Draws& draws) : place_(draws.place), number_(Number::random(draws.common)) {
    Random& common = draws.common;
    shape_.storage = pick(common, 0, 5) < 4 ? TONARI_STORAGE_ARRAY : pick(common, 1, 2);
    if (shape_.storage == TONARI_STORAGE_MAPPED) number_ = {MPI_DOUBLE, sizeof(double), 0};
    shape_.type = number_.type;
    shape_.fields = fields_ = pick(common, 1, 2);
    cut(common);
    how_ = pick(common, 0, 1) ? Combining::none : random_combining(common);
    choose_ghosts(common);
    outcome_ = std::make_unique<Outcome>(patches_, how_);
    MPI_Comm cart = MPI_COMM_NULL;
    MPI_Cart_create(place_.comm, shape_.dims, dims_.data(), periods_.data(), 0, &cart);
    must(tonari_grid_create(cart, &shape_, nullptr, MPI_INFO_NULL, &grid_), "tonari_grid_create");
    MPI_Comm_free(&cart);
    static const char* const storages[] = {"array", "brick", "mapped"};
    label = std::string("grid of ") + std::to_string(shape_.dims) + " dimensions in storage " +
            storages[shape_.storage] + ", " +
            (how_ == Combining::none ? "forward" : std::string("reverse ") + name_of(how_));
  }

  bool offers(Form form) const override { return form != Form::started; }
  bool fits_into_groups() const override { return true; }
  bool may_be_freed_early() const override { return false; }
  Keys keys(Random& common, Form) const override {
    static const char* const arrays[] = {"auto", "pack", "datatypes", "plan", "shift"};
    static const char* const bricks[] = {"auto", "layout", "basic", "plan"};
    static const char* const mapped[] = {"auto", "memmap", "layout", "plan", "shift"};
    std::string halo = shape_.storage == TONARI_STORAGE_ARRAY   ? word(common, arrays)
                       : shape_.storage == TONARI_STORAGE_BRICK ? word(common, bricks)
                                                                : word(common, mapped);
    // a shift also fills corners that others leave out, and does not combine
    if (halo == "shift" && (how_ != Combining::none || patches_.ghosts.along > 0)) halo = "plan";
    Keys keys = neighbor_keys(common);
    keys.emplace_back("tonari_halo", halo);
    return keys;
  }

  int init(MPI_Info info, tonari_request* request) override {
    if (how_ == Combining::none)
      return tonari_grid_forward_init(grid_, 0, &patches_.ghosts, info, request);
    return tonari_grid_reverse_init(grid_, 0, &patches_.ghosts, op_of(how_), info, request);
  }
  int call(MPI_Info) override {
    if (how_ == Combining::none) return tonari_grid_forward(grid_, 0, &patches_.ghosts);
    return tonari_grid_reverse(grid_, 0, &patches_.ghosts, op_of(how_));
  }

  void prepare(int round) override {
    each([&](const Cell& c, int field, void* at) {
      number_.store(at, before(me(), c, field, round));
    });
  }
  std::string wrong(int round, tonari_request) override {
    std::string said;
    each([&](const Cell& c, int field, void* at) {
      const std::int64_t want = number_.stored(outcome_->after(me(), c, field, round));
      const std::int64_t found = load(at);
      if (said.empty() && want != found)
        said = "cell (" + std::to_string(c[0]) + ", " + std::to_string(c[1]) + ", " +
               std::to_string(c[2]) + ") of field " + std::to_string(field) + " is " +
               std::to_string(found) + " and must be " + std::to_string(want);
    });
    return said;
  }
  void free() override { must(tonari_grid_free(&grid_), "tonari_grid_free"); }

 private:
  std::size_t me() const { return zu(place_.rank); }

  // The whole grid and its parts: one on each rank.
  void cut(Random& common) {
    const bool array = shape_.storage == TONARI_STORAGE_ARRAY;
    shape_.dims = patches_.dims = pick(common, 1, array ? 3 : 2);
    const std::int64_t unit = array ? 1 : 4;
    dims_.assign(zu(shape_.dims), 0);
    MPI_Dims_create(place_.ranks, shape_.dims, dims_.data());
    for (std::size_t k = 0; k < dims_.size(); ++k) {
      periods_.push_back(pick(common, 0, 1));
      patches_.periodic[k] = periods_[k];
      const std::int64_t below = pick(common, 0, array ? 3 : 1),
                         above = pick(common, 0, array ? 3 : 1);
      shape_.lower[k] = patches_.lower[k] = unit * below;
      shape_.upper[k] = patches_.upper[k] = unit * above;
      const std::int64_t least =
          std::max<std::int64_t>(1, array ? std::max(below, above) : below + above);
      const std::int64_t units = least * dims_[k] + pick(common, 0, 2 * dims_[k]);
      shape_.cells[k] = patches_.size[k] = unit * units;
      if (!array) shape_.brick[k] = unit;
    }
    for (int rank = 0; rank < place_.ranks; ++rank) patches_.all.push_back(part(rank, unit));
  }
  Patch part(int rank, std::int64_t unit) const {
    Patch p;
    p.owner = rank;
    for (std::size_t k = dims_.size(); k-- > 0; rank /= dims_[k]) {
      const int at = rank % dims_[k];
      for (int before = 0; before < at; ++before)
        p.first[k] += part_of(patches_.size[k], dims_[k], before, unit);
      p.own[k] = part_of(patches_.size[k], dims_[k], at, unit);
    }
    return p;
  }
  void choose_ghosts(Random& common) {
    if (pick(common, 0, 1)) return;
    tonari_ghosts& g = patches_.ghosts;
    for (std::size_t k = 0; k < dims_.size(); ++k) {
      g.lower[k] = some_of(common, shape_.lower[k]);
      g.upper[k] = some_of(common, shape_.upper[k]);
    }
    g.along = pick(common, 0, shape_.dims);
  }
  std::int64_t some_of(Random& common, std::int64_t width) const {
    const int drawn = pick(common, 0, 3);
    if (drawn == 0) return TONARI_GHOSTS_NONE;
    if (drawn < 3 || width == 0 || shape_.storage != TONARI_STORAGE_ARRAY) return 0;
    return pick(common, 1, static_cast<int>(width));
  }

  template <class Use>
  void each(Use use) {
    for (int field = 0; field < fields_; ++field)
      patches_.each_cell(patches_.all[me()], [&](const Cell& c) {
        const std::int64_t index[TONARI_GRID_MAX_DIMS] = {c[0], c[1], c[2]};
        void* at = nullptr;
        must(tonari_grid_at(grid_, 0, 0, field, index, &at), "tonari_grid_at");
        use(c, field, at);
      });
  }
  std::int64_t load(const void* at) const {
    return number_.use([&](auto number) {
      std::memcpy(&number, at, sizeof number);
      return static_cast<std::int64_t>(number);
    });
  }

  const Place& place_;
  Number number_;
  tonari_grid_shape shape_ = TONARI_GRID_SHAPE_INIT;
  std::vector<int> dims_, periods_;
  Patches patches_;
  int fields_ = 1;
  Combining how_ = Combining::none;
  std::unique_ptr<Outcome> outcome_;
  tonari_grid grid_ = TONARI_GRID_NULL;
};

}  // namespace

std::unique_ptr<Exchange> make_grid(Draws& draws) { return std::make_unique<Grid>(draws); }

}  // namespace tonari::fuzz
