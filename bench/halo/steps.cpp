// SPDX-License-Identifier: BSD-3-Clause
#include "halo/steps.hpp"

#include <unistd.h>
#include <tonari/stencil.hpp>

#include <array>
#include <cmath>
#include <limits>

#include "stencil/field.hpp"
#include "stencil/plain.hpp"

namespace bench::halo {

namespace {

// Weights add up to one over all points, so that values neither grow nor vanish.
constexpr std::array<double, 2> seven{0.4, 0.1};
constexpr std::array<double, 10> full = [] {
  constexpr int points[]{1, 6, 6, 12, 24, 12, 8, 24, 24, 8};  // of each class of offsets
  std::array<double, 10> weights{};
  double sum = 0;
  for (int i = 0; i < 10; ++i) sum += points[i] * (10.0 - i);
  for (int i = 0; i < 10; ++i) weights[static_cast<std::size_t>(i)] = (10.0 - i) / sum;
  return weights;
}();

tonari::Expansion expansion_of(const Field& field, int radius) {
  const Cube& cube = field.cube();
  const std::int64_t own[]{cube.size, cube.size, cube.size};
  const std::int64_t width = field.storage() == Storage::mapped_ghosts ? radius : cube.ghost;
  const std::int64_t ghosts[]{width, width, width};
  return {own, ghosts, ghosts, radius};
}

template <class S, class C>
class ArraySteps : public Steps {
 public:
  ArraySteps(const Field& field, const C& weights)
      : Steps(expansion_of(field, S::radius).steps()),
        field_(field),
        weights_(weights),
        expansion_(expansion_of(field, S::radius)) {}
  void step(int s, int from) const override {
    tonari::apply(S{}, weights_, field_.array(), field_.base(from), field_.base(1 - from),
                  expansion_.box(s), tonari::Threads::one);
  }

 private:
  const Field& field_;
  C weights_;
  tonari::Expansion expansion_;
};

template <class S, class C, int B>
class BrickSteps : public Steps {
 public:
  BrickSteps(const Field& field, const C& weights)
      : Steps(expansion_of(field, S::radius).steps()), field_(field), weights_(weights) {
    const tonari::Expansion expansion = expansion_of(field, S::radius);
    for (int s = 0; s < per_exchange(); ++s)
      parts_.push_back({expansion.box(s), tonari::bricks_in(field.bricks(), expansion.box(s))});
  }
  void step(int s, int from) const override {
    const Part& part = parts_[static_cast<std::size_t>(s)];
    const auto bricks = tonari::bricks<B, B, B>(field_.bricks());
    const double* const in = field_.base(from);
    double* const out = field_.base(1 - from);
    // whole bricks: own cells
    if (s == per_exchange() - 1)
      tonari::apply(S{}, weights_, bricks, in, out, part.numbers, tonari::Threads::one);
    else
      tonari::apply(S{}, weights_, bricks, in, out, part.numbers, part.box, tonari::Threads::one);
  }

