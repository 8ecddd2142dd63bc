// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/datatype.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "mpi/large_type.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/owned_comm.hpp"
#include "mpi/owned_type.hpp"
#include "mpi/type_recipe.hpp"

namespace tonari {

TypeExtent extent_of(MPI_Datatype type) {
  MPI_Aint low = 0, length = 0;
  check_mpi(MPI_Type_get_extent(type, &low, &length), "MPI_Type_get_extent");
  return {low, length};
}

namespace {

Layout bytes(MPI_Count length) {
  Layout layout;
  layout.add(0, static_cast<std::size_t>(length));
  return layout;
}

// ---- sizes and distances that fit

// ranks can compare such sizes, and add two of them
constexpr Bytes most_bytes = std::numeric_limits<std::ptrdiff_t>::max() / 2;

// The number of bytes from low up to high.
struct ByteSpan {
  std::ptrdiff_t low = 0, high = 0;
};

// The span of `count` copies, the first displaced by `offset`, each next one by `stride` more
// bytes.
ByteSpan repeated(const ByteSpan& one, std::ptrdiff_t offset, std::ptrdiff_t count,
                  std::ptrdiff_t stride) {
  const std::ptrdiff_t all =
      checked_multiply<std::ptrdiff_t>(stride, count - 1, "span of a datatype");
  const std::ptrdiff_t last = checked_add(offset, all, "displacement in a datatype");
  return {checked_add(one.low, std::min(offset, last), "first byte of a datatype"),
          checked_add(one.high, std::max(offset, last), "last byte of a datatype")};
}

ByteSpan united(const ByteSpan& a, const ByteSpan& b) {
  const ByteSpan both{std::min(a.low, b.low), std::max(a.high, b.high)};
  checked_subtract(both.high, both.low, "span of a datatype");
  return both;
}

// The size with its bytes and with its bounds. A type may have no bytes between its bounds, and
// some beyond them.
ByteSpan marked_span(const Layout& bytes, const TypeExtent& bounds) {
  const std::ptrdiff_t end = checked_add(bounds.low, bounds.length, "upper bound of a datatype");
  const ByteSpan marked{std::min(bounds.low, end), std::max(bounds.low, end)};
  if (bytes.bytes() == 0) return marked;
  const auto [low, high] = bytes.span();
  return united(marked, {low, high});
}

void check_bytes(Bytes before, Bytes element, std::ptrdiff_t count) {
  constexpr const char* what = "bytes of a datatype";
  const Bytes all =
      checked_add(before, checked_multiply<Bytes>(element, static_cast<Bytes>(count), what), what);
  if (all > most_bytes)
    fail(Errc::overflow, what, ": ", all, " does not fit; the most is ", most_bytes);
}

// ---- copies

// Tells whether copies at this distance continue the run at its stride.
bool continues(const Run& run, std::ptrdiff_t distance) {
  std::ptrdiff_t next = 0;
  return !__builtin_mul_overflow(run.stride, static_cast<std::ptrdiff_t>(run.count), &next) &&
         next == distance;
}

// Appends `count` copies of `element`, the first displaced by `offset`, each next one by `stride`
// more bytes. All of it fits.
void add_elements(Layout& layout, const Layout& element, std::ptrdiff_t offset,
                  std::ptrdiff_t count, std::ptrdiff_t stride) {
  if (element.bytes() == 0) return;
  if (element.runs().size() == 1) {
    const Run& run = element.runs()[0];
    if (run.count == 1)
      return layout.add({offset + run.offset, run.length, stride, static_cast<std::size_t>(count)});
    if (continues(run, stride))
      return layout.add({offset + run.offset, run.length, run.stride,
                         run.count * static_cast<std::size_t>(count)});
  }
  for (std::ptrdiff_t i = 0; i < count; ++i) layout.add(element, offset + i * stride);
}

// The bytes of a type that is being put together from copies of others, and how far it reaches.
class Body {
 public:
  Body() = default;
  Body(Layout bytes, const TypeExtent& bounds)
      : bytes_(std::move(bytes)), span_(marked_span(bytes_, bounds)), empty_(false) {}

