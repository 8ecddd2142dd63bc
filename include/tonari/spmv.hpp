// SPDX-License-Identifier: BSD-3-Clause
// Products of sparse matrices with vectors for C++20, on the vectors of vector.hpp. Header only.
//
//   // this rank's rows in CSR, columns as global indices; or read_matrix of matrix_file.hpp
//   tonari::RowParallel A(comm, first, owned, row_begin, columns, values);
//   A.multiply(x, y);  // this rank's parts of x and y = A x
//
// A square matrix of N rows, and vectors that are distributed like them: this rank owns first, ...,
// first + owned - 1 of all.
//   RowParallel     This rank has its rows. Values of x that others own are fetched, each once,
//                   while the rows are multiplied with own values.
//   ColumnParallel  This rank has its columns (CSC: column_begin, rows, values). It computes
//                   contributions to rows of others, which travel to their owners while this rank
//                   computes its contribution to its own rows; then it adds those that arrived.
//                   With another tonari_route than direct (balanced, message-sharing,
//                   store-and-forward/2, node) they are added on the way, too.
//
// Constructors are collective, and so is multiply. They throw tonari::Failure: constructors the
// same on all ranks. A multiply that is given spans of the wrong length on one rank takes part with
// zeros, so that the others are not held up, and then throws there. A matrix may be used by one
// thread at a time. x and y must not overlap. info: keys of tonari_vector_create and of its
// exchanges (tonari_route, tonari_algorithm, ...), kept.
#pragma once

