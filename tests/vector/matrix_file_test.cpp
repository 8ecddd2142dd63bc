// SPDX-License-Identifier: BSD-3-Clause
// Matrix Market files: each rank gets its rows, and all ranks hear what is wrong with a file.
// Folders are tested by tests/python/test_cg.py.
#include <gtest/gtest.h>
#include <unistd.h>
#include <tonari/spmv.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/contains.hpp"
#include "support/mpi_main.hpp"

namespace {

using namespace tonari::test;

class MatrixFile : public testing::Test {
 protected:
  void SetUp() override {
    int process = static_cast<int>(::getpid());
    MPI_Bcast(&process, 1, MPI_INT, 0, MPI_COMM_WORLD);
    path = std::filesystem::temp_directory_path() /
           ("tonari-matrix-" + std::to_string(process) + ".mtx");
  }
  void TearDown() override {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) std::filesystem::remove(path);
  }
  tonari::MatrixPart read(const std::string& text) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) std::ofstream(path) << text;
    MPI_Barrier(MPI_COMM_WORLD);
    return tonari::read_matrix(path.string(), MPI_COMM_WORLD);
  }
  // The product with (1, 10, 100, ...), of all rows.
  std::vector<double> times_powers(const tonari::MatrixPart& part) const {
    std::vector<double> x, mine(static_cast<std::size_t>(part.owned)),
        all(static_cast<std::size_t>(part.size), 0.0);
    double power = 1;
    for (std::int64_t k = 0; k < part.size; ++k, power *= 10)
      if (k >= part.first && k < part.first + part.owned) x.push_back(power);
    tonari::RowParallel(MPI_COMM_WORLD, part).multiply(x, mine);
    std::ranges::copy(mine, all.begin() + part.first);
    MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    return all;
  }
  void expect_refused(const std::string& text, const std::string& words) {
    std::string said;
    try {
      (void)read(text);
    } catch (const tonari::Failure& failure) {
      EXPECT_EQ(failure.code(), TONARI_ERR_FILE);
      said = failure.what();
    }
    EXPECT_CONTAINS(said, words);
    EXPECT_CONTAINS(said, path.filename().string());
  }

  int rank = world_rank(), ranks = world_size();
  std::filesystem::path path;
};

const std::string general = "%%MatrixMarket matrix coordinate real general\n";

TEST_F(MatrixFile, General) {
  const tonari::MatrixPart part = read(general +
                                       "% a comment\n\n4 4 6\n"
                                       "4 1 -2.5\n1 2 3\n1 1 1e1\n2 4 7\n3 3 0.5\n1 2 4\n");
  EXPECT_EQ(part.size, 4);
  EXPECT_EQ(part.begin.size(), static_cast<std::size_t>(part.owned) + 1);
  EXPECT_EQ(times_powers(part), (std::vector<double>{80, 7000, 50, -2.5}));
  std::int64_t rows = part.owned;
  MPI_Allreduce(MPI_IN_PLACE, &rows, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(rows, 4);
  const std::vector<double> diagonal = part.diagonal(), all{10, 0, 0.5, 0};
  for (std::size_t r = 0; r < diagonal.size(); ++r)
    EXPECT_EQ(diagonal[r], all[static_cast<std::size_t>(part.first) + r]);
}

TEST_F(MatrixFile, SymmetricPatternAndSkew) {
  EXPECT_EQ(times_powers(read("%%MatrixMarket MATRIX coordinate integer Symmetric\n"
                              "3 3 4\n1 1 2\n2 1 -1\n3 2 5\n3 3 4\n")),
            (std::vector<double>{2 - 10, -1 + 500, 50 + 400}));
  EXPECT_EQ(times_powers(read("%%MatrixMarket matrix coordinate pattern symmetric\r\n"
                              "3 3 2\r\n2 1\r\n3 3\r\n")),
            (std::vector<double>{10, 1, 100}));
  EXPECT_EQ(times_powers(read("%%MatrixMarket matrix coordinate real skew-symmetric\n"
                              "3 3 2\n2 1 3\n3 1 0.25\n")),
            (std::vector<double>{-30 - 25, 3, 0.25}));
}

TEST_F(MatrixFile, WithFewerRowsThanRanks) {
  const tonari::MatrixPart part = read(general + "1 1 1\n1 1 6\n");
  EXPECT_EQ(part.owned, rank == 0 ? 1 : 0);
  EXPECT_EQ(times_powers(part), std::vector<double>{6});
}

TEST_F(MatrixFile, WhatIsWrongIsSaidEverywhere) {
  expect_refused("1 1 1\n1 1 1\n", ":1: expected is '%%MatrixMarket matrix coordinate");
  expect_refused("%%MatrixMarket matrix coordinate complex general\n", "values are 'complex'");
  expect_refused("%%MatrixMarket matrix coordinate real hermitian\n", "it is 'hermitian'");
  expect_refused(general + "% nothing\n", "it ends before its size");
  expect_refused(general + "3 2 1\n", ":2: the matrix has 3 rows, 2 columns");
  expect_refused(general + "2 2 2\n1 1 1\n", "it ends after 1 of 2 entries");
  expect_refused(general + "2 2 1\n1 1 1\n2 2 2\n", ":4: there are more than the 1 entries");
  expect_refused(general + "2 2 1\n1 3 1\n", ":3: the entry is in row 1 and column 3");
  expect_refused(general + "2 2 1\n0 1 1\n", "row 0 and column 1");
  expect_refused(general + "2 2 1\n1 1 nan\n", "no finite number");
  expect_refused(general + "2 2 1\n1 one 1\n", "expected is a whole number at ' one 1'");
  expect_refused(general + "2 2 1\n1 1 1 1\n", "nothing is expected at ' 1'");
}

TEST_F(MatrixFile, NumbersThatDoNotFitAreRefused) {
  const std::string most = "9223372036854775807", least = "-9223372036854775808";
  const std::string more = "9223372036854775808", less = "-9223372036854775809";
  const std::string sentence = "', but it does not fit into 64 bits";
  expect_refused(general + more + " " + more + " 0\n",
                 ":2: expected is a whole number at '" + more);
  expect_refused(general + more + " " + most + " 0\n", sentence);
  expect_refused(general + "2 2 " + more + "\n", sentence);
  expect_refused(general + most + " " + most + " 0\n", "there is no memory for the ");
  expect_refused(general + "2 2 " + most + "\n", "it ends after 0 of " + most + " entries");
  expect_refused(general + "2 2 1\n" + most + " 1 1\n", "in row " + most + " and column 1");
  expect_refused(general + "2 2 1\n1 " + least + " 1\n", "in row 1 and column " + least);
  expect_refused(general + "2 2 1\n" + less + " 1 1\n", sentence);
}

}  // namespace
