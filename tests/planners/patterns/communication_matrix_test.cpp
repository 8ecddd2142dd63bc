// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/communication_matrix.hpp"

#include "planners/patterns/patterns.hpp"
#include "support/errors.hpp"

namespace tonari {
namespace {

using sharing::matrix_of;

// The matrix B of the thesis, Fig. 2.2.
TEST(CommunicationMatrix, KeepsRowsAndColumnsOfFigure22) {
  const Flow flows[] = {{3, 2, 2}, {1, 3, 3}, {0, 1, 2}, {2, 3, 6}, {1, 0, 5}, {2, 0, 1}};
  const CommunicationMatrix b(4, flows);
  std::vector<std::uint64_t> values;
  std::vector<std::int32_t> columns;
  for (BlockNumber k = 0; k < b.blocks(); ++k) {
    values.push_back(b.words(k));
    columns.push_back(b.target(k));
  }
  EXPECT_EQ(values, (std::vector<std::uint64_t>{2, 5, 3, 1, 6, 2}));
  EXPECT_EQ(columns, (std::vector<std::int32_t>{1, 0, 3, 0, 3, 2}));
  EXPECT_EQ(b.first_of(2), 3u);
  EXPECT_EQ(std::vector<BlockNumber>(b.column(0).begin(), b.column(0).end()),
            (std::vector<BlockNumber>{1, 3}));
  EXPECT_EQ(b.find(2, 3), 4u);
  EXPECT_EQ(b.find(3, 0), CommunicationMatrix::none);
  const MatrixStatistics s = b.statistics();
  EXPECT_EQ(s.average_sent, 1.5);
  EXPECT_EQ(s.most_sent, 2);
  EXPECT_EQ(s.most_received, 2);
  EXPECT_EQ(s.words, 19u);
  EXPECT_EQ(s.most_words_sent, 8u);
  EXPECT_EQ(s.most_words_received, 9u);
}

TEST(CommunicationMatrix, AddsUpEqualPairsAndDropsSelf) {
  const Flow flows[] = {{1, 0, 2}, {0, 0, 9}, {1, 0, 3}, {0, 1, 0}};
  const CommunicationMatrix m(2, flows);
  ASSERT_EQ(m.blocks(), 2u);
  EXPECT_EQ(m.words(m.find(1, 0)), 5u);
  EXPECT_EQ(m.words(m.find(0, 1)), 0u);  // travels though it is empty
  EXPECT_EQ(m.statistics().most_sent, 1);
}

TEST(CommunicationMatrix, RefusesNonsense) {
  const Flow outside[] = {{0, 4, 1}}, negative[] = {{-1, 0, 1}},
             huge[] = {{0, 1, ~std::uint64_t{0}}, {1, 0, 1}};
  EXPECT_EQ(test::error_of([&] { CommunicationMatrix(4, outside); }).code(), Errc::argument);
  EXPECT_EQ(test::error_of([&] { CommunicationMatrix(4, negative); }).code(), Errc::argument);
  EXPECT_EQ(test::error_of([&] { CommunicationMatrix(2, huge); }).code(), Errc::overflow);
  EXPECT_EQ(test::error_of([&] { CommunicationMatrix(-1, {}); }).code(), Errc::argument);
  EXPECT_EQ(CommunicationMatrix(0, {}).statistics().average_sent, 0);
}

}  // namespace
}  // namespace tonari
