#include "vector/read_values.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "channels/datatype.hpp"
#include "channels/mpi_error.hpp"

namespace tonari {
namespace {

std::size_t bytes_of_type(MPI_Datatype type) {
  const Layout bytes = flatten(1, type);
  MPI_Aint lower = 0, extent = 0;
  check_mpi(MPI_Type_get_extent(type, &lower, &extent), "MPI_Type_get_extent");
  const bool fills = bytes.span() == std::pair<std::ptrdiff_t, std::ptrdiff_t>(0, extent) &&
                     static_cast<std::uint64_t>(extent) == bytes.bytes();
  if (!fills || extent == 0 || lower != 0)
    fail(Errc::argument, "the type of a value has ", bytes.bytes(), " bytes in an extent of ",
         extent, "; it must be one whose bytes are contiguous");
  return bytes.bytes();
}

int number_or_one(int given, const char* what) {
  if (given < 0) fail(Errc::argument, what, " is ", given, "; it must be at least 1, or 0 for 1");
  return std::max(given, 1);
}

// From one vector to the next, in values of the type.
std::int64_t stride_of(std::int64_t given, std::int64_t row, int vectors, const char* what) {
  if (given == 0) return row;
  if (given < 0) fail(Errc::argument, what, "_stride is ", given, "; it must not be negative");
  if (vectors > 1 && given < row)
    fail(Errc::argument, what, "_stride is ", given, ", but each vector has ", row,
         " values there; it must be at least that");
  return given;
}

}  // namespace

void check_apart(const ValueBuffers& b, int vectors) {
  if (b.owned_bytes == 0 || b.ghost_bytes == 0) return;
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> rows;
  for (int v = 0; v < vectors; ++v) {
    const auto own =
        reinterpret_cast<std::uintptr_t>(b.owned) + static_cast<std::size_t>(v) * b.owned_stride;
    const auto ghosts =
        reinterpret_cast<std::uintptr_t>(b.ghosts) + static_cast<std::size_t>(v) * b.ghost_stride;
    rows.emplace_back(own, own + b.owned_bytes);
    rows.emplace_back(ghosts, ghosts + b.ghost_bytes);
  }
  std::ranges::sort(rows);
  for (std::size_t k = 1; k < rows.size(); ++k)
    if (rows[k].first < rows[k - 1].second)
      fail(Errc::buffers, "owned values and ghosts overlap; they must share no byte");
}

VectorValues read_values(const VectorPattern& pattern, const VectorCall& call) {
  const tonari_vector_values given = call.values ? *call.values : tonari_vector_values{};
  const MPI_Datatype type = given.type == MPI_Datatype{} ? MPI_DOUBLE : given.type;
  if (type == MPI_DATATYPE_NULL) fail(Errc::argument, "the type of a value is MPI_DATATYPE_NULL");
  VectorValues read;
  const std::size_t bytes = bytes_of_type(type);
  read.shape.components = number_or_one(given.components, "components");
  read.shape.vectors = number_or_one(given.vectors, "vectors");
  read.shape.width =
      checked_multiply(bytes, static_cast<std::size_t>(read.shape.components), "bytes of an index");
  if (call.direction == Direction::reverse) read.reduction = reduction_of(type, call.op);

  const auto needed = static_cast<std::int64_t>(pattern.needs.size());
  const std::int64_t owned_row =
      checked_multiply<std::int64_t>(pattern.owned, read.shape.components, "values of a vector");
  const std::int64_t ghost_row =
      checked_multiply<std::int64_t>(needed, read.shape.components, "values of a vector");
  const auto in_bytes = [&](std::int64_t values) {
    return checked_multiply(static_cast<std::size_t>(values), bytes, "bytes of a vector");
  };
  ValueBuffers& b = read.buffers;
  b.owned = static_cast<std::byte*>(const_cast<void*>(call.owned)),
  b.ghosts = static_cast<std::byte*>(const_cast<void*>(call.ghosts));
  b.owned_bytes = in_bytes(owned_row), b.ghost_bytes = in_bytes(ghost_row);
  b.owned_stride = in_bytes(stride_of(given.owned_stride, owned_row, read.shape.vectors, "owned"));
  b.ghost_stride = in_bytes(stride_of(given.ghost_stride, ghost_row, read.shape.vectors, "ghost"));
  if (pattern.owned > 0 && !b.owned)
    fail(Errc::argument, "`owned` is NULL, but this rank owns ", pattern.owned,
         pattern.owned == 1 ? " index" : " indices");
  if (needed > 0 && !b.ghosts)
    fail(Errc::argument, "`ghosts` is NULL, but this rank needs ", needed,
         needed == 1 ? " index" : " indices");
  check_apart(b, read.shape.vectors);
  return read;
}

}  // namespace tonari
