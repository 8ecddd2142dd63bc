// SPDX-License-Identifier: BSD-3-Clause
#include "memory/mpi_calls_seen.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using tonari::InMpi;
using tonari::MpiCallsSeen;

TEST(MpiCallsSeen, ACallLastsOnceItIsSeenTwice) {
  MpiCallsSeen calls;
  EXPECT_EQ(calls.look(1).call, nullptr);
  const InMpi in("MPI_Wait");
  EXPECT_EQ(calls.look(1).call, nullptr);
  for (const double seconds : {0.5, 1.5}) {
    const MpiCallsSeen::Lasting lasting = calls.look(seconds == 0.5 ? 0.5 : 1);
    ASSERT_NE(lasting.call, nullptr);
    EXPECT_EQ(std::string(lasting.call), "MPI_Wait");
    EXPECT_EQ(lasting.seconds, seconds);
  }
}

TEST(MpiCallsSeen, AnotherCallBeginsAnew) {
  MpiCallsSeen calls;
  std::optional<InMpi> in;
  for (int k = 0; k < 5; ++k) {
    in.reset(), in.emplace("MPI_Test");
    EXPECT_EQ(calls.look(1).call, nullptr) << k;
  }
  EXPECT_NE(calls.look(1).call, nullptr);
  in.reset();
  EXPECT_EQ(calls.look(1).call, nullptr);
}

// The outer one of two is told, as it has lasted longer.
TEST(MpiCallsSeen, TheLongestIsTold) {
  MpiCallsSeen calls;
  const InMpi outer("MPI_Win_free");
  calls.look(1), calls.look(1);
  const InMpi inner("MPI_Test");
  calls.look(1);
  EXPECT_EQ(std::string(calls.look(1).call), "MPI_Win_free");
}

TEST(MpiCallsSeen, MarksWithoutRoomAreLeftOut) {
  std::vector<std::unique_ptr<InMpi>> all;
  for (std::size_t k = 0; k < tonari::most_mpi_marks; ++k)
    all.push_back(std::make_unique<InMpi>("MPI_Test"));
  {
    const InMpi one_more("MPI_Wait");
  }
  MpiCallsSeen calls;
  calls.look(1);
  EXPECT_EQ(std::string(calls.look(1).call), "MPI_Test");
  all.clear();
  const InMpi again("MPI_Wait");
  calls.look(1);
  EXPECT_EQ(std::string(calls.look(1).call), "MPI_Wait");
}

}  // namespace
