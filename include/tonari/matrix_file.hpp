// SPDX-License-Identifier: BSD-3-Clause
// Sparse matrices from files, one part of the rows on each rank: what the products of spmv.hpp
// take. Header only.
//
//   const tonari::MatrixPart part = tonari::read_matrix("matrix.mtx", comm);
//   tonari::RowParallel A(comm, part);
//
// Two kinds of files:
//   a Matrix Market file (Boisvert, Pozo and Remington 1996): real, integer or pattern, general,
//     symmetric or skew-symmetric, of coordinates or dense. Rows are divided evenly, whatever the
//     number of ranks. Each rank reads the file and keeps what is its own. The locale of the
//     program does not matter, and numbers may be written as Fortran does (1.5D+00).
//   a folder that `tonari partition` has written for just as many ranks. Each rank reads its part:
//     ranges.npy     int64, P + 1   rank p owns the rows ranges[p] to ranges[p + 1] - 1
//     row_begin.npy  int64, N + 1   row i has the entries row_begin[i] to row_begin[i + 1] - 1
//     columns.npy    int64          column of each entry
//     values.npy     float64        and its value
//     b.npy          float64, N     a right-hand side, if there is one
#pragma once

#include <tonari/matrix/market.hpp>
#include <tonari/matrix/part.hpp>
#include <tonari/tonari.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace tonari {
inline namespace api0 {

namespace detail {

// Collective: runs the work; throws what it threw on the lowest rank on all of them.
template <class Work>
void together(MPI_Comm comm, Work work) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::string sentence;
  try {
    work();
  } catch (const std::exception& error) {
    sentence = error.what();
  }
  int first = sentence.empty() ? ranks : rank;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == ranks) return;
  char text[1024] = "";
  if (rank == first) sentence.copy(text, sizeof text - 1);
  MPI_Bcast(text, sizeof text, MPI_CHAR, first, comm);
  throw Failure(TONARI_ERR_FILE, text);
}

// A one-dimensional array in a .npy file (numpy/lib/format.py); T: int64_t or double, of 8 bytes,
// as they lie in memory.
template <class T>
class NpyArray {
 public:
  explicit NpyArray(const std::filesystem::path& path)
      : path_(path.string()), file_(path, std::ios::binary) {
    if (!file_) complain("it cannot be read; a folder as `tonari partition` writes it has one");
    char start[10] = "";
    if (!file_.read(start, sizeof start) || std::string(start, 6) != "\x93NUMPY" || start[6] < 1 ||
        start[6] > 3)
      complain("it is no .npy file of version 1 to 3");
    std::size_t length =
        static_cast<unsigned char>(start[8]) + 256u * static_cast<unsigned char>(start[9]);
    begin_ = 10;
    if (start[6] > 1) {
      char more[2] = "";
      if (!file_.read(more, sizeof more)) complain("it ends within its header");
      length += 65536u * static_cast<unsigned char>(more[0]) +
                16777216u * static_cast<unsigned char>(more[1]);
      begin_ = 12;
    }
    if (length > 65536) complain("its header is longer than that of any array of one dimension");
    std::string header(length, ' ');
    if (!file_.read(header.data(), static_cast<std::streamsize>(length)))
      complain("it ends within its header");
    begin_ += length;
    read_header(header);
    const auto bytes = std::filesystem::file_size(path);
    const std::uint64_t wanted = begin_ + 8 * static_cast<std::uint64_t>(count_);
    if (bytes != wanted)
      complain("it has " + std::to_string(bytes) + " bytes; its header promises " +
               std::to_string(count_) + " values, which take " + std::to_string(wanted));
  }

  std::int64_t count() const { return count_; }
  std::vector<T> read(std::int64_t first, std::int64_t count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    file_.seekg(static_cast<std::streamoff>(begin_ + 8 * static_cast<std::uint64_t>(first)));
    if (count > 0 && !file_.read(reinterpret_cast<char*>(values.data()),
                                 static_cast<std::streamsize>(8 * count)))
      complain("it cannot be read to its end");
    return values;
  }
  void expect_count(std::int64_t wanted, const char* what) const {
    if (count_ != wanted)
      complain("it has " + std::to_string(count_) + " values; expected are " +
               std::to_string(wanted) + ", " + what);
  }
  [[noreturn]] void complain(const std::string& what) const {
    throw std::runtime_error(path_ + ": " + what);
  }

