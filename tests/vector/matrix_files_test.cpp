// SPDX-License-Identifier: BSD-3-Clause
// The files of tests/data/matrices: C++ takes and refuses the same ones as Python, whose test is
// tests/python/test_matrix_files.py, in every locale.
#include <gtest/gtest.h>
#include <tonari/matrix_file.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/comma_locale.hpp"
#include "support/contains.hpp"
#include "support/mpi_main.hpp"

namespace {

using namespace tonari::test;
namespace fs = std::filesystem;

const fs::path files = fs::path(__FILE__).parent_path().parent_path() / "data/matrices";

std::set<std::string> files_in(const char* folder) {
  std::set<std::string> names;
  for (const auto& file : fs::directory_iterator(files / folder))
    names.insert(file.path().stem().string());
  return names;
}

// All rows, one behind the other.
std::vector<double> dense(const std::string& path) {
  const tonari::MatrixPart part = tonari::read_matrix(path, MPI_COMM_WORLD);
  const auto n = static_cast<std::size_t>(part.size);
  std::vector<double> all(n * n);
  for (std::int64_t r = 0; r < part.owned; ++r)
    for (auto k = static_cast<std::size_t>(part.begin[static_cast<std::size_t>(r)]);
         k < static_cast<std::size_t>(part.begin[static_cast<std::size_t>(r) + 1]); ++k)
      all[static_cast<std::size_t>(part.first + r) * n +
          static_cast<std::size_t>(part.columns[k])] += part.values[k];
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
  return all;
}

using Matrices = std::map<std::string, std::vector<double>>;

// Before any locale is set.
Matrices right_ones() {
  Matrices all;
  std::ifstream lines(files / "right.txt");
  std::size_t n = 0;
  for (std::string name; lines >> name >> n;) {
    std::vector<double> matrix(n * n);
    for (double& value : matrix) {
      std::string word;  // streams do not read the smallest numbers
      lines >> word;
      value = std::stod(word == "5e-324" ? "0" : word);
      if (word == "5e-324") value = std::numeric_limits<double>::denorm_min();
    }
    all.emplace(name, matrix);
  }
  return all;
}

void expect_right_ones(const Matrices& wanted) {
  std::set<std::string> names;
  for (const auto& [name, matrix] : wanted) {
    names.insert(name);
    const std::string path = (files / "right" / (name + ".mtx")).string();
    EXPECT_NO_THROW(EXPECT_EQ(dense(path), matrix) << name) << name;
  }
  EXPECT_EQ(names, files_in("right"));
  EXPECT_GE(names.size(), 18u);
}

void expect_wrong_ones() {
  const std::set<std::string> names = files_in("wrong");
  EXPECT_GE(names.size(), 28u);
  for (const std::string& name : names) try {
      (void)dense((files / "wrong" / (name + ".mtx")).string());
      ADD_FAILURE() << name << " was taken";
    } catch (const tonari::Failure& failure) {
      EXPECT_EQ(failure.code(), TONARI_ERR_FILE) << name;
      EXPECT_CONTAINS(failure.what(), name + ".mtx");
    }
}

TEST(MatrixFiles, AreTakenAndRefusedAsByPython) {
  expect_right_ones(right_ones());
  expect_wrong_ones();
}

TEST(MatrixFiles, AreTheSameInALocaleWithCommas) {
  const Matrices wanted = right_ones();
  const CommaLocale locale;
  if (std::getenv("LOCPATH")) {
    EXPECT_TRUE(locale.of_c) << "tests/python/test_locale.py made one";
  }
  expect_right_ones(wanted);
  expect_wrong_ones();
}

}  // namespace
