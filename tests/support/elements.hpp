// SPDX-License-Identifier: BSD-3-Clause
// Random datatypes of a given size, and the bytes they stand for in the order of their signature.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace tonari::test {

using Random = std::mt19937;

using Byte = unsigned char;

inline int pick(Random& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
}

struct Piece {
  std::ptrdiff_t at;
  std::size_t length;
};

struct Element {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  bool ours = false;
  std::ptrdiff_t extent = 0;
  std::vector<Piece> pieces;

  std::ptrdiff_t low() const {  // where its first byte lies
    return std::ranges::min(pieces, {}, &Piece::at).at;
  }
  std::ptrdiff_t end() const {  // behind its last byte
    std::ptrdiff_t end = pieces[0].at;
    for (const Piece& p : pieces) end = std::max(end, p.at + static_cast<std::ptrdiff_t>(p.length));
    return end;
  }
  std::ptrdiff_t below() const { return std::max<std::ptrdiff_t>(0, -low()); }
};

// nested: types of types, in any order and below their own address
enum class Style { plain, vector, indexed, structure, subarray, resized, columns, nested };
inline constexpr int styles = 7;  // that tests draw without being asked for nested ones

inline Element finish(MPI_Datatype type, std::vector<Piece> pieces) {
  Element e{type, true, 0, std::move(pieces)};
  MPI_Type_commit(&e.type);
  MPI_Aint low = 0, extent = 0;
  MPI_Type_get_extent(e.type, &low, &extent);
  e.extent = extent;
  return e;
}

inline MPI_Datatype bytes_type(int bytes) {
  MPI_Datatype type;
  MPI_Type_contiguous(bytes, MPI_BYTE, &type);
  return type;
}

inline Element plain_element(int bytes) {
  if (bytes == 4) return {MPI_INT, false, 4, {{0, 4}}};
  if (bytes == 8) return {MPI_DOUBLE, false, 8, {{0, 8}}};
  return finish(bytes_type(bytes), {{0, static_cast<std::size_t>(bytes)}});
}

// Runs of random length with random gaps, in shuffled order.
inline Element scattered_element(Random& random, int bytes, bool structure) {
  std::vector<int> lengths;
  for (int left = bytes; left > 0; left -= lengths.back())
    lengths.push_back(lengths.size() == 7 ? left : pick(random, 1, left));
  std::vector<Piece> pieces;
  std::ptrdiff_t at = 0;
  for (int length : lengths) {
    pieces.push_back({at, static_cast<std::size_t>(length)});
    at += length + pick(random, 0, 5);
  }
  std::shuffle(pieces.begin(), pieces.end(), random);
  std::vector<int> counts;
  std::vector<MPI_Aint> places;
  std::vector<MPI_Datatype> types;
  for (const Piece& p : pieces) {
    types.push_back(p.length % 4 == 0 ? MPI_INT : p.length % 2 == 0 ? MPI_SHORT : MPI_BYTE);
    int unit = 1;
    if (structure) MPI_Type_size(types.back(), &unit);
    counts.push_back(static_cast<int>(p.length) / unit);
    places.push_back(p.at);
  }
  MPI_Datatype type;
  const int n = static_cast<int>(pieces.size());
  if (structure)
    MPI_Type_create_struct(n, counts.data(), places.data(), types.data(), &type);
  else
    MPI_Type_create_hindexed(n, counts.data(), places.data(), MPI_BYTE, &type);
  return finish(type, std::move(pieces));
}

inline Element rows_element(int rows, int length, int stride, int first, MPI_Datatype type) {
  std::vector<Piece> pieces;
  for (int k = 0; k < rows; ++k)
    pieces.push_back(
        {first + static_cast<std::ptrdiff_t>(k) * stride, static_cast<std::size_t>(length)});
  return finish(type, std::move(pieces));
}

inline Element resized_element(MPI_Datatype inner, std::ptrdiff_t extent,
                               std::vector<Piece> pieces) {
  MPI_Datatype type;
  MPI_Type_create_resized(inner, 0, extent, &type);
  MPI_Type_free(&inner);
  return finish(type, std::move(pieces));
}

// ---- Types made of types, with holes, negative lower bounds, negative strides, and parts in an
// order of their own. No two bytes lie in one place, nor do those of neighbors in an array.

inline void add_pieces(std::vector<Piece>& all, const Element& part, std::ptrdiff_t at) {
  for (const Piece& p : part.pieces) all.push_back({at + p.at, p.length});
}

inline std::ptrdiff_t span_of(const Element& e) { return e.end() - e.low(); }

// Type maps decide what is free; elements of an array must not overlap either.
inline Element closed(MPI_Datatype type, std::vector<Piece> pieces,
                      std::initializer_list<Element> parts) {
  for (Element part : parts)
    if (part.ours) MPI_Type_free(&part.type);
  Element made = finish(type, std::move(pieces));
  if (made.extent >= span_of(made)) return made;
  MPI_Type_create_resized(made.type, made.low(), span_of(made), &type);
  MPI_Type_free(&made.type);
  return finish(type, std::move(made.pieces));
}

inline int factor(Random& random, int number) {
  for (int attempt = 0; attempt < 6; ++attempt)
    if (const int f = pick(random, 2, 9); number % f == 0) return f;
  return 1;
}

