// SPDX-License-Identifier: BSD-3-Clause
// The C++ face of exchanges in place: spans, the ways to call, and spans that do not fit, which are
// an error on all ranks.
#include <gtest/gtest.h>

#include <numeric>
#include <tonari/tonari.hpp>

#include "support/mpi_main.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;
using Places = std::vector<MPI_Aint>;

class InPlaceCpp : public testing::Test {
 protected:
  // What rank `from` has for rank `to`, element k.
  static double value(int from, int to, int k) { return 1e6 * from + 1e3 * to + k; }

  // As many elements for rank j as both ranks' numbers say together, blocks in descending order.
  void SetUp() override {
    at.resize(static_cast<std::size_t>(ranks));
    for (int j = 0; j < ranks; ++j) counts.push_back(1 + (rank + j) % 3);
    MPI_Aint next = 0;
    for (int j = ranks - 1; j >= 0; --j) at[j] = next, next += counts[j] + 1;
    data.assign(static_cast<std::size_t>(next), -1);
    for (int j = 0; j < ranks; ++j)
      for (int k = 0; k < counts[j]; ++k) data[at[j] + k] = value(rank, j, k);
    before = data;
  }

  void expect_swapped() const {
    std::vector<double> expected = before;
    for (int j = 0; j < ranks; ++j)
      for (int k = 0; k < counts[j]; ++k) expected[at[j] + k] = value(j, rank, k);
    EXPECT_EQ(data, expected);
  }

  // `call` throws on all ranks, the same.
  template <class Call>
  void expect_failure(int code, std::initializer_list<std::string> words, Call call) {
    int thrown = TONARI_SUCCESS;
    try {
      call();
    } catch (const tonari::Failure& failure) {
      thrown = failure.code();
    }
    expect_everywhere(thrown, code, words);
    EXPECT_EQ(data, before);
  }

  int rank = world_rank(), ranks = world_size(), last = ranks - 1;
  std::vector<int> counts;
  Places at;
  std::vector<double> data, before;
};

TEST_F(InPlaceCpp, BlocksOfOneSize) {
  std::vector<std::int64_t> block(static_cast<std::size_t>(3 * ranks));
  const auto fill = [&] { std::iota(block.begin(), block.end(), 1000 * rank); };
  const auto expect = [&] {
    for (int j = 0; j < ranks; ++j)
      for (int k = 0; k < 3; ++k) EXPECT_EQ(block[3 * j + k], 1000 * j + 3 * rank + k);
  };
  fill();
  tonari::alltoall_inplace(std::span(block), MPI_COMM_WORLD);
  expect();
  tonari::Request swap = tonari::alltoall_inplace_init(std::span(block), MPI_COMM_WORLD);
  for (int round = 0; round < 3; ++round) {
    fill();
    swap.start();
    if (round == 1)
      while (!swap.test()) {
      }
    swap.wait();
    expect();
  }
  EXPECT_EQ(swap.info().bytes, static_cast<MPI_Count>(24) * (ranks - 1));
  fill();
  tonari::ialltoall_inplace(std::span(block), MPI_COMM_WORLD).wait();
  expect();
  fill();
  // waits
  {
    const tonari::Request dropped =
        tonari::ialltoall_inplace(block.data(), 3, MPI_INT64_T, MPI_COMM_WORLD);
  }
  expect();
}

TEST_F(InPlaceCpp, BlocksOfManySizes) {
  tonari::alltoallv_inplace(std::span(data), counts, at, MPI_COMM_WORLD);
  expect_swapped();
  tonari::Request back =
      tonari::alltoallv_inplace_init(std::span(data), counts, at, MPI_COMM_WORLD);
  back.start();
  back.wait();
  EXPECT_EQ(data, before);
  tonari::ialltoallv_inplace(std::span(data), counts, at, MPI_COMM_WORLD).wait();
  expect_swapped();
}

