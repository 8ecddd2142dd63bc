// SPDX-License-Identifier: BSD-3-Clause
// Whole products. By rows y = A x: values of x travel while a rank multiplies with its own. By
// columns y = A^T x, whose columns are the rows that a rank has: contributions to y travel while it
// computes those to its own. All candidates multiply with the same loops, those of spmv.hpp, and
// the same copy of the matrix: where a copy lies in memory makes a tenth of the time. What differs
// is the exchange, and what goes on meanwhile. In each turn a candidate multiplies several times.
#include <tonari/spmv.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "keys.hpp"
#include "spmv/mover.hpp"
#include "spmv/vector_exchange.hpp"

namespace bench::spmv {

namespace {

using tonari::detail::LocalRows;

double factor_of(std::int64_t index, int generation) {
  return static_cast<double>((7 * index + 3 * generation) % 17 - 8);
}

// What a candidate multiplies, and where from and to. One number more than needed: addresses are
// never null.
struct Vectors {
  const Share& share;
  std::vector<double> x = std::vector<double>(static_cast<std::size_t>(share.owned) + 1), y = x;
  std::vector<double> ghosts = std::vector<double>(share.ghosts.size() + 1),
                      packed = std::vector<double>(share.wanted.size() + 1);
};

// A rank's part of the matrix: what it multiplies with own numbers, and with those of others.
struct Parts {
  LocalRows own, others;
};

struct ByRows {
  Vectors& v;
  const Parts& parts;
  void operator()(Mover& mover) {
    const std::vector<std::int32_t>& wanted = v.share.wanted;
    for (std::size_t k = 0; k < wanted.size(); ++k)
      v.packed[k] = v.x[static_cast<std::size_t>(wanted[k])];
    mover.start();
    parts.own.multiply<false>(v.x.data(), v.y.data());
    mover.wait();
    parts.others.multiply<true>(v.ghosts.data(), v.y.data());
  }
};

struct ByColumns {
  Vectors& v;
  const Parts& parts;
  void operator()(Mover& mover) {
    parts.others.multiply<false>(v.x.data(), v.ghosts.data());
    mover.start();
    parts.own.multiply<false>(v.x.data(), v.y.data());
    mover.wait();
    const std::vector<std::int32_t>& wanted = v.share.wanted;
    for (std::size_t k = 0; k < wanted.size(); ++k)
      v.y[static_cast<std::size_t>(wanted[k])] += v.packed[k];
  }
};

// tonari::RowParallel or ColumnParallel, with parts that are lent to it for each product.
template <class Matrix>
class Ours : public Way {
 public:
  Ours(const std::string& route, const std::string& tune, Vectors& vectors, Parts& parts)
      : v_(vectors), parts_(parts), keys_{{"tonari_route", route}, {"tonari_tune", tune}} {
    const Share& s = v_.share;
    matrix_.emplace(s.comm, s.first, s.owned, s.begin, s.columns, s.values, keys_.get());
    Parts its_own;
    matrix_->swap(its_own);
    run();  // the first product prepares its exchange
  }
  void run() override {
    const auto n = static_cast<std::size_t>(v_.share.owned);
    matrix_->swap(parts_);
    matrix_->multiply(std::span<const double>(v_.x.data(), n), std::span(v_.y.data(), n));
    matrix_->swap(parts_);
  }
  std::string chosen() const override { return matrix_->vector().facts().route; }
  bool ours() const override { return true; }

 private:
  struct Lent : Matrix {
    using Matrix::Matrix;
    void swap(Parts& parts) {
      std::swap(this->own_, parts.own);
      std::swap(this->foreign_, parts.others);
    }
  };

  Vectors& v_;
  Parts& parts_;
  Keys keys_;
  std::optional<Lent> matrix_;
};

class Multiplying : public Contest {
 public:
  Multiplying(const Share& share, const std::string& tune, bool by_rows)
      : share_(share), tune_(tune), vectors_{share}, by_rows_(by_rows) {
    const tonari::detail::Lines lines{share.first, share.owned, share.begin, share.columns,
                                      share.values};
    (by_rows ? tonari::detail::split : tonari::detail::turn)(lines, share.ghosts, parts_.own,
                                                             parts_.others);
  }