#include <tonari/matrix_file.hpp>
#include <tonari/sparse.hpp>
#include <tonari/vector.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tonari {
inline namespace api0 {
namespace detail {

// Rows of a matrix with columns as they lie in memory, summed from left to right. Rows may be left
// out: then each has its number.
struct LocalRows {
  std::vector<std::int64_t> begin{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  std::vector<std::int32_t> numbers;  // of the rows; empty: 0, 1, ...

  // y[row] = or += row times x. Not inlined: within a product by columns the compiler runs out of
  // registers, and the product takes a twentieth longer.
  template <bool Adds>
  [[gnu::noinline]] void multiply(const double* x, double* y) const {
    const std::int64_t* const end = begin.data() + 1;
    const std::int32_t* const number = numbers.empty() ? nullptr : numbers.data();
    const std::int32_t* column = columns.data();
    const double* value = values.data();
    for (std::size_t r = 0; r + 1 < begin.size(); ++r) {
      double sum = 0;
      for (const double* const last = values.data() + end[r]; value != last; ++value, ++column)
        sum += *value * x[*column];
      double& at = y[number ? static_cast<std::size_t>(number[r]) : r];
      at = Adds ? at + sum : sum;
    }
  }
};

// Collective: throws the first rank's complaint on all ranks, if there is one. Nothing of it needs
// tonari's objects.
inline void complain_together(MPI_Comm comm, const std::string& complaint) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int first = complaint.empty() ? ranks : rank;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == ranks) return;
  char sentence[512] = "";
  if (rank == first) complaint.copy(sentence, sizeof sentence - 1);
  MPI_Bcast(sentence, sizeof sentence, MPI_CHAR, first, comm);
  throw Failure(TONARI_ERR_ARGUMENT, sentence);
}

// One rank's part of a matrix as compressed lines, rows or columns.
struct Lines {
  std::int64_t first, owned;
  std::span<const std::int64_t> begin, indices;
  std::span<const double> values;

  bool own(std::int64_t index) const { return index >= first && index < first + owned; }
  // What is wrong; empty if nothing is. Whether indices are less than N is said by the vector.
  std::string complaint(const char* line, MPI_Comm comm) const {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const std::string here = "rank " + std::to_string(rank) + ": ", name = line;
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (first < 0 || owned < 0 || owned > most)
      return here + "first and owned must not be negative, and owned less than 2^31; they are " +
             std::to_string(first) + " and " + std::to_string(owned);
    if (static_cast<std::int64_t>(begin.size()) != owned + 1)
      return here + name + "_begin has " + std::to_string(begin.size()) + " entries; for " +
             std::to_string(owned) + " own " + name + "s it must have one more";
    if (begin.front() != 0)
      return here + name + "_begin starts with " + std::to_string(begin.front()) +
             "; it must start with 0";
    for (std::size_t r = 1; r < begin.size(); ++r)
      if (begin[r] < begin[r - 1])
        return here + name + "_begin descends from " + std::to_string(begin[r - 1]) + " to " +
               std::to_string(begin[r]) + " at " + name + " " + std::to_string(r - 1);
    if (begin.back() != static_cast<std::int64_t>(indices.size()) ||
        indices.size() != values.size())
      return here + "there are " + std::to_string(indices.size()) + " indices and " +
             std::to_string(values.size()) + " values; by the end of " + name +
             "_begin there must be " + std::to_string(begin.back()) + " of each";
    return "";
  }
  // Those of others, each once, ascending.
  std::vector<std::int64_t> others() const {
    std::vector<std::int64_t> all;
    for (const std::int64_t index : indices)
      if (!own(index)) all.push_back(index);
    std::ranges::sort(all);
    // std::ranges::unique returns a view that clang++ 14 cannot compile with libstdc++
    all.erase(std::unique(all.begin(), all.end()), all.end());
    all.shrink_to_fit();
    return all;
  }
};

inline std::int32_t place_in(const std::vector<std::int64_t>& others, std::int64_t index) {
  return static_cast<std::int32_t>(std::ranges::lower_bound(others, index) - others.begin());
}

// Lines as columns become rows: own ones, and those of others, which are numbered as in `others`.
inline void turn(const Lines& lines, const std::vector<std::int64_t>& others, LocalRows& own,
                 LocalRows& foreign) {
  const auto begin_rows = [](LocalRows& rows, std::size_t count) {
    rows.begin.assign(count + 1, 0);
  };
  begin_rows(own, static_cast<std::size_t>(lines.owned));
  begin_rows(foreign, others.size());
  const auto where = [&](std::int64_t index) -> std::pair<LocalRows*, std::size_t> {
    if (lines.own(index)) return {&own, static_cast<std::size_t>(index - lines.first)};
    return {&foreign, static_cast<std::size_t>(place_in(others, index))};
  };
  std::vector<std::pair<LocalRows*, std::size_t>> places;
  places.reserve(lines.indices.size());
  for (const std::int64_t index : lines.indices) {
    places.push_back(where(index));
    ++places.back().first->begin[places.back().second + 1];
  }
  for (LocalRows* rows : {&own, &foreign}) {
    for (std::size_t r = 1; r < rows->begin.size(); ++r) rows->begin[r] += rows->begin[r - 1];
    rows->columns.resize(static_cast<std::size_t>(rows->begin.back()));
    rows->values.resize(rows->columns.size());
  }
  std::vector<std::int64_t> next[2] = {own.begin, foreign.begin};
  for (std::int64_t c = 0; c < lines.owned; ++c)
    for (auto k = static_cast<std::size_t>(lines.begin[static_cast<std::size_t>(c)]);
         k < static_cast<std::size_t>(lines.begin[static_cast<std::size_t>(c) + 1]); ++k) {
      const auto& [rows, r] = places[k];
      const auto at = static_cast<std::size_t>(next[rows == &foreign][r]++);
      rows->columns[at] = static_cast<std::int32_t>(c);
      rows->values[at] = lines.values[k];
    }
}

// Lines as rows: what they have in own columns, and, of those that have any, in the columns of
// others.
inline void split(const Lines& lines, const std::vector<std::int64_t>& others, LocalRows& own,
                  LocalRows& foreign) {
  for (std::int64_t r = 0; r < lines.owned; ++r) {
    const std::size_t before = foreign.columns.size();
    for (auto k = static_cast<std::size_t>(lines.begin[static_cast<std::size_t>(r)]);
         k < static_cast<std::size_t>(lines.begin[static_cast<std::size_t>(r) + 1]); ++k) {
      const std::int64_t c = lines.indices[k];
      LocalRows& rows = lines.own(c) ? own : foreign;
      rows.columns.push_back(lines.own(c) ? static_cast<std::int32_t>(c - lines.first)
                                          : place_in(others, c));
      rows.values.push_back(lines.values[k]);
    }
    own.begin.push_back(static_cast<std::int64_t>(own.columns.size()));
    if (foreign.columns.size() == before) continue;
    foreign.numbers.push_back(static_cast<std::int32_t>(r));
    foreign.begin.push_back(static_cast<std::int64_t>(foreign.columns.size()));
  }
}

// A copy of the program's keys.
class [[nodiscard]] KeptInfo {
 public:
  explicit KeptInfo(MPI_Info info) {
    if (info != MPI_INFO_NULL) MPI_Info_dup(info, &info_);
  }
  KeptInfo(KeptInfo&& other) noexcept : info_(std::exchange(other.info_, MPI_INFO_NULL)) {}
  KeptInfo& operator=(KeptInfo other) noexcept {
    std::swap(info_, other.info_);
    return *this;
  }
  ~KeptInfo() {
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }
  MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

// Contributions that go to the owners of their rows as they are: who sends whom how many, and the
// own rows that those which arrive are for, by sender.
class Contributions {
 public:
  Contributions() = default;
  // Collective. `others` ascend, and all have owners.
  Contributions(MPI_Comm comm, const Lines& lines, const std::vector<std::int64_t>& others,
                MPI_Info info) {
    std::vector<int> owners;
    std::vector<MPI_Count> counts;
    const std::vector<Part> parts = parts_of_all(comm, lines);
    for (std::size_t k = 0; k < others.size(); ++k) {
      const int owner =
          std::prev(std::ranges::upper_bound(parts, others[k], {}, &Part::first))->rank;
      if (k == 0 || owners.back() != owner) owners.push_back(owner), counts.push_back(0);
      ++counts.back();
    }
    const auto asked = sparse_alltoallv(comm, owners, counts, others);
    std::vector<MPI_Count> arriving;
    for (const auto& [source, indices] : asked)
      arriving.push_back(static_cast<MPI_Count>(indices.size()));
    for (const std::int64_t index : asked.all())
      rows_.push_back(static_cast<std::int32_t>(index - lines.first));
    std::vector<MPI_Aint> places(others.size());
    std::iota(places.begin(), places.end(), MPI_Aint{0});
    way_ = DistributedVector::from_neighbors(comm, static_cast<std::int64_t>(others.size()),
                                             {owners, counts, places},
                                             {asked.sources(), arriving, {}}, info);
  }

  const DistributedVector& way() const { return way_; }
  std::span<const std::int32_t> rows() const { return rows_; }

 private:
  struct Part {
    std::int64_t first;
    int rank;
  };
  // Of those that own something, ascending.
  static std::vector<Part> parts_of_all(MPI_Comm comm, const Lines& lines) {
    int ranks = 0;
    MPI_Comm_size(comm, &ranks);
    const std::int64_t mine[2] = {lines.first, lines.owned};
    std::vector<std::int64_t> all(2 * static_cast<std::size_t>(ranks));
    MPI_Allgather(mine, 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, comm);
    std::vector<Part> parts;
    for (int r = 0; r < ranks; ++r)
      if (all[2 * static_cast<std::size_t>(r) + 1] > 0)
        parts.push_back({all[2 * static_cast<std::size_t>(r)], r});
    std::ranges::sort(parts, {}, &Part::first);
    return parts;
  }

  DistributedVector way_;
  std::vector<std::int32_t> rows_;
};

// What both products have in common: the local parts, the vector, and an exchange for each number
// of vectors.
class SparseProduct {
 public:
  const DistributedVector& vector() const noexcept { return vector_; }
  std::int64_t owned() const noexcept { return vector_.owned(); }

 protected:
  struct Exchange {
    // The exchange is bound to them; moved as they are, their addresses stay. Of rows `owned` is
    // empty: values of x are sent from where they are.
    // Of columns it has contributions that arrived, one by one or added up for each own row, and
    // then is 0 between products.
    std::vector<double> owned, ghosts;
    std::vector<std::size_t> summed;  // columns: where in `owned` others contribute
    Request request;
  };
  using Arrange = void (*)(const Lines&, const std::vector<std::int64_t>&, LocalRows&, LocalRows&);

  SparseProduct(MPI_Comm comm, const Lines& lines, const char* line, Arrange arrange, MPI_Info info)
      : info_(info) {
    std::string complaint = lines.complaint(line, comm);
    const std::vector<std::int64_t> others =
        complaint.empty() ? lines.others() : std::vector<std::int64_t>{};
    if (others.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
      complaint = "2^31 or more values of other ranks are needed; use more ranks";
    complain_together(comm, complaint);
    vector_ = DistributedVector(comm, lines.first, lines.owned, others, info);
    arrange(lines, others, own_, foreign_);
    if (arrange == turn && vector_.facts().route == std::string_view("direct"))
      contributions_.emplace(comm, lines, others, info);
  }

  template <class Init>
  Exchange& exchange_for(int vectors, Init init) {
    const auto found = exchanges_.find(vectors);
    if (found != exchanges_.end()) return found->second;
    Exchange made;
    made.ghosts.resize(static_cast<std::size_t>(vectors) *
                       static_cast<std::size_t>(vector_.needed()));
    ValueLayout layout;
    layout.vectors = vectors;
    made.request = init(made, layout);
    return exchanges_.emplace(vectors, std::move(made)).first->second;
  }
  // Of x and y; the right ones if they are not too short.
  bool fits(std::span<const double> x, std::span<const double> y, int vectors) const {
    const std::size_t least =
        static_cast<std::size_t>(std::max(vectors, 0)) * static_cast<std::size_t>(owned());
    return x.size() >= least && y.size() >= least;
  }
  [[noreturn]] void refuse(std::span<const double> x, std::span<const double> y,
                           int vectors) const {
    throw Failure(TONARI_ERR_ARGUMENT,
                  "x and y have " + std::to_string(x.size()) + " and " + std::to_string(y.size()) +
                      " values; " + std::to_string(vectors) + " times " + std::to_string(owned()) +
                      " own ones are needed in each");
  }
  static void check_vectors(int vectors) {
    if (vectors < 1)
      throw Failure(TONARI_ERR_ARGUMENT, "vectors is " + std::to_string(vectors) +
                                             "; it must be at least 1, and the same on all ranks");
  }
  std::size_t own_at(int v) const {
    return static_cast<std::size_t>(v) * static_cast<std::size_t>(owned());
  }
  std::size_t ghosts_at(int v) const {
    return static_cast<std::size_t>(v) * static_cast<std::size_t>(vector_.needed());
  }

  KeptInfo info_;
  DistributedVector vector_;
  std::optional<Contributions> contributions_;  // columns, by route direct
  LocalRows own_, foreign_;
  std::map<int, Exchange> exchanges_;
};

}  // namespace detail

class [[nodiscard]] RowParallel : public detail::SparseProduct {
 public:
  // row_begin: owned + 1 entries from 0; columns[row_begin[i]], ...: global indices of row first +
  // i, in any order, repeats are added. Nothing of it is kept but copies.
  RowParallel(MPI_Comm comm, std::int64_t first, std::int64_t owned,
              std::span<const std::int64_t> row_begin, std::span<const std::int64_t> columns,
              std::span<const double> values, MPI_Info info = MPI_INFO_NULL)
      : SparseProduct(comm, {first, owned, row_begin, columns, values}, "row", detail::split,
                      info) {}
  // The rows that were read from a file.
  RowParallel(MPI_Comm comm, const MatrixPart& part, MPI_Info info = MPI_INFO_NULL)
      : RowParallel(comm, part.first, part.owned, part.begin, part.columns, part.values, info) {}

  void multiply(std::span<const double> x, std::span<double> y) { multiply(x, y, 1); }
  // X, Y: one vector of `owned` values after the other. The first call with a number of vectors
  // prepares their exchange.
  void multiply(std::span<const double> X, std::span<double> Y, int vectors) {
    check_vectors(vectors);
    const bool right = fits(X, Y, vectors);
    const std::vector<double> zeros(right ? 0 : own_at(vectors));
    const std::span<const double> x = right ? X.first(own_at(vectors)) : zeros;
    Exchange& e = exchange_for(vectors, [&](Exchange& made, const ValueLayout& layout) {
      return vector_.forward_init(x, std::span(made.ghosts), layout, info_.get());
    });
    e.request.start_with(x.data(), e.ghosts.data());
    for (int v = 0; v < vectors && right; ++v)
      own_.multiply<false>(x.data() + own_at(v), Y.data() + own_at(v));
    e.request.wait();
    if (!right) refuse(X, Y, vectors);
    for (int v = 0; v < vectors; ++v)
      foreign_.multiply<true>(e.ghosts.data() + ghosts_at(v), Y.data() + own_at(v));
  }
};

class [[nodiscard]] ColumnParallel : public detail::SparseProduct {
 public:
  // column_begin: owned + 1 entries from 0; rows[column_begin[i]], ...: global indices of column
  // first + i, in any order, repeats are added. Of a symmetric matrix these are the arrays of
  // RowParallel.
  ColumnParallel(MPI_Comm comm, std::int64_t first, std::int64_t owned,
                 std::span<const std::int64_t> column_begin, std::span<const std::int64_t> rows,
                 std::span<const double> values, MPI_Info info = MPI_INFO_NULL)
      : SparseProduct(comm, {first, owned, column_begin, rows, values}, "column", detail::turn,
                      info) {}
  // The rows of a file as columns: of a symmetric matrix they are the same.
  ColumnParallel(MPI_Comm comm, const MatrixPart& part, MPI_Info info = MPI_INFO_NULL)
      : ColumnParallel(comm, part.first, part.owned, part.begin, part.columns, part.values, info) {}

  void multiply(std::span<const double> x, std::span<double> y) { multiply(x, y, 1); }
  void multiply(std::span<const double> X, std::span<double> Y, int vectors) {
    check_vectors(vectors);
    Exchange& e = exchange_for(
        vectors, [&](Exchange& made, const ValueLayout& layout) { return prepare(made, layout); });
    const bool right = fits(X, Y, vectors);
    if (!right) std::ranges::fill(e.ghosts, 0.0);
    for (int v = 0; v < vectors && right; ++v)
      foreign_.multiply<false>(X.data() + own_at(v), e.ghosts.data() + ghosts_at(v));
    e.request.start();
    for (int v = 0; v < vectors && right; ++v)
      own_.multiply<false>(X.data() + own_at(v), Y.data() + own_at(v));
    e.request.wait();
    add(e, right ? Y : std::span<double>(), vectors);
    if (!right) refuse(X, Y, vectors);
  }

 private:
  Request prepare(Exchange& made, const ValueLayout& layout) {
    if (!contributions_) return prepare_sums(made, layout);
    made.owned.resize(static_cast<std::size_t>(layout.vectors) * contributions_->rows().size());
    return contributions_->way().forward_init(std::span<const double>(made.ghosts),
                                              std::span(made.owned), layout, info_.get());
  }
  // By an exchange of ones, whose sums are where others contribute.
  Request prepare_sums(Exchange& made, const ValueLayout& layout) {
    made.owned.resize(own_at(layout.vectors));
    Request request = vector_.reverse_init(MPI_SUM, std::span<const double>(made.ghosts),
                                           std::span(made.owned), layout, info_.get());
    std::ranges::fill(made.ghosts, 1.0);
    request.start();
    request.wait();
    for (std::size_t at = 0; at < made.owned.size(); ++at)
      if (made.owned[at] > 0) made.summed.push_back(at), made.owned[at] = 0;
    return request;
  }

  // What arrived. An empty Y: it goes nowhere.
  void add(Exchange& e, std::span<double> Y, int vectors) const {
    if (!contributions_) {
      for (const std::size_t at : e.summed) {
        if (!Y.empty()) Y[at] += e.owned[at];
        e.owned[at] = 0;
      }
      return;
    }
    const std::span<const std::int32_t> rows = contributions_->rows();
    for (int v = 0; v < vectors && !Y.empty(); ++v) {
      double* const y = Y.data() + own_at(v);
      const double* const arrived = e.owned.data() + static_cast<std::size_t>(v) * rows.size();
      for (std::size_t k = 0; k < rows.size(); ++k) y[rows[k]] += arrived[k];
    }
  }
};

}  // namespace api0
}  // namespace tonari