  // Where something does not fit, MPI's own numbers wrap around, too. So no extent of a type that
  // passed this check is wrong.
  void add(const Body& part, std::ptrdiff_t offset, std::ptrdiff_t count, std::ptrdiff_t stride) {
    if (count <= 0 || part.empty_) return;
    const ByteSpan copies = repeated(part.span_, offset, count, stride);
    span_ = united(empty_ ? copies : span_, copies);
    empty_ = false;
    check_bytes(bytes_.bytes(), part.bytes_.bytes(), count);
    add_elements(bytes_, part.bytes_, offset, count, stride);
  }
  Layout take() { return std::move(bytes_); }

 private:
  Layout bytes_;
  ByteSpan span_;
  bool empty_ = true;
};

Layout element_of(MPI_Datatype type);

enum class Unit { byte, extent };

// The type whose blocks, of this many elements each, the recipe takes.
class Blocks {
 public:
  explicit Blocks(MPI_Datatype type) : Blocks(type, extent_of(type)) {}

  std::ptrdiff_t extent() const { return extent_; }
  std::ptrdiff_t in_bytes(std::ptrdiff_t distance, Unit unit) const {
    return unit == Unit::byte ? distance
                              : checked_multiply(distance, extent_, "displacement in a datatype");
  }
  void add(Body& body, std::ptrdiff_t offset, std::ptrdiff_t length) const {
    body.add(element_, offset, length, extent_);
  }

 private:
  Blocks(MPI_Datatype type, const TypeExtent& bounds)
      : element_(element_of(type), bounds), extent_(bounds.length) {}

