// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of vectors that a thread drives: all their steps proceed while the program computes.
#include "support/by_thread.hpp"
#include "vector/vectors.hpp"

namespace {

using namespace tonari::test;

// Each rank needs all that others own, and gives it back.
TEST(VectorProgress, EveryRouteProceedsWhileTheProgramComputes) {
  if (!several_threads_may_call_mpi()) GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
  Sharing s;
  const std::int64_t ranks = world_size(), part = 3;
  s.size = ranks * part;
  for (std::int64_t r = 0; r < ranks; ++r) {
    s.own.push_back({r * part, part});
    s.needs.push_back({});  // all that others own
    for (std::int64_t i = 0; i < s.size; ++i)
      if (i / part != r) s.needs.back().push_back(i);
  }
  const Nodes nodes;
  Nodes::set("2");
  for (const std::string& route : routes()) {
    SCOPED_TRACE(route);
    tonari_vector vector = make_vector(s, route);
    std::vector<double> owned(part), ghosts(s.my_needs().size()), sums(part);
    const int before = threads();
    const Info info{{"tonari_tune", "off"}, {"tonari_progress", "thread"}};
    tonari_request forward = TONARI_REQUEST_NULL, reverse = TONARI_REQUEST_NULL;
    must(tonari_vector_forward_init(vector, nullptr, owned.data(), ghosts.data(), info, &forward));
    must(tonari_vector_reverse_init(vector, nullptr, MPI_SUM, ghosts.data(), sums.data(), info,
                                    &reverse));
    EXPECT_EQ(threads(), before + 1) << "one for all steps";
    for (int round = 0; round < 3; ++round) {
      for (std::int64_t i = 0; i < part; ++i)
        owned[i] = static_cast<double>(10 * (s.mine().first + i) + round), sums[i] = 0;
      must(tonari_start(forward));
      EXPECT_TRUE(comes_true([&] {
        for (std::size_t k = 0; k < ghosts.size(); ++k)
          if (ghosts[k] != static_cast<double>(10 * s.my_needs()[k] + round)) return false;
        return true;
      }));
      must(tonari_wait(forward));
      must(tonari_start(reverse));
      EXPECT_TRUE(comes_true([&] {
        for (std::int64_t i = 0; i < part; ++i)
          if (sums[i] != static_cast<double>(ranks - 1) * owned[i]) return false;
        return true;
      }));
      must(tonari_wait(reverse));
    }
    must(tonari_request_free(&forward));
    must(tonari_request_free(&reverse));
    EXPECT_EQ(threads_left(before), before);
    must(tonari_vector_free(&vector));
  }
}

}  // namespace
