// SPDX-License-Identifier: BSD-3-Clause
// Files of few pages, views of them in any order, and what stands in their pages.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "memory/held.hpp"
#include "memory/mapped_file.hpp"
#include "memory/pages.hpp"
#include "support/errors.hpp"

namespace tonari::test {

using File = std::shared_ptr<const MappedFile>;
using Order = std::vector<std::uint64_t>;  // pages of a file, as a view shows them

inline const std::size_t page = system_page();
inline const std::string other_storage = "choose storage brick or array instead of mapped";

inline File of_pages(std::uint64_t pages, std::size_t size = page) {
  return MappedFile::create(pages * size, size, false);
}

inline std::vector<FilePiece> pieces_of(const Order& order, std::size_t size) {
  std::vector<FilePiece> pieces;
  for (std::uint64_t number : order) pieces.push_back({number * size, size});
  return pieces;
}

inline View view(const MappedFile& file, const Order& order) {
  return View(file, pieces_of(order, file.page()));
}

inline Order in_order(std::uint64_t pages) {
  Order order(pages);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

inline Order backwards(std::uint64_t pages) {
  Order order = in_order(pages);
  std::reverse(order.begin(), order.end());
  return order;
}

// Word w of page p of a file.
inline std::uint64_t message(std::uint64_t p, std::size_t w, std::uint64_t salt) {
  return p * 1'000'003 + w + salt * 1'000'000'007;
}

inline std::uint64_t* words_of(const View& view, std::size_t at, std::size_t size) {
  return reinterpret_cast<std::uint64_t*>(view.data() + at * size);
}

inline void fill(const View& view, const Order& order, std::uint64_t salt,
                 std::size_t size = page) {
  ASSERT_EQ(view.bytes(), order.size() * size);
  for (std::size_t at = 0; at < order.size(); ++at)
    for (std::size_t w = 0; w < size / 8; ++w)
      words_of(view, at, size)[w] = message(order[at], w, salt);
}

inline std::size_t wrong(const View& view, const Order& order, std::uint64_t salt,
                         std::size_t size = page) {
  std::size_t wrong = view.bytes() != order.size() * size;
  for (std::size_t at = 0; at < order.size() && !wrong; ++at)
    for (std::size_t w = 0; w < size / 8; ++w)
      wrong += words_of(view, at, size)[w] != message(order[at], w, salt);
  return wrong;
}

inline std::size_t runs(const Order& order) {
  std::size_t runs = !order.empty();
  for (std::size_t i = 1; i < order.size(); ++i) runs += order[i] != order[i - 1] + 1;
  return runs;
}

// Throws a sentence with these parts, and leaves nothing.
template <class Work>
inline void expect_refused(Work work, std::vector<std::string> parts) {
  parts.push_back(other_storage);
  const LeavesNothing check;
  expect_sentence(error_of(work), Errc::memory, parts);
}

template <class Work>
inline void expect_internal(Work work) {
  const LeavesNothing check;
  EXPECT_EQ(error_of(work).code(), Errc::internal) << error_of(work).what();
}

}  // namespace tonari::test
