// SPDX-License-Identifier: BSD-3-Clause
#include "grid/grid_file.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/checked.hpp"
#include "engine/wait/agree.hpp"
#include "grid/npy_header.hpp"
#include "memory/available.hpp"

namespace tonari {
namespace {

std::string reason(int code) {
  char words[MPI_MAX_ERROR_STRING];
  int length = 0;
  return MPI_Error_string(code, words, &length) == MPI_SUCCESS
             ? std::string(words, static_cast<std::size_t>(length))
             : text("error ", code);
}

// A file that all ranks have open; errors are sentences with its name.
class SharedFile {
 public:
  // Collective. Throws the same on all ranks if some cannot open it: MPI says so on those alone,
  // and what others have open then cannot be closed together.
  SharedFile(MPI_Comm comm, std::string name, int mode) : name_(std::move(name)) {
    MPI_File opened = MPI_FILE_NULL;
    stay_together(comm);
    const int code = MPI_File_open(comm, name_.c_str(), mode, MPI_INFO_NULL, &opened);
    run_collectively(comm, [&] { check(code, "opened"); });
    file_ = opened;
  }
  ~SharedFile() {
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
  }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  MPI_File get() const { return file_; }
  void check(int code, const char* what) const {
    if (code != MPI_SUCCESS) fail(Errc::file, name_, " cannot be ", what, ": ", reason(code));
  }
  // Collective; throws the same on all ranks.
  void close(MPI_Comm comm) {
    const int code = MPI_File_close(&file_);
    file_ = MPI_FILE_NULL;
    run_collectively(comm, [&] { check(code, "closed"); });
  }

 private:
  std::string name_;
  MPI_File file_ = MPI_FILE_NULL;
};

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

// Collective. use(subdomain, buffer), where the buffer is as large as the subdomain, returns a code
// of MPI.
template <class Use>
void for_each_subdomain(const HaloGrid& grid, const SharedFile& file, Use use) {
  const MPI_Comm comm = grid.context()->comm();
  for (int s = 0; s < grid.subdomains(); ++s) {
    std::vector<std::byte> buffer;
    run_collectively(comm, [&] {
      buffer.resize(static_cast<std::size_t>(cells_of(grid, s)) * grid.shape().element_bytes);
    });
    const int code = use(s, buffer);
    run_collectively(comm, [&] { file.check(code, "transferred"); });
  }
}

// Each rank transfers its own cells, run by run, by MPI_File_write_at or MPI_File_read_at. Writing
// together is no choice: MPI_File_write_all of Open MPI 4.1.4 left garbage in files of grids on a
// busy machine, as in open-mpi/ompi#12718. In bytes, since Intel MPI 2021.19 writes a type of ours
// wrong with the standard ABI.
template <class Transfer>
int transfer_runs(const HaloGrid& grid, int subdomain, const SharedFile& file, std::size_t begin,
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

void check_length(const HaloGrid& grid, SharedFile& file, const std::string& filename,
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
    SharedFile file(comm, unfinished, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    const int cut = MPI_File_set_size(file.get(), 0);
    // Before anyone writes: each rank of Intel MPI cuts the file when it gets here.
    run_collectively(comm, [&] { file.check(cut, "emptied"); });
    run_collectively(comm, [&] {
      if (grid.rank() == 0)
        file.check(MPI_File_write_at(file.get(), 0, header.data(), static_cast<int>(header.size()),
                                     MPI_BYTE, MPI_STATUS_IGNORE),
                   "written");
    });
    for_each_subdomain(grid, file, [&](int s, std::vector<std::byte>& buffer) {
      std::byte* to = buffer.data();
      grid.for_each_piece(s, copy, field, own_cells(grid, s),
                          [&](const std::byte* at, std::size_t bytes) {
                            std::memcpy(std::exchange(to, to + bytes), at, bytes);
                          });
      return transfer_runs(grid, s, file, header.size(), buffer, MPI_File_write_at);
    });
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
  SharedFile file(comm, filename, MPI_MODE_RDONLY);
  run_collectively(comm, [&] { check_length(grid, file, filename, header.bytes); });
  for_each_subdomain(grid, file, [&](int s, std::vector<std::byte>& buffer) {
    const int code = transfer_runs(grid, s, file, header.bytes, buffer, MPI_File_read_at);
    const std::byte* from = buffer.data();
    if (code == MPI_SUCCESS)
      grid.for_each_piece(s, copy, field, own_cells(grid, s),
                          [&](std::byte* at, std::size_t bytes) {
                            std::memcpy(at, std::exchange(from, from + bytes), bytes);
                          });
    return code;
  });
}

}  // namespace tonari
