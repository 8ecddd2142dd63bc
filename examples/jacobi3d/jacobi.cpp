// SPDX-License-Identifier: BSD-3-Clause
#include "jacobi.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "options.hpp"

namespace {

constexpr auto seven = tonari::star<3, 1>();
constexpr std::array coefficients{0.4, 0.1};

// cos(2 pi k.x / n): the iteration multiplies each by c_0 + 2 c_1 (cos 2 pi k_0 / n_0 + ...).
struct Wave {
  std::array<int, 3> k;
  double amplitude;
};
constexpr std::array<Wave, 3> waves{{{{1, 0, 1}, 1.0}, {{0, 2, 1}, 0.7}, {{3, 1, -2}, 0.4}}};

class Exact {
 public:
  Exact(const std::array<std::int64_t, 3>& cells, int steps) {
    for (std::size_t w = 0; w < waves.size(); ++w) {
      double factor = coefficients[0];
      for (std::size_t d = 0; d < 3; ++d) {
        angle_[w][d] = 2 * std::numbers::pi * waves[w].k[d] / static_cast<double>(cells[d]);
        factor += 2 * coefficients[1] * std::cos(angle_[w][d]);
      }
      amplitude_[w] = waves[w].amplitude * std::pow(factor, steps);
    }
  }
  double operator()(std::span<const std::int64_t> x, const std::vector<std::int64_t>& first) const {
    double sum = 0;
    for (std::size_t w = 0; w < waves.size(); ++w) {
      double phase = 0;
      for (std::size_t d = 0; d < 3; ++d)
        phase += angle_[w][d] * static_cast<double>(first[d] + x[d]);
      sum += amplitude_[w] * std::cos(phase);
    }
    return sum;
  }

 private:
  std::array<std::array<double, 3>, waves.size()> angle_{};
  std::array<double, waves.size()> amplitude_{};
};

tonari::GridShape shape(const Storage& storage, const Settings& settings) {
  tonari::GridShape shape({settings.own[0], settings.own[1], settings.own[2]}, settings.halo,
                          MPI_DOUBLE);
  shape.local = 1, shape.copies = 2, shape.storage = storage.storage,
  shape.mapped_ghosts = storage.mapped_ghosts;
  return shape;
}

tonari::Request request(const tonari::Grid& grid, int copy, const char* halo) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "tonari_halo", halo);
  tonari::Request request = grid.exchange_init(copy, info);
  MPI_Info_free(&info);
  return request;
}

// The cells of `outer` that are not in `inner`, which lies inside it: a slab below and above in
// each dimension, as wide as `inner` in those before.
std::vector<tonari_box> around(tonari_box outer, const tonari_box& inner) {
  std::vector<tonari_box> slabs;
  for (int d = 0; d < 3; ++d) {
    tonari_box below = outer, above = outer;
    outer.first[d] = below.end[d] = inner.first[d];
    outer.end[d] = above.first[d] = inner.end[d];
    for (const tonari_box& slab : {below, above})
      if (slab.first[d] < slab.end[d]) slabs.push_back(slab);
  }
  return slabs;
}

}  // namespace

const std::vector<Storage>& storages() {
  static const std::vector<Storage> all{{"array", TONARI_STORAGE_ARRAY, "auto", false},
                                        {"brick", TONARI_STORAGE_BRICK, "layout", false},
                                        {"mapped", TONARI_STORAGE_MAPPED, "memmap", false},
                                        {"mapped-shift", TONARI_STORAGE_MAPPED, "shift", false},
                                        {"zero-byte", TONARI_STORAGE_MAPPED, "zero-byte", true}};
  return all;
}

const Storage& storage(const std::string& name) {
  std::string names;
  for (const Storage& s : storages()) {
    if (s.name == name) return s;
    names += " " + s.name;
  }
  throw UsageError("there is no storage " + name + "; there are" + names);
}