 private:
  void read_header(const std::string& header) {
    const std::string type = sizeof(T) == 8 && std::is_floating_point_v<T> ? "<f8" : "<i8";
    const auto after = [&](const std::string& key) {
      const std::size_t at = header.find("'" + key + "':");
      if (at == std::string::npos) complain("its header lacks '" + key + "'");
      return header.substr(header.find_first_not_of(' ', at + key.size() + 3));
    };
    if (!after("descr").starts_with("'" + type + "'"))
      complain("its values are of another type; expected is " + type);
    const std::string shape = after("shape");
    const std::size_t digits = shape.find_first_not_of("0123456789", 1);
    if (shape[0] != '(' || digits == 1 || digits > 18 || !shape.substr(digits).starts_with(",)"))
      complain("its shape is not that of an array of one dimension");
    count_ = std::stoll(shape.substr(1, digits - 1));
  }

  std::string path_;
  std::ifstream file_;
  std::uint64_t begin_ = 0;
  std::int64_t count_ = 0;
};

inline void read_ranges(const std::filesystem::path& folder, int rank, int ranks, std::int64_t size,
                        MatrixPart& part) {
  NpyArray<std::int64_t> file(folder / "ranges.npy");
  file.expect_count(ranks + 1, ("one more than there are ranks (" + std::to_string(ranks) +
                                "): run as many ranks as the matrix has parts")
                                   .c_str());
  const std::vector<std::int64_t> ranges = file.read(0, file.count());
  if (ranges.front() != 0 || ranges.back() != size || !std::ranges::is_sorted(ranges))
    file.complain("ranges go from " + std::to_string(ranges.front()) + " to " +
                  std::to_string(ranges.back()) + "; expected are ascending ones from 0 to " +
                  std::to_string(size));
  part.first = ranges[static_cast<std::size_t>(rank)];
  part.owned = ranges[static_cast<std::size_t>(rank) + 1] - part.first;
}

inline void read_rows(const std::filesystem::path& folder, int rank, int ranks, MatrixPart& part) {
  NpyArray<std::int64_t> begin(folder / "row_begin.npy"), columns(folder / "columns.npy");
  NpyArray<double> values(folder / "values.npy");
  if (begin.count() < 1)
    begin.complain("it is empty; expected is one value more than there are rows");
  part.size = begin.count() - 1;
  const std::int64_t entries = begin.read(part.size, 1)[0];
  columns.expect_count(entries, "the last value of row_begin.npy");
  values.expect_count(entries, "the last value of row_begin.npy");
  read_ranges(folder, rank, ranks, part.size, part);
  part.begin = begin.read(part.first, part.owned + 1);
  const std::int64_t base = part.begin.front();
  if (base < 0 || part.begin.back() > entries || !std::ranges::is_sorted(part.begin) ||
      (part.first == 0 && base != 0))
    begin.complain("rows " + std::to_string(part.first) + " to " +
                   std::to_string(part.first + part.owned - 1) +
                   " do not begin in ascending order between 0 and " + std::to_string(entries));
  part.columns = columns.read(base, part.begin.back() - base);
  part.values = values.read(base, part.begin.back() - base);
  for (std::int64_t& at : part.begin) at -= base;
  for (std::size_t k = 0; k < part.columns.size(); ++k) {
    const std::string where = "entry " + std::to_string(base + static_cast<std::int64_t>(k));
    if (part.columns[k] < 0 || part.columns[k] >= part.size)
      columns.complain(where + " is column " + std::to_string(part.columns[k]) +
                       "; expected are columns 0 to " + std::to_string(part.size - 1));
    if (!std::isfinite(part.values[k])) values.complain(where + " is no finite number");
  }
}

inline void read_b(const std::filesystem::path& folder, MatrixPart& part) {
  if (!std::filesystem::exists(folder / "b.npy")) return;
  NpyArray<double> file(folder / "b.npy");
  file.expect_count(part.size, "one for each row");
  part.b = file.read(part.first, part.owned);
  if (!std::ranges::all_of(*part.b, [](double value) { return std::isfinite(value); }))
    file.complain("there is a value that is no finite number");
}

}  // namespace detail

// [collective] `path`: a Matrix Market file, or a folder. Files come from strangers: what is wrong
// with any of them on any rank throws Failure (TONARI_ERR_FILE) on all, with the file and what was
// expected.
inline MatrixPart read_matrix(const std::string& path, MPI_Comm comm) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MatrixPart part;
  detail::together(comm, [&] {
    if (std::filesystem::is_regular_file(path)) {
      const detail::MatrixMarketFile read(path, rank, ranks, part);
    } else {
      detail::read_rows(path, rank, ranks, part);
      detail::read_b(path, part);
    }
  });
  return part;
}

}  // namespace api0
}  // namespace tonari
