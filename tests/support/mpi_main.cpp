// SPDX-License-Identifier: BSD-3-Clause
// main() of the MPI test programs. Every rank runs every test; rank 0 reports as usual, the others
// only their failures, with the rank in front. All ranks leave with 1 if a test failed anywhere.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "support/mpi_main.hpp"

namespace {

class FailuresOfRank : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override {
    test_ = std::string(test.test_suite_name()) + "." + test.name();
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::ostringstream out;
    out << "rank " << tonari::test::world_rank() << ": "
        << (result.file_name() ? result.file_name() : "?") << ':' << result.line_number() << ": "
        << test_ << ": " << result.message() << '\n';
    const std::string line = out.str();
    // one call, so that ranks do not write into each other's lines
    std::fwrite(line.data(), 1, line.size(), stderr);
  }

  std::string test_;
};

// Only rank 0 prints and writes report files; --gtest_shuffle gives all ranks the same order.
void agree_on_reporting() {
  int seed = testing::GTEST_FLAG(random_seed);
  if (tonari::test::world_rank() == 0 && seed == 0) seed = 1;
  MPI_Bcast(&seed, 1, MPI_INT, 0, MPI_COMM_WORLD);
  testing::GTEST_FLAG(random_seed) = seed;
  if (tonari::test::world_rank() == 0) return;
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_xml_generator());  // of files of JSON, too
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new FailuresOfRank);
}

}  // namespace

int main(int argc, char** argv) {
  // Else the first calls of each test would go by plain messages; first_one_shots_test.cpp and
  // streams_test.cpp say for themselves when ranks connect.
  setenv("TONARI_CONNECT_AFTER", "0", 0);
  // Else an init that measures would take up to two seconds. Who wins is not the matter of tests.
  setenv("TONARI_TUNE_SECONDS", "0.05", 0);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  testing::InitGoogleTest(&argc, argv);
  agree_on_reporting();
  int failed = RUN_ALL_TESTS() != 0 || testing::UnitTest::GetInstance()->test_to_run_count() == 0;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) return failed;  // by the only test
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
