// SPDX-License-Identifier: BSD-3-Clause
// Whose mistake it is: a sentence of one rank, as the others read it.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace tonari {

// Also if it has come from another rank, which is named in front.
inline bool names_rank(std::string_view sentence, int rank) {
  if (sentence.starts_with("rank ")) return true;
  const std::string name = "rank " + std::to_string(rank);
  for (std::size_t at = sentence.find(name); at != sentence.npos;
       at = sentence.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (end == sentence.size() || sentence[end] < '0' || sentence[end] > '9') return true;
  }
  return false;
}

// The error with "rank 3: " in front of its sentence, unless that names the rank already. Without
// memory it stays as it is.
inline Error with_rank(int rank, const Error& error) noexcept {
  Error named = error;
  (void)error_of([&] {
    if (names_rank(error.what(), rank)) return;
    const std::string sentence = text("rank ", rank, ": ", error.what());
    named = Error(error.code(), sentence);
    if (error.on_all_ranks()) named.now_on_all_ranks();
  });
  return named;
}

}  // namespace tonari
