// SPDX-License-Identifier: BSD-3-Clause
#include "heat.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

namespace {

// Weights of the 27-point Laplacian for points that differ in 0, 1, 2 and 3 coordinates, and the
// step: u + step * Laplacian(u).
constexpr std::array<double, 4> laplacian{-128.0 / 30, 14.0 / 30, 3.0 / 30, 1.0 / 30};
constexpr double time_step = 0.15;

constexpr double weight(int differing) {
  return (differing == 0 ? 1.0 : 0.0) + time_step * laplacian[differing];
}

constexpr std::array<Mode, 5> modes{{
    {{0, 1, 0}, 1.00, 0.4},
    {{0, 1, 1}, 0.90, 2.0},
    {{1, -2, 3}, 0.80, 1.1},
    {{2, 4, 2}, 0.50, 0.0},
    {{1, 5, -6}, 0.40, 2.6},
}};

double angle(const Domain& domain, const Mode& mode, int dimension) {
  return 2 * std::numbers::pi * mode.k[dimension] / domain.global(dimension);
}

// cos(theta . x + phase) at local point i, j, k.
class Wave {
 public:
  Wave(const Domain& domain, const Mode& mode) : phase_(mode.phase) {
    for (int d = 0; d < 3; ++d) {
      theta_[d] = angle(domain, mode, d);
      phase_ += theta_[d] * (domain.me[d] * domain.n - 1);
    }
  }
  double operator()(int i, int j, int k) const {
    return std::cos(theta_[0] * i + theta_[1] * j + theta_[2] * k + phase_);
  }

 private:
  std::array<double, 3> theta_;
  double phase_;
};

template <class Visit>
void for_inside(const Domain& domain, Visit visit) {
  for (int i = 1; i <= domain.n; ++i)
    for (int j = 1; j <= domain.n; ++j)
      for (int k = 1; k <= domain.n; ++k) visit(i, j, k);
}

// Rows along the last dimension around row (i, j): itself, the four beside it, the four diagonal to
// it.
struct Rows {
  const double* center;
  std::array<const double*, 4> beside, diagonal;
};

Rows rows_around(const Domain& domain, const Field& u, int i, int j) {
  const auto row = [&](int di, int dj) { return &u[domain.index(i + di, j + dj, 0)]; };
  return {row(0, 0),
          {row(-1, 0), row(1, 0), row(0, -1), row(0, 1)},
          {row(-1, -1), row(-1, 1), row(1, -1), row(1, 1)}};
}

}  // namespace

Domain make_domain(int points_per_rank) {
  Domain domain{MPI_COMM_NULL, {0, 0, 0}, {0, 0, 0}, points_per_rank};
  int ranks = 0;
  Triple periods{1, 1, 1};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 3, domain.ranks.data());
  MPI_Cart_create(MPI_COMM_WORLD, 3, domain.ranks.data(), periods.data(), 0, &domain.cart);
  MPI_Cart_get(domain.cart, 3, domain.ranks.data(), periods.data(), domain.me.data());
  return domain;
}

std::span<const Mode> initial_modes() { return modes; }

// Opposite neighbors have equal weights, so the sum over the stencil of w(c) cos(theta.(x + c) +
// phase) is the cosine at x times sum w(c) cos(theta_0 c_0) cos(theta_1 c_1) cos(theta_2 c_2).
double eigenvalue(const Domain& domain, const Mode& mode) {
  const double x = 2 * std::cos(angle(domain, mode, 0)), y = 2 * std::cos(angle(domain, mode, 1)),
               z = 2 * std::cos(angle(domain, mode, 2));
  return weight(0) + weight(1) * (x + y + z) + weight(2) * (x * y + y * z + z * x) +
         weight(3) * x * y * z;
}

