// SPDX-License-Identifier: BSD-3-Clause
// tonari's grids for C++20: grid.h with owners, spans and exceptions, and the kernels of
// stencil.hpp. Header only.
//
//   tonari::GridShape shape({256, 256, 256}, 8, MPI_DOUBLE);  // 256^3 cells, ghosts 8 wide
//   shape.storage = TONARI_STORAGE_BRICK, shape.copies = 2;
//   tonari::Grid grid(cart, shape);
//   tonari::Request halo[] = {grid.exchange_init(0), grid.exchange_init(1)};
//   for (int t = 0; t < steps; ++t) {
//     const int old = t % 2, now = 1 - old;
//     tonari::apply(tonari::star<3, 1>(), coefficients, grid.bricks<8, 8, 8>(),
//                   grid.data<double>(0, old), grid.data<double>(0, now), grid.own_bricks());
//     halo[now].start(), halo[now].wait();
//   }
//
// What is collective, what may overlap and which errors there are is said in grid.h; functions that
// fail throw tonari::Failure. The destructor is collective: let grids of one communicator go in the
// same order on all ranks, and their requests before them (declared after the grid they do).
#pragma once

#include <tonari/grid.h>
#include <tonari/stencil.hpp>
#include <tonari/tonari.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace tonari {
inline namespace api0 {

// tonari_grid_shape with its usual members filled in; all of them can be changed afterwards.
struct GridShape : tonari_grid_shape {
  GridShape() : tonari_grid_shape{} {}
  // cells: of the whole grid, one number per dimension; halo: width of the ghosts on every side.
  GridShape(std::initializer_list<std::int64_t> whole, std::int64_t halo, MPI_Datatype cell)
      : tonari_grid_shape{} {
    dims = static_cast<int>(whole.size());
    type = cell;
    std::size_t k = 0;
    for (const std::int64_t n : whole) {
      // what is wrong with dims is said by tonari_grid_create
      if (k == TONARI_GRID_MAX_DIMS) break;
      cells[k] = n, lower[k] = upper[k] = halo;
      ++k;
    }
  }
};

// What this rank will have of a grid: see tonari_grid_shape_cells.
struct LocalCells {
  std::vector<std::int64_t> first, cells;  // of the whole grid, and how many; one per dimension
  std::int64_t length = 0;                 // cells of an array of it, ghosts included
};

// [collective] Before there is a grid, to make the arrays that it will use.
inline LocalCells local_cells(MPI_Comm cart, const tonari_grid_shape& shape, int subdomain = 0) {
  std::array<std::int64_t, TONARI_GRID_MAX_DIMS> first{}, cells{};
  LocalCells local;
  check(
      tonari_grid_shape_cells(cart, &shape, subdomain, first.data(), cells.data(), &local.length));
  local.first.assign(first.begin(), first.begin() + shape.dims);
  local.cells.assign(cells.begin(), cells.begin() + shape.dims);
  return local;
}

class [[nodiscard]] Grid {
 public:
  Grid() = default;
  // arrays: of the program, copies x subdomains x fields, or empty: tonari allocates.
  [[nodiscard]] Grid(MPI_Comm cart, const tonari_grid_shape& shape,
                     std::span<void* const> arrays = {}, MPI_Info info = MPI_INFO_NULL) {
    check(tonari_grid_create(cart, &shape, all(arrays, shape), info, &handle_));
    check(tonari_grid_get_info(handle_, &info_));
    std::array<int, TONARI_GRID_MAX_DIMS> ranks{}, coordinates{};
    MPI_Cart_get(cart, info_.dims, ranks.data(), periodic_.data(), coordinates.data());
    mapped_ghosts_ = shape.mapped_ghosts != 0;
    if (shape.storage == TONARI_STORAGE_ARRAY) return;
    tables_.resize(static_cast<std::size_t>(info_.subdomains));
    for (int s = 0; s < info_.subdomains; ++s)
      check(tonari_grid_get_bricks(handle_, s, &tables_[static_cast<std::size_t>(s)]));
  }
  Grid(Grid&& other) noexcept
      : handle_(std::exchange(other.handle_, TONARI_GRID_NULL)),
        info_(other.info_),
        periodic_(other.periodic_),
        mapped_ghosts_(other.mapped_ghosts_),
        tables_(std::move(other.tables_)) {}
  Grid& operator=(Grid other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(info_, other.info_);
    std::swap(periodic_, other.periodic_);
    std::swap(mapped_ghosts_, other.mapped_ghosts_);
    std::swap(tables_, other.tables_);
    return *this;
  }
  ~Grid() {
    if (handle_) tonari_grid_free(&handle_);
  }

  Request exchange_init(int copy = 0, MPI_Info info = MPI_INFO_NULL) const {
    tonari_request request = TONARI_REQUEST_NULL;
    check(tonari_grid_exchange_init(handle_, copy, info, &request));
    return Request(request);
  }

  // An exchange of some ghosts, and the reverse one, which combines them at their owners; see
  // tonari_grid_forward_init and tonari_grid_reverse_init. The other two do it at once.
  Request forward_init(int copy, const tonari_ghosts& ghosts, MPI_Info info = MPI_INFO_NULL) const {
    tonari_request request = TONARI_REQUEST_NULL;
    check(tonari_grid_forward_init(handle_, copy, &ghosts, info, &request));
    return Request(request);
  }
  Request reverse_init(int copy = 0, MPI_Op op = MPI_SUM, const tonari_ghosts& ghosts = {},
                       MPI_Info info = MPI_INFO_NULL) const {
    tonari_request request = TONARI_REQUEST_NULL;
    check(tonari_grid_reverse_init(handle_, copy, &ghosts, op, info, &request));
    return Request(request);
  }
  void forward(int copy = 0, const tonari_ghosts& ghosts = {}) const {
    check(tonari_grid_forward(handle_, copy, &ghosts));
  }
  void reverse(int copy = 0, MPI_Op op = MPI_SUM, const tonari_ghosts& ghosts = {}) const {
    check(tonari_grid_reverse(handle_, copy, &ghosts, op));
  }

  // Starts an exchange of this grid with other arrays, subdomains x fields; see
  // tonari_grid_start_with.
  void start_with(const Request& request, std::span<void* const> arrays) const {
    if (arrays.size() != static_cast<std::size_t>(info_.subdomains * info_.fields))
      throw Failure(TONARI_ERR_ARGUMENT, "tonari::Grid::start_with: there are " +
                                             std::to_string(arrays.size()) +
                                             " arrays; there must be " +
                                             std::to_string(info_.subdomains * info_.fields));
    check(tonari_grid_start_with(request.handle(), arrays.data()));
  }

  const tonari_grid_info& info() const { return info_; }
  int dims() const { return info_.dims; }
  int subdomains() const { return info_.subdomains; }

  // The base of a field (see tonari_grid_data). T has the size of the grid's cells; else throws
  // Failure.
  template <class T>
  T* data(int subdomain = 0, int copy = 0, int field = 0) const {
    if (sizeof(T) != info_.element_bytes)
      throw Failure(TONARI_ERR_ARGUMENT, "tonari::Grid::data: the grid's cells have " +
                                             std::to_string(info_.element_bytes) + " bytes, not " +
                                             std::to_string(sizeof(T)));
    void* base = nullptr;
    check(tonari_grid_data(handle_, subdomain, copy, field, &base));
    return static_cast<T*>(base);
  }
  // How a subdomain is stored in bricks; valid as long as the grid. With the extents of a brick,
  // bricks<8, 8, 8>(): what kernels take.
  const tonari_bricks& bricks(int subdomain = 0) const {
    if (tables_.empty() || subdomain < 0 || subdomain >= subdomains()) {
      tonari_bricks none;
      check(tonari_grid_get_bricks(handle_, subdomain, &none));  // says what is wrong
    }
    return tables_[static_cast<std::size_t>(subdomain)];
  }
  template <int... E>
    requires(sizeof...(E) > 0)
  Bricks<E...> bricks(int subdomain = 0) const {
    return tonari::bricks<E...>(bricks(subdomain));
  }
  tonari_array array(int subdomain = 0) const {
    tonari_array array;
    check(tonari_grid_get_array(handle_, subdomain, &array));
    return array;
  }
  // Lists for kernels: own cells, those that no neighbor needs, and those that some neighbor needs.
  BrickList own_bricks(int subdomain = 0) const {
    return {0, static_cast<std::int32_t>(bricks(subdomain).own_count)};
  }
  BrickList interior_bricks(int subdomain = 0) const {
    return {0, static_cast<std::int32_t>(bricks(subdomain).interior_count)};
  }
  BrickList surface_bricks(int subdomain = 0) const {
    const tonari_bricks& table = bricks(subdomain);
    return {static_cast<std::int32_t>(table.interior_count),
            static_cast<std::int32_t>(table.own_count)};
  }

  // The first own cell in the whole grid, and the number of own cells.
  std::vector<std::int64_t> first(int subdomain = 0) const {
    std::vector<std::int64_t> first(static_cast<std::size_t>(dims()));
    check(tonari_grid_get_cells(handle_, subdomain, first.data(), nullptr));
    return first;
  }
  std::vector<std::int64_t> cells(int subdomain = 0) const {
    std::vector<std::int64_t> cells(static_cast<std::size_t>(dims()));
    check(tonari_grid_get_cells(handle_, subdomain, nullptr, cells.data()));
    return cells;
  }
  // The steps from one exchange to the next that a stencil of this radius can do in a subdomain,
  // and the cells to compute in each (stencil/expansion.hpp). Sides beyond which the grid ends are
  // left out: ghosts there are the program's. With mapped ghosts, which cannot be computed here, it
  // is one step.
  Expansion expansion(int radius, int subdomain = 0) const {
    const std::vector<std::int64_t> first = this->first(subdomain), own = cells(subdomain);
    std::uint32_t exchanged = 0;
    for (int k = 0; k < dims(); ++k) {
      const auto i = static_cast<std::size_t>(k);
      if (periodic_[i] || first[i] > 0) exchanged |= 1U << (2 * k);
      if (periodic_[i] || first[i] + own[i] < info_.global[k]) exchanged |= 2U << (2 * k);
    }
    if (mapped_ghosts_) return one_step(own, radius, exchanged);
    return tables_.empty() ? Expansion(array(subdomain), radius, exchanged)
                           : Expansion(bricks(subdomain), radius, exchanged);
  }

  // part: TONARI_PART_...
  std::vector<tonari_box> boxes(int part, int subdomain = 0) const {
    int count = 0;
    check(tonari_grid_boxes(handle_, subdomain, part, &count, nullptr));
    std::vector<tonari_box> boxes(static_cast<std::size_t>(count));
    check(tonari_grid_boxes(handle_, subdomain, part, &count, boxes.data()));
    return boxes;
  }

  // A cell, ghosts included. Checked; for loops use data with the layouts.
  template <class T>
  T& at(std::span<const std::int64_t> index, int subdomain = 0, int copy = 0, int field = 0) const {
    if (index.size() != static_cast<std::size_t>(dims()) || sizeof(T) != info_.element_bytes)
      throw Failure(TONARI_ERR_ARGUMENT,
                    "tonari::Grid::at: one index per dimension, and a type of the cells' size");
    void* cell = nullptr;
    check(tonari_grid_at(handle_, subdomain, copy, field, index.data(), &cell));
    return *static_cast<T*>(cell);
  }
  // use(index, cell) for all cells of a part, index: std::span<const std::int64_t>, own cells from
  // 0 on. At the pace of tonari_grid_at.
  template <class T, class Use>
  void for_each_cell(int part, Use use, int subdomain = 0, int copy = 0, int field = 0) const {
    for (const tonari_box& box : boxes(part, subdomain)) {
      std::array<std::int64_t, TONARI_GRID_MAX_DIMS> x{};
      std::copy_n(box.first, dims(), x.begin());
      const auto index = std::span<const std::int64_t>(x).first(static_cast<std::size_t>(dims()));
      for (bool more = true; more; more = next(x, box))
        use(index, at<T>(index, subdomain, copy, field));
    }
  }

  template <class T>
  void import_own(std::span<const T> array, int subdomain = 0, int copy = 0, int field = 0) const {
    check_room(array.size() * sizeof(T), subdomain);
    check(tonari_grid_import(handle_, subdomain, copy, field, nullptr, array.data()));
  }
  template <class T>
  std::vector<T> export_own(int subdomain = 0, int copy = 0, int field = 0) const {
    std::vector<T> array(own_bytes(subdomain) / sizeof(T));
    check_room(array.size() * sizeof(T), subdomain);
    check(tonari_grid_export(handle_, subdomain, copy, field, nullptr, array.data()));
    return array;
  }
  void save(const std::string& filename, int copy = 0, int field = 0) const {
    check(tonari_grid_save(handle_, copy, field, filename.c_str()));
  }
  void load(const std::string& filename, int copy = 0, int field = 0) const {
    check(tonari_grid_load(handle_, copy, field, filename.c_str()));
  }

  tonari_grid handle() const noexcept { return handle_; }  // stays owned

 private:
  // As many as C reads, or none: then all ranks hear what is wrong.
  static void* const* all(std::span<void* const> arrays, const tonari_grid_shape& shape) {
    if (arrays.empty()) return nullptr;
    const auto at_least_1 = [](int n) { return static_cast<std::size_t>(std::max(n, 1)); };
    std::size_t wanted = at_least_1(shape.copies) * at_least_1(shape.fields);
    for (int k = 0; k < shape.dims && k < TONARI_GRID_MAX_DIMS; ++k)
      wanted *= at_least_1(shape.subdomains[k]);
    if (arrays.size() == wanted) return arrays.data();
    detail::Spans::refuse("tonari::Grid: there are " + std::to_string(arrays.size()) +
                          " arrays; there must be " + std::to_string(wanted) +
                          ", one for each copy, subdomain and field");
    return nullptr;
  }
  std::size_t own_bytes(int subdomain) const {
    std::size_t bytes = info_.element_bytes;
    for (const std::int64_t n : cells(subdomain)) bytes *= static_cast<std::size_t>(n);
    return bytes;
  }
  void check_room(std::size_t bytes, int subdomain) const {
    if (bytes != own_bytes(subdomain))
      throw Failure(TONARI_ERR_ARGUMENT, "tonari::Grid: the array has " + std::to_string(bytes) +
                                             " bytes, the subdomain's own cells have " +
                                             std::to_string(own_bytes(subdomain)));
  }
  static Expansion one_step(const std::vector<std::int64_t>& own, int radius,
                            std::uint32_t exchanged) {
    std::vector<std::int64_t> lower(own.size()), upper(own.size());
    for (std::size_t k = 0; k < own.size(); ++k) {
      lower[k] = exchanged >> (2 * k) & 1U ? radius : 0;
      upper[k] = exchanged >> (2 * k + 1) & 1U ? radius : 0;
    }
    return Expansion(own, lower, upper, radius);
  }
  bool next(std::array<std::int64_t, TONARI_GRID_MAX_DIMS>& x, const tonari_box& box) const {
    for (int k = dims() - 1; k >= 0; --k) {
      const auto i = static_cast<std::size_t>(k);
      if (++x[i] < box.end[k]) return true;
      x[i] = box.first[k];
    }
    return false;
  }

  tonari_grid handle_ = TONARI_GRID_NULL;
  tonari_grid_info info_{};
  std::array<int, TONARI_GRID_MAX_DIMS> periodic_{};
  bool mapped_ghosts_ = false;
  std::vector<tonari_bricks> tables_;  // by subdomain; none on arrays
};

}  // namespace api0
}  // namespace tonari
