// SPDX-License-Identifier: BSD-3-Clause
// Exchanges in place whose long blocks are read and written where they lie: contiguous blocks on
// both sides of the length from which that is done, against what every rank knows of all payloads.
#include <sched.h>

#include "support/graph_exchange.hpp"
#include "support/random_sizes.hpp"

namespace {

using namespace tonari::test;

constexpr int short_block = 60'000, long_block = 70'000;

class InPlaceSingleCopy : public testing::Test {
 protected:
  // What pairs of ranks swap, the same at both ends; blocks in random order with gaps between them.
  void lay_out(Random& common, int most) {
    Random own(common() + static_cast<unsigned>(rank));
    std::vector<int> order(static_cast<std::size_t>(ranks));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), own);
    counts.resize(order.size()), places.resize(order.size());
    for (int i = 0; i < ranks; ++i)
      for (int j = i; j < ranks; ++j) {
        const int kinds[] = {pick(common, long_block, most), pick(common, 1, short_block), 0};
        const int bytes = kinds[j == i + 1 ? 0 : pick(common, 0, 2)];
        if (rank == i) counts[static_cast<std::size_t>(j)] = bytes;
        if (rank == j) counts[static_cast<std::size_t>(i)] = bytes;
      }
    MPI_Aint end = 0;
    for (const int j : order) {
      places[static_cast<std::size_t>(j)] = end += pick(own, 0, 9);
      end += counts[static_cast<std::size_t>(j)];
    }
    data.assign(static_cast<std::size_t>(end) + 1, poison);
  }

  static Byte value(int owner, int to, int k, int round) {
    const auto block = static_cast<unsigned>((owner * 64 + to) * 64 + round);
    return static_cast<Byte>((static_cast<unsigned>(k) + block * 2654435761u) * 2246822519u >> 24);
  }
  std::vector<Byte> content(int round, bool after) const {
    std::vector<Byte> bytes(data.size(), poison);
    for (int j = 0; j < ranks; ++j)
      for (int k = 0; k < counts[static_cast<std::size_t>(j)]; ++k)
        bytes[static_cast<std::size_t>(places[static_cast<std::size_t>(j)] + k)] =
            after ? value(j, rank, k, round) : value(rank, j, k, round);
    return bytes;
  }

  // Where it lies: requests keep the address.
  void fill(std::vector<Byte>& where, int round) const {
    std::ranges::copy(content(round, false), where.begin());
  }

  tonari_request make(std::vector<Byte>& where, const Info& info) {
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(tonari_alltoallv_inplace_init(where.data(), counts.data(), places.data(), MPI_BYTE,
                                            MPI_COMM_WORLD, info, &request));
    return request;
  }
  static bool copies_once(tonari_request request) {
    return std::string(tonari_request_describe(request)).find("where they lie") !=
           std::string::npos;
  }

  static constexpr Byte poison = 0xEE;
  int rank = world_rank(), ranks = world_size();
  Nodes nodes;
  std::vector<int> counts;
  std::vector<MPI_Aint> places;
  std::vector<Byte> data;
};