  Body element_;
  std::ptrdiff_t extent_;
};

using Arguments = std::span<const std::ptrdiff_t>;

// count
Body contiguous(Arguments a, const Blocks& blocks) {
  Body body;
  blocks.add(body, 0, a[0]);
  return body;
}

// count, length, stride
Body vector(Arguments a, const Blocks& blocks, Unit unit) {
  Body block, body;
  blocks.add(block, 0, a[1]);
  body.add(block, 0, a[0], a[0] > 1 ? blocks.in_bytes(a[2], unit) : 0);
  return body;
}

// count, then the lengths, then the displacements
Body indexed(Arguments a, const Blocks& blocks, Unit unit) {
  Body body;
  const std::ptrdiff_t count = a[0];
  for (std::ptrdiff_t i = 1; i <= count; ++i)
    if (a[i] > 0) blocks.add(body, blocks.in_bytes(a[count + i], unit), a[i]);
  return body;
}

// count, length, then the displacements
Body indexed_block(Arguments a, const Blocks& blocks, Unit unit) {
  Body body;
  if (a[1] == 0) return body;
  for (std::ptrdiff_t displacement : a.subspan(2))
    blocks.add(body, blocks.in_bytes(displacement, unit), a[1]);
  return body;
}

// count, then the lengths, then the displacements in bytes
Body structure(Arguments a, std::span<const Part> parts) {
  Body body;
  const std::ptrdiff_t count = a[0];
  for (std::ptrdiff_t i = 1; i <= count; ++i) {
    if (a[i] > 0) Blocks(parts[i - 1].get()).add(body, a[count + i], a[i]);
  }
  return body;
}

// A slab of an array repeats the same lines along the next slower dimension; slabs are made from
// the fastest dimension on.
//
// in_dimension(slab, line, i, stride) appends the lines of dimension i, which are stride bytes
// apart.
template <class InDimension>
Body array(Arguments sizes, bool last_is_fastest, const Blocks& blocks, InDimension in_dimension) {
  const std::size_t d = sizes.size();
  Body line;
  blocks.add(line, 0, 1);
  std::ptrdiff_t stride = blocks.extent();
  for (std::size_t k = 0; k < d; ++k) {
    const std::size_t i = last_is_fastest ? d - 1 - k : k;
    const std::ptrdiff_t all = checked_multiply(stride, sizes[i], "extent of an array");
    Body slab;
    in_dimension(slab, line, i, stride);
    line = std::move(slab);
    stride = all;
  }
  return line;
}

// dimensions, sizes, subsizes, starts, order; of a type with large counts: dimensions, order,
// sizes, subsizes, starts
Body subarray(Arguments a, const Blocks& blocks, bool large) {
  const std::size_t d = a[0];
  const std::ptrdiff_t order = a[large ? 1 : 1 + 3 * d];
  const Arguments shape = a.subspan(large ? 2 : 1);
  const Arguments sizes = shape.first(d), subsizes = shape.subspan(d, d),
                  starts = shape.subspan(2 * d, d);
  return array(sizes, order == MPI_ORDER_C, blocks,
               [&](Body& slab, const Body& line, std::size_t i, std::ptrdiff_t stride) {
                 slab.add(line, starts[i] * stride, subsizes[i], stride);
               });
}

// How many neighboring lines of a distributed dimension go to one rank before the next rank's turn;
// never more than there are.
std::ptrdiff_t lines_per_turn(std::ptrdiff_t distribution, std::ptrdiff_t argument,
                              std::ptrdiff_t size, std::ptrdiff_t ranks) {
  if (distribution == MPI_DISTRIBUTE_NONE) return size;
  if (argument != MPI_DISTRIBUTE_DFLT_DARG) return std::min(argument, size);
  return distribution == MPI_DISTRIBUTE_BLOCK ? (size - 1) / ranks + 1 : 1;
}

// ranks, rank, dimensions, sizes, distributions, their arguments, grid of ranks, order; with large
// counts the sizes come last
Body distributed_array(Arguments a, const Blocks& blocks, bool large) {
  const std::size_t d = a[2];
  const Arguments rest = a.subspan(large ? 3 : 3 + d);
  const Arguments distributions = rest.first(d), arguments = rest.subspan(d, d),
                  grid = rest.subspan(2 * d, d);
  const std::ptrdiff_t order = rest[3 * d];
  const Arguments sizes = large ? rest.subspan(3 * d + 1, d) : a.subspan(3, d);
  std::vector<std::ptrdiff_t> coordinates(d);  // the grid is in C order always
  for (std::ptrdiff_t rank = a[1], i = static_cast<std::ptrdiff_t>(d) - 1; i >= 0;
       rank /= grid[i], --i)
    coordinates[i] = rank % grid[i];
  return array(sizes, order == MPI_ORDER_C, blocks,
               [&](Body& slab, const Body& line, std::size_t i, std::ptrdiff_t stride) {
                 const std::ptrdiff_t turn =
                     lines_per_turn(distributions[i], arguments[i], sizes[i], grid[i]);
                 const std::ptrdiff_t round = checked_multiply(grid[i], turn, "lines of an array");
                 for (std::ptrdiff_t left = sizes[i] - coordinates[i] * turn; left > 0;
                      left -= round)
                   slab.add(line, (sizes[i] - left) * stride, std::min(turn, left), stride);
               });
}

// A type without parts.
Layout basic(MPI_Datatype type) {
  const MPI_Count size = size_of_type(type);
  const TypeExtent extent = extent_of(type);
  if (extent.low == 0 && extent.length == size) return bytes(size);
  return flatten_by_packing(type);  // a pair with a gap, such as MPI_SHORT_INT
}

Layout element_of(MPI_Datatype type) {
  const Recipe recipe = recipe_of(type);
  const Arguments a = recipe.arguments;
  const auto part = [&] { return recipe.parts[0].get(); };
  const auto blocks = [&] { return Blocks(part()); };
  switch (recipe.combiner) {
    case MPI_COMBINER_NAMED:
      return basic(type);
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return element_of(part());
    case MPI_COMBINER_CONTIGUOUS:
      return contiguous(a, blocks()).take();
    case MPI_COMBINER_VECTOR:
      return vector(a, blocks(), Unit::extent).take();
    case MPI_COMBINER_HVECTOR:
      return vector(a, blocks(), Unit::byte).take();
    case MPI_COMBINER_INDEXED:
      return indexed(a, blocks(), Unit::extent).take();
    case MPI_COMBINER_HINDEXED:
      return indexed(a, blocks(), Unit::byte).take();
    case MPI_COMBINER_INDEXED_BLOCK:
      return indexed_block(a, blocks(), Unit::extent).take();
    case MPI_COMBINER_HINDEXED_BLOCK:
      return indexed_block(a, blocks(), Unit::byte).take();
    case MPI_COMBINER_STRUCT:
      return structure(a, recipe.parts).take();
    case MPI_COMBINER_SUBARRAY:
      return subarray(a, blocks(), recipe.large).take();
    case MPI_COMBINER_DARRAY:
      return distributed_array(a, blocks(), recipe.large).take();
    // combiners that not every MPI has; Fortran 90's kinds
    default:
      return recipe.has_parts ? flatten_by_packing(type) : basic(type);
  }
}

// One element of a type in memory, for MPI to pack.
class Packer {
 public:
  explicit Packer(MPI_Datatype type)
      : packed_(checked_cast<int>(size_of_type(type), "bytes of an element of a datatype")) {
    check_mpi(MPI_Type_get_true_extent(type, &low_, &length_), "MPI_Type_get_true_extent");
    if (packed_.empty()) low_ = length_ = 0;
    memory_.resize(length_);
    check_mpi(MPI_Type_dup(type, &type_), "MPI_Type_dup");  // because it may not be committed
    owner_ = OwnedType(type_);
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
  }

