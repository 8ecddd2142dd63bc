// SPDX-License-Identifier: BSD-3-Clause
#include "channels/control_messages.hpp"

#include <gtest/gtest.h>

#include <array>

#include "base/error.hpp"
#include "faults.hpp"
#include "support/mpi_main.hpp"

namespace tonari {
namespace {

using test::called, test::faults;

class ControlMessagesOfARing : public testing::Test {
 protected:
  void exchange(ControlMessages messages) {
    messages.recv(std::span(in), (rank + ranks - 1) % ranks);
    messages.send(std::span(out), (rank + 1) % ranks);
    messages.exchange([] {});
  }
  const test::NoFaultsAfterwards no_faults;
  int rank = test::world_rank(), ranks = test::world_size();
  std::array<int, 3> out{rank, rank + 1000, -rank}, in{};
};

TEST_F(ControlMessagesOfARing, Arrive) {
  exchange({MPI_COMM_WORLD, segment_names});
  const int left = (rank + ranks - 1) % ranks;
  EXPECT_EQ(in, (std::array<int, 3>{left, left + 1000, -left}));
}

// Their receives would write to memory that is given back.
TEST_F(ControlMessagesOfARing, AreTakenBackWhereOneCannotStart) {
  const long before = called().cancels;
  faults().isend_fails = true;
  EXPECT_THROW(exchange({MPI_COMM_WORLD, segment_names}), Error);
  EXPECT_EQ(called().cancels, before + 1);
  MPI_Barrier(MPI_COMM_WORLD);
  exchange({MPI_COMM_WORLD, segment_names});
  EXPECT_EQ(in[1], (rank + ranks - 1) % ranks + 1000);
}

}  // namespace
}  // namespace tonari
