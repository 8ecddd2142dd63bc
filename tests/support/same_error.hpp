// SPDX-License-Identifier: BSD-3-Clause
// What a collective call that failed must have in common on all ranks.
#pragma once

#include <gtest/gtest.h>
#include <tonari/tonari.h>

#include <initializer_list>
#include <string>

#include "support/contains.hpp"

namespace tonari::test {

// code on all ranks of comm, with one sentence that contains all of the words.
inline void expect_everywhere(int code, int expected, std::initializer_list<std::string> words,
                              MPI_Comm comm = MPI_COMM_WORLD) {
  const std::string sentence = code == TONARI_SUCCESS ? "" : tonari_last_error();
  EXPECT_EQ(code, expected) << sentence;
  for (const std::string& w : words) EXPECT_CONTAINS(sentence, w);
  char first[1000] = "";
  sentence.copy(first, sizeof first - 1);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, comm);
  EXPECT_EQ(sentence, first) << "ranks got different sentences";
}

}  // namespace tonari::test