TEST_F(InPlaceSingleCopy, DeliversAgainAndAgain) {
  Random common(random_seed());
  for (const char* memory : {"1048576", "300000"}) {
    lay_out(common, 600'000);
    const Info info{{"tonari_tune", "off"}, {"tonari_inplace_memory", memory}};
    tonari_request request = make(data, info);
    for (int round = 0; round < 4; ++round) {
      fill(data, round);
      ASSERT_OK(tonari_start(request));
      ASSERT_OK(complete(request, (rank + round) % 2));
      EXPECT_TRUE(data == content(round, true)) << tonari_request_describe(request);
    }
    tonari_request_info about;
    EXPECT_OK(tonari_request_get_info(request, &about));
    EXPECT_LE(about.scratch_bytes, std::stoll(memory)) << tonari_request_describe(request);
    EXPECT_OK(tonari_request_free(&request));
  }
}

// It is done where the system allows it, on all ranks or none; not for little memory, nor for
// blocks that are not contiguous on some rank.
TEST_F(InPlaceSingleCopy, IsDoneOnAllRanksOrNone) {
  const auto n = static_cast<std::size_t>(ranks);
  counts.assign(n, long_block), places.resize(n), data.assign(n * long_block, poison);
  for (std::size_t j = 0; j < n; ++j) places[j] = static_cast<MPI_Aint>(j * long_block);
  const auto agreed = [&](const Info& info) {
    tonari_request request = make(data, info);
    int words[] = {copies_once(request), -static_cast<int>(copies_once(request))};
    MPI_Allreduce(MPI_IN_PLACE, words, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    EXPECT_EQ(words[0], -words[1]) << "some ranks do, others do not";
    EXPECT_OK(tonari_request_free(&request));
    return words[0];
  };
  const Info off{{"tonari_tune", "off"}};
  if (!agreed(off) && ranks > 1) GTEST_SKIP() << "processes may not read each other's memory";
  EXPECT_FALSE(agreed(Info{{"tonari_tune", "off"}, {"tonari_inplace_memory", "100000"}}));
  EXPECT_FALSE(agreed(Info{{"tonari_tune", "off"}, {"tonari_channel", "p2p-packed"}}));
  Nodes::set("1");  // no two ranks share memory
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  tonari_request request = TONARI_REQUEST_NULL;
  EXPECT_OK(tonari_alltoall_inplace_init(data.data(), long_block, MPI_BYTE, comm, off, &request));
  EXPECT_FALSE(copies_once(request));
  EXPECT_OK(tonari_request_free(&request));
  MPI_Comm_free(&comm);
}

TEST_F(InPlaceSingleCopy, BlocksWithGapsOnOneRankGoThroughCells) {
  constexpr int elements = 10'000;  // of 8 bytes; on rank 0 every other one
  const int step = rank == 0 ? 2 : 1;
  MPI_Datatype block, spread;
  MPI_Type_vector(elements, 1, step, MPI_DOUBLE, &block);
  MPI_Type_create_resized(block, 0, elements * step * static_cast<MPI_Aint>(sizeof(double)),
                          &spread);
  MPI_Type_commit(&spread);
  std::vector<double> numbers(static_cast<std::size_t>(ranks * elements * step), -1);
  const auto at = [&](int j, int k) -> double& {
    return numbers[static_cast<std::size_t>((j * elements + k) * step)];
  };
  for (int j = 0; j < ranks; ++j)
    for (int k = 0; k < elements; ++k) at(j, k) = 1e6 * rank + 1e5 * j + k;
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_alltoall_inplace_init(numbers.data(), 1, spread, MPI_COMM_WORLD,
                                         Info{{"tonari_tune", "off"}}, &request));
  EXPECT_FALSE(copies_once(request));
  ASSERT_OK(tonari_start(request));
  ASSERT_OK(tonari_wait(request));
  for (int j = 0; j < ranks; ++j)
    for (int k = 0; k < elements; ++k) ASSERT_EQ(at(j, k), 1e6 * j + 1e5 * rank + k);
  EXPECT_OK(tonari_request_free(&request));
  MPI_Type_free(&block), MPI_Type_free(&spread);
}

// The address is told anew at each start.
TEST_F(InPlaceSingleCopy, OneShotCallsOnOtherBuffers) {
  Random common(random_seed());
  lay_out(common, 200'000);
  std::vector<std::vector<Byte>> buffers(3, data);
  for (int round = 0; round < 6; ++round) {
    std::vector<Byte>& where = buffers[static_cast<std::size_t>((round * (rank + 1)) % 3)];
    fill(where, round);
    ASSERT_OK(tonari_alltoallv_inplace(where.data(), counts.data(), places.data(), MPI_BYTE,
                                       MPI_COMM_WORLD, MPI_INFO_NULL));
    ASSERT_TRUE(where == content(round, true)) << round;
  }
}

// Two requests of a rank have memory of their own, and are completed in any order.
TEST_F(InPlaceSingleCopy, SeveralAtOnce) {
  Random common(random_seed());
  lay_out(common, 300'000);
  std::vector<std::vector<Byte>> buffers(3, data);
  std::vector<tonari_request> requests;
  for (std::vector<Byte>& where : buffers)
    requests.push_back(make(where, Info{{"tonari_tune", "off"}}));
  for (int k = 0; k < 3; ++k) {
    fill(buffers[static_cast<std::size_t>(k)], k);
    ASSERT_OK(tonari_start(requests[static_cast<std::size_t>(k)]));
  }
  for (int k = 0; k < 3; ++k) {
    const auto which = static_cast<std::size_t>((k + rank) % 3);
    ASSERT_OK(complete(requests[which], k % 2));
    EXPECT_TRUE(buffers[which] == content(static_cast<int>(which), true));
    EXPECT_OK(tonari_request_free(&requests[which]));
  }
}

// A rank that another one has left gives up while others may still swap with it. Once its wait has
// returned, nobody writes into its buffer.
TEST_F(InPlaceSingleCopy, WhoGivesUpHasItsBufferToItself) {
  if (ranks < 3) GTEST_SKIP() << "needs three ranks";
  constexpr int bytes = 8 << 20;
  const auto n = static_cast<std::size_t>(ranks);
  counts.assign(n, bytes), places.resize(n), data.assign(n * bytes, poison);
  for (std::size_t j = 0; j < n; ++j) places[j] = static_cast<MPI_Aint>(j * bytes);
  tonari_request request = make(data, Info{{"tonari_tune", "off"}, {"tonari_timeout", "0.005"}});
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank < ranks - 1) {
    // who comes late, on a busy machine, is told at once; nobody may leave before the barrier
    const int started = tonari_start(request);
    EXPECT_EQ(started == TONARI_SUCCESS ? tonari_wait(request) : started, TONARI_ERR_PEER)
        << tonari_last_error();
    std::ranges::fill(data, Byte{0x5A});
    const double end = MPI_Wtime() + 0.05;
    while (MPI_Wtime() < end) sched_yield();
    EXPECT_EQ(std::ranges::count(data, Byte{0x5A}), static_cast<std::ptrdiff_t>(data.size()));
  }
  EXPECT_OK(tonari_request_free(&request));
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