  const std::vector<std::string>& names() const override {
    static const std::vector<std::string> names = [] {
      std::vector<std::string> some{
          "irecv", "irecv-persistent", "native", "native-nonblocking", "native-persistent", "auto"};
      some.insert(some.end(), route_names().begin(), route_names().end());
      return some;
    }();
    return names;
  }

  std::unique_ptr<Way> make(const std::string& name) override {
    if (const std::string route = route_of(name); !route.empty()) {
      if (!route_applies(route, share_)) return nullptr;
      if (by_rows_)
        return std::make_unique<Ours<tonari::RowParallel>>(route, tune_, vectors_, parts_);
      return std::make_unique<Ours<tonari::ColumnParallel>>(route, tune_, vectors_, parts_);
    }
    double *const ghosts = vectors_.ghosts.data(), *const packed = vectors_.packed.data();
    auto mover =
        by_rows_
            ? make_mover(name, tune_, {share_.comm, share_.targets, packed, share_.sources, ghosts})
            : make_mover(name, tune_,
                         {share_.comm, share_.sources, ghosts, share_.targets, packed});
    if (by_rows_) return moved(std::move(mover), ByRows{vectors_, parts_});
    return moved(std::move(mover), ByColumns{vectors_, parts_});
  }

  void prepare(int generation) override {
    for (std::int64_t i = 0; i < share_.owned; ++i)
      vectors_.x[static_cast<std::size_t>(i)] = factor_of(share_.first + i, generation);
    for (std::vector<double>* buffer : {&vectors_.y, &vectors_.ghosts, &vectors_.packed})
      buffer->assign(buffer->size(), std::numeric_limits<double>::quiet_NaN());
  }

  // Orders of addition differ, so results may by rounding: at most by what the sum of all
  // magnitudes allows.
  bool correct(int generation) const override {
    std::vector<double> expected, magnitude;
    by_rows_ ? expect_rows(generation, expected, magnitude)
             : expect_columns(generation, expected, magnitude);
    bool good = true;
    for (std::size_t i = 0; i < expected.size(); ++i)
      good = good && std::abs(vectors_.y[i] - expected[i]) <= 1e-12 * magnitude[i];
    return good;
  }

 private:
  void expect_rows(int generation, std::vector<double>& expected,
                   std::vector<double>& magnitude) const {
    for (std::size_t i = 0; i + 1 < share_.begin.size(); ++i) {
      double sum = 0, all = 0;
      for (auto k = static_cast<std::size_t>(share_.begin[i]);
           k < static_cast<std::size_t>(share_.begin[i + 1]); ++k) {
        const double term = share_.values[k] * factor_of(share_.columns[k], generation);
        sum += term, all += std::abs(term);
      }
      expected.push_back(sum), magnitude.push_back(all);
    }
  }
  // All ranks compute their contributions to all of y, which are added.
  void expect_columns(int generation, std::vector<double>& expected,
                      std::vector<double>& magnitude) const {
    std::vector<double> sums(2 * static_cast<std::size_t>(share_.size) + 1);
    const auto n = static_cast<std::size_t>(share_.size);
    for (std::size_t i = 0; i + 1 < share_.begin.size(); ++i)
      for (auto k = static_cast<std::size_t>(share_.begin[i]);
           k < static_cast<std::size_t>(share_.begin[i + 1]); ++k) {
        const double term =
            share_.values[k] * factor_of(share_.first + static_cast<std::int64_t>(i), generation);
        const auto row = static_cast<std::size_t>(share_.columns[k]);
        sums[row] += term, sums[n + row] += std::abs(term);
      }
    for (const std::size_t half : {std::size_t{0}, n})
      MPI_Allreduce(MPI_IN_PLACE, sums.data() + half, static_cast<int>(n), MPI_DOUBLE, MPI_SUM,
                    share_.comm);
    const auto mine = sums.begin() + share_.first;
    expected.assign(mine, mine + share_.owned);
    magnitude.assign(mine + share_.size, mine + share_.size + share_.owned);
  }

  const Share& share_;
  const std::string tune_;
  Vectors vectors_;
  Parts parts_;
  bool by_rows_;
};

}  // namespace

std::unique_ptr<Contest> make_rows(const Share& share, const std::string& tune) {
  return std::make_unique<Multiplying>(share, tune, true);
}
std::unique_ptr<Contest> make_columns(const Share& share, const std::string& tune) {
  return std::make_unique<Multiplying>(share, tune, false);
}

}  // namespace bench::spmv