inline Element nested_hvector(Random& random, int blocks, int length, const Element& part) {
  const std::ptrdiff_t apart = (length - 1) * part.extent + span_of(part) + pick(random, 0, 7);
  // Open MPI 4.1.4 reverses single bytes at the stride -1.
  const MPI_Aint stride = pick(random, 0, 2) == 0 && apart > 1 ? -apart : apart;
  std::vector<Piece> pieces;
  for (int b = 0; b < blocks; ++b)
    for (int k = 0; k < length; ++k) add_pieces(pieces, part, b * stride + k * part.extent);
  MPI_Datatype type;
  MPI_Type_create_hvector(blocks, length, stride, part.type, &type);
  return closed(type, std::move(pieces), {part});
}

// Runs of parts in shuffled order around the type's own address; some runs have none.
inline Element nested_hindexed(Random& random, int number, const Element& part) {
  std::vector<int> lengths;
  for (int left = number; left > 0; left -= lengths.back())
    lengths.push_back(pick(random, 0, left));
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  std::vector<MPI_Aint> places(lengths.size());
  std::ptrdiff_t next = -pick(random, 0, 60);
  for (const std::size_t k : order) {
    places[k] = next - part.low();
    if (lengths[k] > 0) next += (lengths[k] - 1) * part.extent + span_of(part);
    next += pick(random, 0, 5);
  }
  std::vector<Piece> pieces;
  for (std::size_t k = 0; k < lengths.size(); ++k)
    for (int i = 0; i < lengths[k]; ++i) add_pieces(pieces, part, places[k] + i * part.extent);
  MPI_Datatype type;
  MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(),
                           part.type, &type);
  return closed(type, std::move(pieces), {part});
}

inline Element nested_structure(Random& random, const Element& a, const Element& b) {
  const int lengths[] = {1, 1};
  MPI_Aint places[2];
  const std::ptrdiff_t first = pick(random, -40, 8);
  const bool swapped = pick(random, 0, 1);
  const Element &low = swapped ? b : a, &high = swapped ? a : b;
  places[swapped] = first - low.low();
  places[!swapped] = first + span_of(low) + pick(random, 0, 6) - high.low();
  std::vector<Piece> pieces;
  add_pieces(pieces, a, places[0]);
  add_pieces(pieces, b, places[1]);
  const MPI_Datatype types[] = {a.type, b.type};
  MPI_Datatype type;
  MPI_Type_create_struct(2, lengths, places, types, &type);
  return closed(type, std::move(pieces), {a, b});
}

inline Element nested_resized(Random& random, const Element& part) {
  MPI_Datatype type;
  MPI_Type_create_resized(part.type, pick(random, -12, 12), span_of(part) + pick(random, 0, 9),
                          &type);
  return closed(type, part.pieces, {part});
}

// A column of a matrix with a border.
inline Element nested_subarray(Random& random, int rows, const Element& part) {
  const bool c = pick(random, 0, 1);
  const int sizes[] = {rows + 1, 3}, some[] = {rows, 1}, start[] = {1, 1};
  std::vector<Piece> pieces;
  for (int k = 1; k <= rows; ++k)
    add_pieces(pieces, part, (c ? k * 3 + 1 : k + rows + 1) * part.extent);
  MPI_Datatype type;
  MPI_Type_create_subarray(2, sizes, some, start, c ? MPI_ORDER_C : MPI_ORDER_FORTRAN, part.type,
                           &type);
  return closed(type, std::move(pieces), {part});
}

inline Element nested_element(Random& random, int bytes, int depth = 3) {
  if (depth == 0 || bytes < 2 || pick(random, 0, 7) == 0) return plain_element(bytes);
  const int n = factor(random, bytes), part = bytes / n;
  const auto nested = [&](int size) { return nested_element(random, size, depth - 1); };
  switch (pick(random, 0, 4)) {
    case 0: {
      const int length = factor(random, part);
      return nested_hvector(random, n, length, nested(part / length));
    }
    case 1:
      return nested_hindexed(random, n, nested(part));
    case 2: {
      const int first = pick(random, 1, bytes - 1);
      const Element a = nested(first);
      return nested_structure(random, a, nested(bytes - first));
    }
    case 3:
      return nested_resized(random, nested(bytes));
    default:
      return nested_subarray(random, n, nested(part));
  }
}

// total: how many elements will lie in the buffer at most (for columns, which interleave).
inline Element make_element(Random& random, Style style, int bytes, int total) {
  if (bytes == 0) return plain_element(4);
  const int length = bytes % 4 == 0 && bytes > 4 ? 4 : 1, rows = bytes / length;
  MPI_Datatype type;
  switch (style) {
    case Style::plain:
      return plain_element(bytes);
    case Style::vector: {
      const int stride = length + pick(random, 1, 3);
      MPI_Type_vector(rows, length, stride, MPI_BYTE, &type);
      return rows_element(rows, length, stride, 0, type);
    }
    case Style::indexed:
    case Style::structure:
      return scattered_element(random, bytes, style == Style::structure);
    case Style::subarray: {
      const int sizes[] = {rows + 2, length + 3}, sub[] = {rows, length}, start[] = {1, 2};
      MPI_Type_create_subarray(2, sizes, sub, start, MPI_ORDER_C, MPI_BYTE, &type);
      return rows_element(rows, length, length + 3, length + 5, type);
    }
    case Style::resized:
      return resized_element(bytes_type(bytes), bytes + pick(random, 1, 6),
                             {{0, static_cast<std::size_t>(bytes)}});
    case Style::nested:
      return nested_element(random, bytes);
    case Style::columns: {
      if (bytes > 400 || total > 2000) return plain_element(bytes);
      MPI_Type_vector(bytes, 1, total, MPI_BYTE, &type);
      Element rows_of_one = rows_element(bytes, 1, total, 0, type);
      return resized_element(rows_of_one.type, 1, rows_of_one.pieces);
    }
  }
  return plain_element(bytes);
}

}  // namespace tonari::test
