// SPDX-License-Identifier: BSD-3-Clause
// Measuring on copies: what a copy of the program's buffers takes, and that it is one.
#include "engine/tune/trial.hpp"

#include <sys/mman.h>

#include "support/fresh_wisdom.hpp"
#include "support/graph_exchange.hpp"

namespace {

using namespace tonari::test;
using tonari::Block;
using tonari::Form;

// Addresses of which only those that are touched take memory.
class FarApart {
 public:
  FarApart()
      : base_(static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {}
  ~FarApart() { munmap(base_, bytes); }
  FarApart(const FarApart&) = delete;
  FarApart& operator=(const FarApart&) = delete;
  char* at(std::size_t offset) const { return base_ + offset; }

  static constexpr std::size_t bytes = std::size_t{4} << 30, distance = std::size_t{1} << 30;

 private:
  char* base_;
};

std::size_t aligned_as(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % tonari::cache_line;
}

TEST(MeasuringOnCopies, TakesNoMemoryForWhatLiesBetweenAllocations) {
  const FarApart memory;
  MPI_Datatype strided = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 5, MPI_INT, &strided);
  tonari::Arguments arguments{tonari::Collective::alltoall, Form::w, nullptr, nullptr};
  // two blocks side by side, one far away, one before all, an empty one
  const std::array<std::size_t, 4> places{FarApart::distance + 24, FarApart::distance + 1024,
                                          3 * FarApart::distance + 8, 40};
  for (const std::size_t place : places)
    arguments.send.push_back({reinterpret_cast<MPI_Aint>(memory.at(place)), 1, strided});
  arguments.send.push_back({0, 0, MPI_BYTE});
  arguments.recv.push_back({reinterpret_cast<MPI_Aint>(memory.at(7)), 100, MPI_BYTE});
  arguments.bind();
  const auto shadow = tonari::Shadow::make(arguments);
  ASSERT_TRUE(shadow);
  const std::vector<Block>& copies = shadow->arguments().binding.send;
  for (std::size_t k = 0; k < places.size(); ++k) {
    EXPECT_EQ(aligned_as(copies[k].address), aligned_as(arguments.binding.send[k].address)) << k;
    EXPECT_EQ(copies[k].layout->runs()[0], arguments.binding.send[k].layout->runs()[0]) << k;
    EXPECT_FALSE(copies[k].address >= reinterpret_cast<std::byte*>(memory.at(0)) &&
                 copies[k].address < reinterpret_cast<std::byte*>(memory.at(FarApart::bytes)))
        << k << " is the program's";
  }
  EXPECT_EQ(copies[1].address - copies[0].address, 1000) << "blocks of one allocation";
  std::array<std::byte*, 3> regions{copies[0].address, copies[2].address, copies[3].address};
  std::ranges::sort(regions);
  for (std::size_t k = 1; k < regions.size(); ++k) {
    EXPECT_GE(regions[k] - regions[k - 1], 44) << "blocks overlap";
    EXPECT_LT(regions[k] - regions[k - 1], 4096);
  }
  MPI_Type_free(&strided);
}

// Blocks of 4 KiB to both neighbors of a ring, each in an allocation of its own.
TEST(MeasuringOnCopies, DecidesForBlocksInSeparateAllocations) {
  if (world_size() == 1) GTEST_SKIP() << "nothing to choose from";
  constexpr int n = 4096;
  const FreshWisdom wisdom("0.02");
  const FarApart memory;
  const int rank = world_rank(), ranks = world_size();
  const std::array neighbors{(rank + 1) % ranks, (rank + ranks - 1) % ranks};
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, 2, neighbors.data(), MPI_UNWEIGHTED,
                                                2, neighbors.data(), MPI_UNWEIGHTED, MPI_INFO_NULL,
                                                &near));
  const std::array<int, 2> counts{n, n};
  const std::array<MPI_Aint, 2> send{0, static_cast<MPI_Aint>(2 * FarApart::distance)};
  const std::array<MPI_Aint, 2> recv{n, static_cast<MPI_Aint>(3 * FarApart::distance)};
  const std::array<MPI_Datatype, 2> types{MPI_CHAR, MPI_CHAR};
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_alltoallw_init(memory.at(0), counts.data(), send.data(), types.data(),
                                  memory.at(0), counts.data(), recv.data(), types.data(), near,
                                  Info{{"tonari_tune", "auto"}}, &request));
  const auto value = [](int from, std::size_t block, int k) {
    return static_cast<char>(from * 31 + static_cast<int>(block) * 101 + k * 7);
  };
  for (std::size_t b = 0; b < 2; ++b)
    for (int k = 0; k < n; ++k) memory.at(static_cast<std::size_t>(send[b]))[k] = value(rank, b, k);
  EXPECT_OK(tonari_start(request));
  EXPECT_OK(tonari_wait(request));
  // the k-th block sent to a rank is the k-th that it receives from there
  for (std::size_t b = 0; b < 2; ++b) {
    const std::size_t theirs = ranks == 2 ? b : 1 - b;
    for (int k = 0; k < n; ++k)
      ASSERT_EQ(memory.at(static_cast<std::size_t>(recv[b]))[k], value(neighbors[b], theirs, k))
          << "block " << b << ", byte " << k;
  }
  tonari_request_info info;
  EXPECT_OK(tonari_request_get_info(request, &info));
  EXPECT_STREQ(info.reason, "measured") << tonari_request_describe(request);
  tonari_request_free(&request);
  tonari_neighborhood_free(&near);
}

}  // namespace
