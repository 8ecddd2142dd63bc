// SPDX-License-Identifier: BSD-3-Clause
#include "grid/file_cells.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "engine/wait/agree.hpp"
#include "grid/cell_copies.hpp"

namespace tonari {
namespace {

// use(cell of the file where it begins, cells) for each run of a subdomain's own cells that follow
// one another in a file of the whole grid, in the order of HaloGrid::for_each_piece.
template <class Use>
void for_each_run(const HaloGrid& grid, int subdomain, Use use) {
  const GridShape& shape = grid.shape();
  const Cells whole = shape.parts.global(), first = shape.parts.first(grid.rank(), subdomain);
  const auto& own = grid.box(subdomain).own;
  const int dims = shape.dims();
  std::array<int, most_surface_dims> order{};  // of dimensions, from the fastest
  std::array<std::int64_t, most_surface_dims> stride{};
  std::int64_t cells = 1, begin = 0;
  for (int k = 0; k < dims; ++k) {
    const int d = order[k] = shape.order == ArrayOrder::fortran ? k : dims - 1 - k;
    stride[k] = cells;
    begin += first[d] * cells;
    cells *= whole[d];
  }
  std::int64_t run = own[order[0]], runs = 1;
  int inside = 1;  // dimensions inside of a run
  while (inside < dims && own[order[inside - 1]] == whole[order[inside - 1]])
    run *= own[order[inside++]];
  for (int k = inside; k < dims; ++k) runs *= own[order[k]];
  for (std::int64_t r = 0; r < runs; ++r) {
    std::int64_t at = begin, rest = r;
    for (int k = inside; k < dims; rest /= own[order[k++]]) at += rest % own[order[k]] * stride[k];
    use(at, run);
  }
}

CellBox own_cells(const HaloGrid& grid, int subdomain) { return {{}, grid.box(subdomain).own}; }

int cells_of(const HaloGrid& grid, int subdomain) {
  return checked_cast<int>(count(own_cells(grid, subdomain), grid.shape().dims()),
                           "cells of a subdomain in a file");
}

// Collective. For each subdomain it calls before(s, buffer), whose buffer is as large as that,
// transfer(s, buffer), which returns a code of MPI, and after(s, buffer).
template <class Before, class Transfer, class After>
void for_each_subdomain(const HaloGrid& grid, const MpiFile& file, Before before, Transfer transfer,
                        After after) {
  const MPI_Comm comm = grid.context()->comm();
  for (int s = 0; s < grid.subdomains(); ++s) {
    std::vector<std::byte> buffer;
    run_collectively(comm, [&] {
      buffer.resize(static_cast<std::size_t>(cells_of(grid, s)) * grid.shape().element_bytes);
      before(s, buffer);
    });
    const int code = transfer(s, buffer);
    run_collectively(comm, [&] {
      file.check(code, "transferred");
      after(s, buffer);
    });
  }
}

// Each rank transfers its own cells, run by run, by MPI_File_write_at or MPI_File_read_at. Writing
// together is no choice: MPI_File_write_all of Open MPI 4.1.4 left garbage in files of grids on a
// busy machine, as in open-mpi/ompi#12718. In bytes, since Intel MPI 2021.19 writes a type of ours
// wrong with the standard ABI.
template <class Transfer>
int transfer_runs(const HaloGrid& grid, int subdomain, const MpiFile& file, std::size_t begin,
                  std::vector<std::byte>& buffer, Transfer transfer) {
  constexpr std::size_t most = std::size_t{1} << 30;  // bytes that MPI counts by an int
  const std::size_t bytes = grid.shape().element_bytes;
  std::byte* at = buffer.data();
  int code = MPI_SUCCESS;
  for_each_run(grid, subdomain, [&](std::int64_t cell, std::int64_t cells) {
    std::size_t offset = begin + static_cast<std::size_t>(cell) * bytes, part = 0;
    for (std::size_t left = static_cast<std::size_t>(cells) * bytes; left > 0; left -= part) {
      part = std::min(left, most);
      if (code == MPI_SUCCESS)
        code = transfer(file.get(), static_cast<MPI_Offset>(offset), at, static_cast<int>(part),
                        MPI_BYTE, MPI_STATUS_IGNORE);
      offset += part, at += part;
    }
  });
  return code;
}

}  // namespace

void write_cells(const HaloGrid& grid, int copy, int field, const MpiFile& file,
                 std::size_t begin) {
  for_each_subdomain(
      grid, file,
      [&](int s, std::vector<std::byte>& buffer) {
        read_box(grid, s, copy, field, own_cells(grid, s), buffer.data());
      },
      [&](int s, std::vector<std::byte>& buffer) {
        return transfer_runs(grid, s, file, begin, buffer, MPI_File_write_at);
      },
      [](int, const std::vector<std::byte>&) {});
}

void read_cells(HaloGrid& grid, int copy, int field, const MpiFile& file, std::size_t begin) {
  for_each_subdomain(
      grid, file, [](int, const std::vector<std::byte>&) {},
      [&](int s, std::vector<std::byte>& buffer) {
        return transfer_runs(grid, s, file, begin, buffer, MPI_File_read_at);
      },
      [&](int s, const std::vector<std::byte>& buffer) {
        write_box(grid, s, copy, field, own_cells(grid, s), buffer.data());
      });
}

}  // namespace tonari
