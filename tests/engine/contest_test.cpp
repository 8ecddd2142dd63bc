// SPDX-License-Identifier: BSD-3-Clause
// Contests of made-up exchanges: what becomes of the others where one rank's exchange fails.
#include "engine/contest.hpp"

#include <array>
#include <vector>

#include "engine/agree.hpp"
#include "support/contains.hpp"
#include "support/duplicate.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tonari::test;

// Moves nothing; its start or wait fails when it has run so often.
class Failing final : public tonari::LeafExchange {
 public:
  Failing(int good, bool in_wait) : left_(good), in_wait_(in_wait) {}
  void start() override {
    if (!in_wait_) count();
  }
  bool test() override { return true; }
  void wait() override {
    if (in_wait_) count();
  }
  int messages() const override { return 0; }
  tonari::Bytes bytes() const override { return 0; }
  std::size_t scratch_bytes() const override { return 0; }
  void give_up() override { ++gave_up; }

  int gave_up = 0;

 private:
  void count() {
    if (left_-- == 0) tonari::fail(tonari::Errc::mpi, "the MPI of rank ", world_rank(), " failed");
  }
  int left_;
  bool in_wait_;
};

// Wherever it is: in the first round, within a batch, or at the end of one.
TEST(Contest, AFailureOnOneRankIsThrownOnAll) {
  const auto comm = duplicate_of_all();
  constexpr int never = 1 << 30;
  for (const int who : {0, world_size() - 1})
    for (int good = 0; good < (ranks_are_slow() ? 8 : 40); ++good)
      for (const bool in_wait : {false, true}) {
        // alone: two that take no time would drop out by chance
        Failing fails(world_rank() == who ? good : never, in_wait);
        const std::array<tonari::Exchange*, 2> exchanges{nullptr, &fails};
        const auto error = tonari::error_of([&] {
          tonari::run_collectively(comm->get(),
                                   [&] { tonari::time_in_turns(comm->get(), exchanges, 1); });
        });
        ASSERT_TRUE(error) << "rank " << who << " fails after " << good;
        EXPECT_EQ(error->code(), tonari::Errc::mpi);
        EXPECT_CONTAINS(std::string(error->what()), "rank " + std::to_string(who) + " failed");
        EXPECT_EQ(fails.gave_up, world_rank() == who ? 1 : 0);
        int sum = 1;  // the next collective call finds all ranks
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm->get());
        EXPECT_EQ(sum, world_size());
      }
}

}  // namespace
