// SPDX-License-Identifier: BSD-3-Clause
#include "vector/read_call.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/hash.hpp"
#include "mpi/datatype.hpp"
#include "request/buffer.hpp"

namespace tonari {
namespace {

std::size_t bytes_of_type(MPI_Datatype type) {
  const Layout bytes = flatten(1, type);
  const auto [lower, extent] = extent_of(type);
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

struct ByteRange {
  std::uintptr_t begin, end;
};

[[noreturn]] void fail_overlap() {
  fail(Errc::buffers, "owned values and ghosts overlap; they must share no byte");
}

// Of places in one vector: whether they share bytes.
bool share_bytes(ByteRange owned, ByteRange ghosts, const ListedPlaces& listed, std::size_t width) {
  const auto bytes = [&](const PlaceRun& run, std::uintptr_t base) {
    return ByteRange{base + static_cast<std::size_t>(run.begin) * width,
                     base + static_cast<std::size_t>(run.end) * width};
  };
  for (std::size_t i = 0, j = 0; i < listed.owned.size() && j < listed.ghosts.size();) {
    const ByteRange a = bytes(listed.owned[i], owned.begin),
                    b = bytes(listed.ghosts[j], ghosts.begin);
    if (a.begin < b.end && b.begin < a.end) return true;
    ++(a.end <= b.begin ? i : j);
  }
  return false;
}

// Rows of bytes, one per vector and field. None may lie over another, but where the program lists
// places: in one array, owned values and ghosts may lie in between each other.
class Rows {
 public:
  explicit Rows(const VectorPattern& pattern) : pattern_(pattern) {}

  // Whether owned values and ghosts have places in common.
  bool add(const ValueField& field) {
    bool in_place = false;
    const ValueBuffers& b = field.buffers;
    for (int v = 0; v < field.extent.vectors; ++v) {
      const ByteRange own = row(b.owned, b.owned_stride, v, pattern_.owned, field.extent.width),
                      ghosts = row(b.ghosts, b.ghost_stride, v, pattern_.ghost_count,
                                   field.extent.width);
      if (pattern_.listed && own.begin < ghosts.end && ghosts.begin < own.end) {
        rows_.push_back({std::min(own.begin, ghosts.begin), std::max(own.end, ghosts.end)});
        if (own.begin == ghosts.begin)
          in_place = in_place || pattern_.listed->meet;
        else if (share_bytes(own, ghosts, *pattern_.listed, field.extent.width))
          fail_overlap();
      } else {
        rows_.push_back(own);
        rows_.push_back(ghosts);
      }
    }
    return in_place;
  }

  void check() {
    std::erase_if(rows_, [](const ByteRange& row) { return row.begin == row.end; });
    std::ranges::sort(rows_, {}, &ByteRange::begin);
    for (std::size_t k = 1; k < rows_.size(); ++k)
      if (rows_[k].begin < rows_[k - 1].end) fail_overlap();
  }

 private:
  static ByteRange row(const std::byte* base, std::size_t stride, int vector, std::int64_t indices,
                       std::size_t width) {
    const auto begin =
        reinterpret_cast<std::uintptr_t>(base) + static_cast<std::size_t>(vector) * stride;
    return {begin, begin + static_cast<std::size_t>(indices) * width};
  }

  const VectorPattern& pattern_;
  std::vector<ByteRange> rows_;
};

struct ReadField {
  ValueField field;
  int reduction = 0;
  std::size_t number = 0;  // in the program's list
};

ReadField read_field(const VectorPattern& pattern, const VectorCall& call,
                     const tonari_vector_field& given_field) {
  if (!reserved_is_zero(given_field)) fail(Errc::argument, "reserved is not 0; start from {0}");
  const tonari_vector_values& given = given_field.values;
  const MPI_Datatype type = given.type == MPI_Datatype{} ? MPI_DOUBLE : given.type;
  if (type == MPI_DATATYPE_NULL) fail(Errc::argument, "the type of a value is MPI_DATATYPE_NULL");
  ReadField read;
  ValueExtent& extent = read.field.extent;
  const std::size_t bytes = bytes_of_type(type);
  extent.components = number_or_one(given.components, "components");
  extent.vectors = number_or_one(given.vectors, "vectors");
  extent.width =
      checked_multiply(bytes, static_cast<std::size_t>(extent.components), "bytes of an index");
  if (call.direction != Direction::forward) {
    const Reduction reduction = reduction_of(type, call.op);
    read.field.combine = reduction.combine, read.field.combine_move = reduction.combine_move;
    read.reduction = reduction.number;
  }

  const std::int64_t needed = pattern.ghost_count;
  const std::int64_t owned_row =
      checked_multiply<std::int64_t>(pattern.owned, extent.components, "values of a vector");
  const std::int64_t ghost_row =
      checked_multiply<std::int64_t>(needed, extent.components, "values of a vector");
  const auto in_bytes = [&](std::int64_t values) {
    return checked_multiply(static_cast<std::size_t>(values), bytes, "bytes of a vector");
  };
  in_bytes(owned_row), in_bytes(ghost_row);  // fit
  ValueBuffers& b = read.field.buffers;
  b.owned = static_cast<std::byte*>(given_field.owned),
  b.ghosts = static_cast<std::byte*>(given_field.ghosts);
  b.owned_stride = in_bytes(stride_of(given.owned_stride, owned_row, extent.vectors, "owned"));
  b.ghost_stride = in_bytes(stride_of(given.ghost_stride, ghost_row, extent.vectors, "ghost"));
  require_usable(b.owned, "owned"), require_usable(b.ghosts, "ghosts");
  if (pattern.owned > 0 && !b.owned)
    fail(Errc::argument, "`owned` is NULL, but this rank owns ", pattern.owned,
         pattern.owned == 1 ? " index" : " indices");
  if (needed > 0 && !b.ghosts)
    fail(Errc::argument, "`ghosts` is NULL, but this rank needs ", needed,
         needed == 1 ? " index" : " indices");
  return read;
}

// Types that are not a multiple of 8 bytes long come last, so that all lie in messages as they
// must for arithmetic.
void order_fields(std::vector<ReadField>& fields) {
  std::ranges::stable_partition(
      fields, [](const ReadField& read) { return read.field.extent.width % 8 == 0; });
}

}  // namespace

bool reserved_is_zero(const tonari_vector_field& field) {
  const auto zero = [](std::int64_t word) { return word == 0; };
  return std::ranges::all_of(field.values.reserved, zero) &&
         std::ranges::all_of(field.reserved, zero);
}

VectorPattern places_of(const VectorPattern& pattern) {
  VectorPattern places;
  places.owned = pattern.owned, places.ghost_count = pattern.ghost_count;
  places.listed = pattern.listed;
  return places;
}

void check_apart(const VectorPattern& places, const ValueField& field) {
  Rows rows(places);
  if (rows.add(field)) fail_overlap();
  rows.check();
}

VectorValues read_values(const VectorPattern& pattern, const VectorCall& call) {
  if (call.count < 1) fail(Errc::argument, "`fields` is ", call.count, "; it must be at least 1");
  if (!call.fields) fail(Errc::argument, "`field` is NULL, but `fields` is ", call.count);
  std::vector<ReadField> read;
  for (int f = 0; f < call.count; ++f) {
    read.push_back(read_field(pattern, call, call.fields[f]));
    read.back().number = static_cast<std::size_t>(f);
  }
  order_fields(read);
  VectorValues values;
  Rows rows(pattern);
  Hash widths, vectors, reductions;
  for (const ReadField& r : read) {
    values.fields.push_back(r.field), values.numbers.push_back(r.number);
    values.in_place = rows.add(r.field) || values.in_place;
    widths.word(r.field.extent.width);
    vectors.word(static_cast<std::uint64_t>(r.field.extent.vectors));
    reductions.word(static_cast<std::uint64_t>(r.reduction));
  }
  rows.check();
  if (values.in_place && call.direction == Direction::combine)
    fail(Errc::argument,
         "owned values and ghosts have places in common; what is combined at an owner's place has "
         "one result only if none of its places is a ghost");
  values.widths = widths.value(), values.vectors = vectors.value(),
  values.reductions = reductions.value();
  return values;
}

std::array<Alike, 5> alike(Direction direction, const VectorValues& values) {
  return {Alike{static_cast<std::uint64_t>(direction), different_directions},
          Alike{values.fields.size(),
                "ranks gave different numbers of fields; it must be the same number on all ranks"},
          Alike{values.widths, different_widths}, Alike{values.vectors, different_vectors},
          Alike{values.reductions, different_reductions}};
}

}  // namespace tonari