TEST_F(InPlaceCpp, TypesOfManyKinds) {
  std::vector<MPI_Datatype> types(static_cast<std::size_t>(ranks), MPI_DOUBLE);
  Places bytes;
  for (MPI_Aint place : at) bytes.push_back(place * static_cast<MPI_Aint>(sizeof(double)));
  tonari::alltoallw_inplace(data.data(), counts, bytes, types, MPI_COMM_WORLD);
  expect_swapped();
  tonari::Request back =
      tonari::alltoallw_inplace_init(data.data(), counts, bytes, types, MPI_COMM_WORLD);
  back.start();
  back.wait();
  EXPECT_EQ(data, before);
  tonari::ialltoallw_inplace(data.data(), counts, bytes, types, MPI_COMM_WORLD).wait();
  expect_swapped();
}

TEST_F(InPlaceCpp, TheGeneralExchange) {
  // Rank r has r % 2 + 1 elements for everyone; what arrives is stored without gaps, in the order
  // of the ranks.
  const auto of = [](int r) { return r % 2 + 1; };
  std::vector<int> send(static_cast<std::size_t>(ranks), of(rank)), recv;
  Places send_at, recv_at;
  MPI_Aint next = 0;
  for (int j = 0; j < ranks; ++j) {
    send_at.push_back(of(rank) * static_cast<MPI_Aint>(j));
    recv.push_back(of(j));
    recv_at.push_back(next);
    next += of(j);
  }
  std::vector<double> all(static_cast<std::size_t>(2 * ranks));
  const auto fill = [&] {
    for (int j = 0; j < ranks; ++j)
      for (int k = 0; k < send[j]; ++k) all[send_at[j] + k] = value(rank, j, k);
  };
  const auto expect = [&] {
    for (int j = 0; j < ranks; ++j)
      for (int k = 0; k < recv[j]; ++k) EXPECT_EQ(all[recv_at[j] + k], value(j, rank, k));
  };
  fill();
  tonari::alltoallv_inplace_general(std::span(all), send, send_at, recv, recv_at, MPI_COMM_WORLD);
  expect();
  fill();
  tonari::ialltoallv_inplace_general(std::span(all), send, send_at, recv, recv_at, MPI_COMM_WORLD)
      .wait();
  expect();
  tonari::Request again = tonari::alltoallv_inplace_general_init(
      all.data(), send, send_at, recv, recv_at, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int round = 0; round < 2; ++round) {
    fill();
    again.start();
    again.wait();
    expect();
  }
  EXPECT_STREQ(again.info().algorithm, "general");
}

TEST_F(InPlaceCpp, SettingsByInfo) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "tonari_algorithm", "linear-shift");
  MPI_Info_set(info, "tonari_inplace_memory", "100");
  const tonari::Request swap =
      tonari::alltoallv_inplace_init(std::span(data), counts, at, MPI_COMM_WORLD, info);
  MPI_Info_free(&info);
  EXPECT_STREQ(swap.info().algorithm, "linear-shift");
  EXPECT_LE(swap.info().scratch_bytes, 100);
}