// Mapped ghosts can not be computed: they are the neighbors' cells, and exchanging them costs
// nothing.
Jacobi::Jacobi(MPI_Comm cart, const Storage& storage, const Settings& settings)
    : settings_(settings),
      arrays_(storage.storage == TONARI_STORAGE_ARRAY),
      own_ghosts_(!storage.mapped_ghosts),
      every_(own_ghosts_ ? settings.every : 1),
      grid_(cart, shape(storage, settings)),
      halo_{request(grid_, 0, storage.halo), request(grid_, 1, storage.halo)} {
  for (int s = 0; s < every_; ++s) plan_step(s);
}

void Jacobi::plan_step(int s) {
  const tonari::Expansion expansion = grid_.expansion(seven.radius);
  const tonari_box box = expansion.box(expansion.steps() - every_ + s);
  const std::vector<tonari_box> interior =
      settings_.overlap && s == 0 ? grid_.boxes(TONARI_PART_INTERIOR) : std::vector<tonari_box>{};
  Cells& during = during_.emplace_back();
  Cells& after = after_.emplace_back();
  during.clip = after.clip = box;
  if (arrays_) {
    during.boxes = interior;
    after.boxes = interior.empty() ? std::vector{box} : around(box, interior[0]);
    return;
  }
  const std::int64_t early = interior.empty() ? 0 : grid_.bricks().interior_count;
  for (const std::int32_t brick : tonari::bricks_in(grid_.bricks(), box))
    (brick < early ? during : after).bricks.push_back(brick);
}

void Jacobi::initialize() {
  const std::vector<std::int64_t> first = grid_.first();
  const Exact exact(settings_.cells, 0);
  grid_.for_each_cell<double>(TONARI_PART_OWN,
                              [&](auto x, double& cell) { cell = exact(x, first); });
  if (!own_ghosts_) return;
  for (int copy = 0; copy < 2; ++copy)
    grid_.for_each_cell<double>(
        TONARI_PART_GHOSTS,
        [](auto, double& cell) { cell = std::numeric_limits<double>::quiet_NaN(); }, 0, copy);
}

void Jacobi::compute(const Cells& cells, int old, int now) {
  const double* in = grid_.data<double>(0, old);
  double* out = grid_.data<double>(0, now);
  if (!arrays_)
    return tonari::apply(seven, coefficients, grid_.bricks<8, 8, 8>(), in, out, cells.bricks,
                         cells.clip);
  const tonari_array array = grid_.array();
  for (const tonari_box& box : cells.boxes) tonari::apply(seven, coefficients, array, in, out, box);
}

Times Jacobi::iterate(int steps) {
  Times times;
  for (int step = 0; step < steps; ++step) {
    const int old = step % 2, now = 1 - old, s = step % every_;
    const bool exchange = s == 0;
    const double begin = MPI_Wtime();
    if (exchange) halo_[old].start();
    const double started = MPI_Wtime();
    compute(during_[s], old, now);
    const double waiting = MPI_Wtime();
    if (exchange) halo_[old].wait();
    const double arrived = MPI_Wtime();
    compute(after_[s], old, now);
    times.exchange += started - begin + arrived - waiting;
    times.compute += waiting - started + MPI_Wtime() - arrived;
  }
  return {times.compute / steps, times.exchange / steps};
}

double Jacobi::error() const {
  const std::vector<std::int64_t> first = grid_.first();
  const Exact exact(settings_.cells, settings_.steps);
  double largest = 0;
  grid_.for_each_cell<double>(
      TONARI_PART_OWN,
      [&](auto x, const double& cell) {
        const double error = std::abs(cell - exact(x, first));
        largest =
            std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(largest, error);
      },
      0, last());
  return largest;
}

std::string Jacobi::exchange() const {
  const tonari_request_info info = halo_[0].info();
  return *info.variant ? std::string(info.algorithm) + " (" + info.variant + ")" : info.algorithm;
}
