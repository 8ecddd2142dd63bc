// SPDX-License-Identifier: BSD-3-Clause
#include "wave.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace {

constexpr auto star = tonari::star<3, 4>();
// order 8, distance by distance
constexpr std::array second_derivative{-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560};

tonari::GridShape shape(std::int64_t cells, bool mapped) {
  tonari::GridShape shape({cells, cells, cells}, 8, MPI_DOUBLE);
  shape.fields = 2, shape.interleaved = 1, shape.copies = 2;
  shape.storage = mapped ? TONARI_STORAGE_MAPPED : TONARI_STORAGE_BRICK;
  return shape;
}

}  // namespace

Wave::Wave(MPI_Comm cart, std::int64_t cells, double dt, bool mapped)
    : cells_(cells),
      dt_(dt),
      grid_(cart, shape(cells, mapped)),
      first_(grid_.first()),
      halo_{grid_.exchange_init(0), grid_.exchange_init(1)},
      expansion_(grid_.expansion(star.radius)) {}

double Wave::standing(std::span<const std::int64_t> x) const {
  double phase = 0;
  for (std::size_t d = 0; d < 3; ++d) phase += k_[d] * static_cast<double>(first_[d] + x[d]);
  return std::cos(2 * std::numbers::pi * phase / static_cast<double>(cells_));
}

// Leapfrog turns cos(omega t) with sin(omega dt / 2) = |2 pi k| dt / 2 exactly: what remains as
// error is the stencil's. v at -dt / 2 is what makes the first step end at cos(omega dt), which is
// the same as at -dt.
void Wave::initialize(const std::array<int, 3>& k) {
  k_ = k, steps_ = now_ = 0;
  const double wavenumber = 2 * std::numbers::pi * std::hypot(k[0], k[1], k[2]);
  omega_ = 2 / dt_ * std::asin(wavenumber * dt_ / 2);
  const double v_before = (1 - std::cos(omega_ * dt_)) / dt_;
  grid_.for_each_cell<double>(
      TONARI_PART_OWN, [&](auto x, double& cell) { cell = standing(x); }, 0, 0, u);
  grid_.for_each_cell<double>(
      TONARI_PART_OWN, [&](auto x, double& cell) { cell = v_before * standing(x); }, 0, 0, v);
}

// The Laplacian goes where the new v will be; a kernel of our own then makes the step, brick by
// brick.
void Wave::step() {
  const int old = now_, now = 1 - now_, since_exchange = steps_ % expansion_.steps();
  if (since_exchange == 0) {
    halo_[old].start();
    halo_[old].wait();
  }
  const tonari_box box = expansion_.box(since_exchange);
  const auto bricks = grid_.bricks<8, 8, 8>();
  const std::vector<std::int32_t> numbers = tonari::bricks_in(bricks.table(), box);

  std::array<double, 5> c = second_derivative;
  c[0] *= 3;
  for (double& x : c) x *= dt_ * static_cast<double>(cells_ * cells_);
  tonari::apply(star, c, bricks, field(u, old), field(v, now), numbers, box);

  const double *u_old = field(u, old), *v_old = field(v, old);
  double *u_now = field(u, now), *v_now = field(v, now);
  tonari::for_each_brick(bricks, numbers, box, [=, this](const auto& block) {
    // no neighbors are needed: own cells, here read-only
    const auto u_before = block.writes(u_old), v_before = block.writes(v_old);
    const auto u_after = block.writes(u_now), v_after = block.writes(v_now);
    for (int z = block.first(0); z < block.end(0); ++z)
      for (int y = block.first(1); y < block.end(1); ++y)
        for (int x = block.first(2); x < block.end(2); ++x) {
          v_after(z, y, x) += v_before(z, y, x);
          u_after(z, y, x) = u_before(z, y, x) + dt_ * v_after(z, y, x);
        }
  });
  now_ = now, ++steps_;
}

// Leapfrog keeps v.v / 2 - u.Laplacian(u') / 2, u one step after u', up to rounding. dt
// Laplacian(u') is what the step added to v.
double Wave::energy() const {
  const int old = 1 - now_;
  const std::vector<double> u_now = grid_.export_own<double>(0, now_, u),
                            v_now = grid_.export_own<double>(0, now_, v),
                            v_old = grid_.export_own<double>(0, old, v);
  double sum = 0;
  for (std::size_t i = 0; i < u_now.size(); ++i)
    sum += v_now[i] * v_now[i] - u_now[i] * (v_now[i] - v_old[i]) / dt_;
  return sum / 2 / static_cast<double>(cells_ * cells_ * cells_);
}

double Wave::error() const {
  const double amplitude = std::cos(omega_ * dt_ * steps_);
  double largest = 0;
  grid_.for_each_cell<double>(
      TONARI_PART_OWN,
      [&](auto x, const double& cell) {
        largest = std::max(largest, std::abs(cell - amplitude * standing(x)));
      },
      0, now_, u);
  return largest;
}
