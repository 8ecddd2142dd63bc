// SPDX-License-Identifier: BSD-3-Clause
#include "grid/grid_file.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/checked.hpp"
#include "engine/wait/agree.hpp"
#include "grid/file_cells.hpp"
#include "layout/npy_header.hpp"
#include "memory/available.hpp"

namespace tonari {
namespace {

std::vector<std::int64_t> global_shape(const HaloGrid& grid) {
  const Cells whole = grid.shape().parts.global();
  return {whole.begin(), whole.begin() + grid.shape().dims()};
}

std::string shown(const std::vector<std::int64_t>& shape) {
  std::string list = "(";
  for (const std::int64_t n : shape) list += (list.size() > 1 ? ", " : "") + std::to_string(n);
  return list + ")";
}

const std::string& type_name(const HaloGrid& grid) {
  const std::string& name = grid.shape().npy_type;
  if (name.empty())
    fail(Errc::argument,
         "the type of the cells is no predefined number of C that NumPy has, too; only such grids "
         "can be saved and loaded");
  return name;
}

// Rank 0 reads the header; all get it.
NpyHeader header_of(const HaloGrid& grid, const std::string& filename) {
  const MPI_Comm comm = grid.context()->comm();
  std::string begin;
  NpyHeader header;
  run_collectively(comm, [&] {
    if (grid.rank() != 0) return;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(filename.c_str(), "rb"),
                                                               std::fclose);
    if (!file) fail(Errc::file, filename, " cannot be opened: ", std::strerror(errno));
    try {
      begin.resize(npy_prefix);
      begin.resize(std::fread(begin.data(), 1, npy_prefix, file.get()));
      const std::size_t had = begin.size(), bytes = npy_header_bytes(begin);
      begin.resize(std::max(bytes, had));
      begin.resize(had + std::fread(begin.data() + had, 1, begin.size() - had, file.get()));
      header = read_npy_header(begin);
    } catch (const Error& error) {
      fail(error.code(), filename, " cannot be loaded: ", error.what());
    }
  });
  begin = broadcast(comm, begin);
  return read_npy_header(begin);
}

void check_header(const HaloGrid& grid, const std::string& filename, const NpyHeader& header) {
  const std::string& wanted = type_name(grid);
  if (header.type != wanted)
    fail(Errc::file, filename, " has elements of type '", header.type,
         "', but the grid's cells are '", wanted, "'");
  const bool fortran = grid.shape().order == ArrayOrder::fortran;
  if (header.fortran_order && !fortran)
    fail(Errc::file, filename,
         " is in Fortran order; save it in C order (numpy.ascontiguousarray), or give the grid "
         "shape.order TONARI_ORDER_FORTRAN");
  // what has one dimension is in both
  if (!header.fortran_order && fortran && grid.shape().dims() > 1)
    fail(Errc::file, filename,
         " is in C order, but the grid is in Fortran order; save it in that order "
         "(numpy.asfortranarray)");
  if (header.shape != global_shape(grid))
    fail(Errc::file, filename, " has shape ", shown(header.shape), ", but the grid has ",
         shown(global_shape(grid)), " cells");
}

std::uint64_t bytes_of_file(const HaloGrid& grid, std::size_t header) {
  std::uint64_t cells = grid.shape().element_bytes;
  for (const std::int64_t n : global_shape(grid))
    cells =
        checked_multiply<std::uint64_t>(cells, static_cast<std::uint64_t>(n), "bytes of the grid");
  return checked_add<std::uint64_t>(header, cells, "bytes of the grid");
}

// Any rank may write any part of it, for others, too.
void check_limit(const HaloGrid& grid, const std::string& filename, std::size_t header) {
  const std::uint64_t bytes = bytes_of_file(grid, header), most = file_limit();
  if (bytes > most)
    fail(Errc::file, filename, " cannot be written: it would have ", bytes,
         " bytes, but files of rank ", grid.rank(), " may have ", most,
         " (RLIMIT_FSIZE); raise that by `ulimit -f unlimited`");
}

void check_length(const HaloGrid& grid, MpiFile& file, const std::string& filename,
                  std::size_t header) {
  MPI_Offset bytes = 0;
  file.check(MPI_File_get_size(file.get(), &bytes), "measured");
  const std::uint64_t expected = bytes_of_file(grid, header);
  if (static_cast<std::uint64_t>(bytes) != expected)
    fail(Errc::file, filename, " has ", bytes, " bytes, but its header describes ", expected,
         "; it was cut off or appended to");
}

}  // namespace

void save_npy(const HaloGrid& grid, int copy, int field, const std::string& filename) {
  const MPI_Comm comm = grid.context()->comm();
  std::string header;
  run_collectively(comm, [&] {
    header = write_npy_header(type_name(grid), grid.shape().order == ArrayOrder::fortran,
                              global_shape(grid));
    check_limit(grid, filename, header.size());
  });
  const std::string unfinished =
      broadcast(comm, text(filename, ".", this_process(), ".unfinished"));
  const std::optional<Error> error = error_of([&] {
    MpiFile file(comm, unfinished, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    const int cut = MPI_File_set_size(file.get(), 0);
    // Before anyone writes: each rank of Intel MPI cuts the file when it gets here.
    run_collectively(comm, [&] { file.check(cut, "emptied"); });
    run_collectively(comm, [&] {
      if (grid.rank() == 0)
        file.check(MPI_File_write_at(file.get(), 0, header.data(), static_cast<int>(header.size()),
                                     MPI_BYTE, MPI_STATUS_IGNORE),
                   "written");
    });
    write_cells(grid, copy, field, file, header.size());
    file.close(comm);
  });  // all that throws there does so on all ranks
  const std::optional<Error> renamed = error_of([&] {
    if (error) throw *error;
    if (grid.rank() == 0 && std::rename(unfinished.c_str(), filename.c_str()) != 0)
      fail(Errc::file, filename, " cannot be written: ", std::strerror(errno));
  });
  if (renamed && grid.rank() == 0) std::remove(unfinished.c_str());
  agree(comm, renamed);
}

void load_npy(HaloGrid& grid, int copy, int field, const std::string& filename) {
  const MPI_Comm comm = grid.context()->comm();
  const NpyHeader header = header_of(grid, filename);
  run_collectively(comm, [&] { check_header(grid, filename, header); });
  MpiFile file(comm, filename, MPI_MODE_RDONLY);
  run_collectively(comm, [&] { check_length(grid, file, filename, header.bytes); });
  read_cells(grid, copy, field, file, header.bytes);
}

}  // namespace tonari