Field exact_field(const Domain& domain, int steps) {
  Field u(domain.volume(), std::numeric_limits<double>::quiet_NaN());
  for_inside(domain, [&](int i, int j, int k) { u[domain.index(i, j, k)] = 0; });
  for (const Mode& mode : modes) {
    const Wave wave(domain, mode);
    const double amplitude = mode.amplitude * std::pow(eigenvalue(domain, mode), steps);
    for_inside(domain,
               [&](int i, int j, int k) { u[domain.index(i, j, k)] += amplitude * wave(i, j, k); });
  }
  return u;
}

void advance(const Domain& domain, const Field& u, Field& next) {
  for (int i = 1; i <= domain.n; ++i) {
    for (int j = 1; j <= domain.n; ++j) {
      const auto [c, b, d] = rows_around(domain, u, i, j);
      double* out = &next[domain.index(i, j, 0)];
      for (int k = 1; k <= domain.n; ++k) {
        const auto sum4 = [](const std::array<const double*, 4>& rows, int at) {
          return rows[0][at] + rows[1][at] + rows[2][at] + rows[3][at];
        };
        out[k] = weight(0) * c[k] + weight(1) * (c[k - 1] + c[k + 1] + sum4(b, k)) +
                 weight(2) * (sum4(b, k - 1) + sum4(b, k + 1) + sum4(d, k)) +
                 weight(3) * (sum4(d, k - 1) + sum4(d, k + 1));
      }
    }
  }
}

double max_difference(const Domain& domain, const Field& a, const Field& b) {
  double largest = 0;
  for_inside(domain, [&](int i, int j, int k) {
    const double difference = std::abs(a[domain.index(i, j, k)] - b[domain.index(i, j, k)]);
    largest =
        std::isnan(difference) ? std::numeric_limits<double>::max() : std::max(largest, difference);
  });
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, domain.cart);
  return largest;
}

bool bitwise_equal(const Domain& domain, const Field& a, const Field& b) {
  int equal = 1;
  for (int i = 1; i <= domain.n; ++i)
    for (int j = 1; j <= domain.n; ++j)
      equal &= std::memcmp(&a[domain.index(i, j, 1)], &b[domain.index(i, j, 1)],
                           sizeof(double) * static_cast<std::size_t>(domain.n)) == 0;
  MPI_Allreduce(MPI_IN_PLACE, &equal, 1, MPI_INT, MPI_LAND, domain.cart);
  return equal != 0;
}

// Different waves are orthogonal on the grid, and the mean of a squared cosine is one half.
std::vector<double> mode_content(const Domain& domain, const Field& u) {
  std::vector<double> content;
  const double points = static_cast<double>(domain.global(0)) * domain.global(1) * domain.global(2);
  for (const Mode& mode : modes) {
    const Wave wave(domain, mode);
    double sum = 0;
    for_inside(domain,
               [&](int i, int j, int k) { sum += u[domain.index(i, j, k)] * wave(i, j, k); });
    content.push_back(2 * sum / (points * mode.amplitude));
  }
  MPI_Allreduce(MPI_IN_PLACE, content.data(), static_cast<int>(content.size()), MPI_DOUBLE, MPI_SUM,
                domain.cart);
  return content;
}

std::vector<double> middle_slice(const Domain& domain, const Field& u) {
  const int rows = domain.global(1), columns = domain.global(2), middle = domain.global(0) / 2;
  std::vector<double> slice(static_cast<std::size_t>(rows) * columns, 0.0);
  if (middle / domain.n == domain.me[0]) {
    for (int j = 1; j <= domain.n; ++j) {
      const double* from = &u[domain.index(middle % domain.n + 1, j, 1)];
      std::copy_n(from, domain.n,
                  &slice[static_cast<std::size_t>(domain.me[1] * domain.n + j - 1) * columns +
                         domain.me[2] * domain.n]);
    }
  }
  int rank = 0;
  MPI_Comm_rank(domain.cart, &rank);
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : slice.data(), slice.data(), rows * columns, MPI_DOUBLE,
             MPI_SUM, 0, domain.cart);
  return slice;
}