  std::ptrdiff_t low() const { return low_; }
  std::size_t size() const { return packed_.size(); }
  std::span<unsigned char> memory() { return memory_; }  // the first byte is at low()

  // Bytes that MPI does not write stay 0.
  std::span<const unsigned char> pack() {
    const int size = static_cast<int>(packed_.size());
    if (size == 0) return packed_;
    std::fill(packed_.begin(), packed_.end(), 0);
    const auto* buffer = reinterpret_cast<const void*>(
        reinterpret_cast<std::uintptr_t>(memory_.data()) - static_cast<std::uintptr_t>(low_));
    int position = 0;
    with_any_comm([&](MPI_Comm comm) {
      check_mpi(MPI_Pack(buffer, 1, type_, packed_.data(), size, &position, comm), "MPI_Pack");
    });
    if (position != size)
      fail(Errc::internal, "MPI packs ", size, " bytes into ", position,
           "; please report this as a bug");
    return packed_;
  }

 private:
  std::vector<unsigned char> memory_, packed_;
  MPI_Aint low_ = 0, length_ = 0;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  OwnedType owner_;
};

}  // namespace

// If every byte of the memory holds one digit (base 256) of its own position, the packed bytes list
// that digit of the positions.
Layout flatten_by_packing(MPI_Datatype type) {
  Packer packer(type);
  const std::span<unsigned char> memory = packer.memory();
  std::vector<std::ptrdiff_t> offsets(packer.size(), packer.low());
  for (int shift = 0; shift < 64 && memory.size() >> shift > 0; shift += 8) {
    for (std::size_t i = 0; i < memory.size(); ++i)
      memory[i] = static_cast<unsigned char>(i >> shift);
    const auto digits = packer.pack();
    for (std::size_t k = 0; k < offsets.size(); ++k)
      offsets[k] += static_cast<std::ptrdiff_t>(digits[k]) << shift;
  }
  // MPICH 4.0 skips the padding inside of a long double, which continues the bytes before.
  std::fill(memory.begin(), memory.end(), 1);
  const auto written = packer.pack();
  for (std::size_t k = 1; k < offsets.size(); ++k)
    if (!written[k]) offsets[k] = offsets[k - 1] + 1;
  Layout layout;
  for (std::ptrdiff_t offset : offsets) layout.add(offset, 1);
  return layout;
}

Layout flatten(MPI_Count count, MPI_Datatype type) {
  Layout layout;
  if (count == 0) return layout;
  Layout element = element_of(type);
  if (count == 1) return element;
  const std::ptrdiff_t extent = extent_of(type).length;
  span_of(element, count, extent);
  add_elements(layout, element, 0, count, extent);
  return layout;
}

std::pair<std::ptrdiff_t, std::ptrdiff_t> span_of(const Layout& element, MPI_Count count,
                                                  std::ptrdiff_t extent) {
  check_bytes(0, element.bytes(), count);
  if (element.bytes() == 0) return {0, 0};
  const auto [low, high] = element.span();
  const ByteSpan all = united({low, high}, repeated({low, high}, 0, count, extent));
  return {all.low, all.high};
}

}  // namespace tonari