 private:
  struct Part {
    tonari_box box;
    std::vector<std::int32_t> numbers;
  };
  const Field& field_;
  C weights_;
  std::vector<Part> parts_;
};

template <class S, class C>
std::unique_ptr<Steps> make(const Field& field, const C& weights) {
  if (!field.bricked()) return std::make_unique<ArraySteps<S, C>>(field, weights);
  if (field.bricks().brick[0] == 4) return std::make_unique<BrickSteps<S, C, 4>>(field, weights);
  return std::make_unique<BrickSteps<S, C, 8>>(field, weights);
}

}  // namespace

std::unique_ptr<Steps> make_steps(const Field& field, int points) {
  if (points == 7) return make<tonari::Star<3, 1>>(field, seven);
  return make<tonari::BoxStencil<3, 2>>(field, full);
}

void compute(const Steps& steps, int from) {
  for (int s = 0; s < steps.per_exchange(); ++s, from = 1 - from) steps.step(s, from);
}

// Ghosts of whole bricks of 4 or 8 cells and stencils of radius 1 or 2: an even number of steps,
// which ends in the copy it began in.
void cycle(const Steps& steps, Exchange& exchange) {
  compute(steps, exchange.copies_alternate() ? 1 - exchange.copy() : exchange.copy());
  exchange.run();
}

unsigned long long result_of(const Steps& steps, Exchange& exchange, const Field& field, int count,
                             int generation) {
  const int first = exchange.copy();
  field.fill(first, generation);
  field.poison_ghosts(first);
  exchange.run();
  for (int done = 0; done < count; done += steps.per_exchange()) cycle(steps, exchange);
  return field.checksum(exchange.copies_alternate() ? 1 - exchange.copy() : 0);
}

unsigned long long expected_result(const Steps& steps, const Field& array, int generation) {
  array.fill(0, generation);
  array.fill_ghosts(0, generation);
  compute(steps, 0);
  return array.checksum(0);
}

PlainLoops::PlainLoops(const Field& array, int points)
    : field_(array), points_(points), best_{array.cube().size, array.cube().size} {
  const long long n = array.cube().size;
  double least = std::numeric_limits<double>::max();
  for (const Tile tile : {Tile{n, n}, Tile{n, 8}, Tile{n, 16}, Tile{n, 32}, Tile{8, 8},
                          Tile{16, 16}, Tile{32, 32}, Tile{16, 64}}) {
    if (tile.planes > n || tile.rows > n) continue;
    for (int turn = 0; turn < 3; ++turn) {
      const double start = now();
      sweep(tile);
      const double time = now() - start;
      if (time < least) least = time, best_ = tile;
    }
  }
}

void PlainLoops::sweep(Tile tile) const {
  const tonari::bench::Tile t{tile.planes, tile.rows};
  const long long n = field_.cube().size;
  if (points_ == 7)
    tonari::bench::plain_seven(seven.data(), field_.array(), field_.base(0), field_.base(1), n, t);
  else
    tonari::bench::plain_full(full.data(), field_.array(), field_.base(0), field_.base(1), n, t);
}

void PlainLoops::plain() const { sweep({field_.cube().size, field_.cube().size}); }
void PlainLoops::tiled() const { sweep(best_); }

bool PlainLoops::agrees_with(const Steps& steps) const {
  field_.fill(0, 1);
  field_.fill_ghosts(0, 1);
  steps.own_cells(0);
  std::vector<double> values;
  for_each_cell(field_.cube().own(), [&](long long z, long long y, long long x) {
    values.push_back(field_.at(1, z, y, x));
  });
  tiled();
  bool good = true;
  std::size_t i = 0;
  for_each_cell(field_.cube().own(), [&](long long z, long long y, long long x) {
    const double here = field_.at(1, z, y, x);
    good = good && std::abs(here - values[i]) <= 1e-12 * std::abs(here);
    ++i;
  });
  return good;
}

struct MemorySpeed::Arrays {
  explicit Arrays(long long cells) : in(cells), out(cells) {}
  tonari::bench::Field in, out;
};

MemorySpeed::MemorySpeed(long long cells)
    : arrays_(std::make_unique<Arrays>(cells)), cells_(cells) {}
MemorySpeed::~MemorySpeed() = default;

void MemorySpeed::run() const {
  const double* __restrict const from = arrays_->in.data();
  double* __restrict const to = arrays_->out.data();
#pragma GCC unroll 4
  for (long long i = 0; i < cells_; ++i) to[i] = 1.5 * from[i];
}

std::string MemorySpeed::level(int ranks) const {
  const long long mine = 2 * cells_ * static_cast<long long>(sizeof(double));
  if (mine <= sysconf(_SC_LEVEL2_CACHE_SIZE)) return "l2";
  return mine * ranks <= sysconf(_SC_LEVEL3_CACHE_SIZE) ? "l3" : "memory";
}

}  // namespace bench::halo