TEST_F(InPlaceCpp, SpansOfTheWrongLengthFailOnAllRanks) {
  const bool errs = rank == last;
  std::vector<int> few = counts;
  Places many = at, bytes;
  for (MPI_Aint place : at) bytes.push_back(place * static_cast<MPI_Aint>(sizeof(double)));
  if (errs) few.pop_back(), many.push_back(0);
  const std::vector<MPI_Datatype> types(static_cast<std::size_t>(errs ? ranks + 1 : ranks),
                                        MPI_DOUBLE);
  const std::span all(data);
  const MPI_Comm comm = MPI_COMM_WORLD;
  const std::string less = std::to_string(ranks - 1), more = std::to_string(ranks + 1);
  const auto told = [&](const char* name, const std::string& entries) {
    return (ranks > 1 ? "rank " + std::to_string(last) + ": `" : "`") + name + "` has " + entries +
           " entries; there must be " + std::to_string(ranks) + ", one for each rank";
  };
  expect_failure(TONARI_ERR_ARGUMENT, {told("counts", less)},
                 [&] { tonari::alltoallv_inplace(all, few, at, comm); });
  expect_failure(TONARI_ERR_ARGUMENT, {told("displs", more)},
                 [&] { (void)tonari::alltoallv_inplace_init(all, counts, many, comm); });
  expect_failure(TONARI_ERR_ARGUMENT, {told("types", more)}, [&] {
    (void)tonari::ialltoallw_inplace(data.data(), counts, bytes, types, comm);
  });
  expect_failure(TONARI_ERR_ARGUMENT, {told("sendcounts", less)},
                 [&] { tonari::alltoallv_inplace_general(all, few, at, counts, at, comm); });
  expect_failure(TONARI_ERR_ARGUMENT, {told("senddispls", more)},
                 [&] { tonari::alltoallv_inplace_general(all, counts, many, counts, at, comm); });
  expect_failure(TONARI_ERR_ARGUMENT, {told("recvcounts", less)},
                 [&] { (void)tonari::ialltoallv_inplace_general(all, counts, at, few, at, comm); });
  expect_failure(TONARI_ERR_ARGUMENT, {told("recvdispls", more)}, [&] {
    (void)tonari::alltoallv_inplace_general_init(all, counts, at, counts, many, comm);
  });
  tonari::alltoallv_inplace(all, counts, at, comm);
  expect_swapped();
}

TEST_F(InPlaceCpp, BuffersThatAreTooSmallFailOnAllRanks) {
  // Of at least two elements per rank, one missing on the last rank.
  std::vector<double> even(
      static_cast<std::size_t>(2 * ranks + (rank == last && ranks > 1 ? -1 : 0)));
  const std::string who = ranks > 1 ? "rank " + std::to_string(last) + ": " : "";
  if (ranks > 1)
    expect_failure(TONARI_ERR_ARGUMENT,
                   {who + "`buf` has " + std::to_string(2 * ranks - 1) +
                    " elements; they must make " + std::to_string(ranks) + " blocks of one size"},
                   [&] { tonari::alltoall_inplace(std::span(even), MPI_COMM_WORLD); });
  // The block for rank 0 ends one element, a gap, before the buffer does.
  const std::span all(data), part = all.first(data.size() - (rank == last ? 2 : 1));
  const std::string reached = " elements, and block 0 has ";
  expect_failure(TONARI_ERR_ARGUMENT, {who + "`buf` has ", reached},
                 [&] { tonari::alltoallv_inplace(part, counts, at, MPI_COMM_WORLD); });
  expect_failure(TONARI_ERR_ARGUMENT, {who + "`buf` has ", reached}, [&] {
    tonari::alltoallv_inplace_general(part, counts, at, counts, at, MPI_COMM_WORLD);
  });
  tonari::alltoallv_inplace(all.first(data.size() - 1), counts, at, MPI_COMM_WORLD);
  expect_swapped();
}

TEST_F(InPlaceCpp, FailuresOfTheLibraryAreThrown) {
  expect_failure(TONARI_ERR_ARGUMENT, {"MPI_COMM_NULL"},
                 [&] { tonari::alltoall_inplace(std::span(data), MPI_COMM_NULL); });
  expect_failure(TONARI_ERR_ARGUMENT, {"MPI_COMM_NULL"},
                 [&] { tonari::alltoallv_inplace(std::span(data), counts, at, MPI_COMM_NULL); });
  if (ranks == 1) return;
  Places same = at;
  if (rank == last) same[0] = same[last];
  expect_failure(TONARI_ERR_BUFFERS, {"rank " + std::to_string(last), "overlap"},
                 [&] { tonari::alltoallv_inplace(std::span(data), counts, same, MPI_COMM_WORLD); });
}

}  // namespace
