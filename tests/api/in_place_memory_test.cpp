// SPDX-License-Identifier: BSD-3-Clause
// What in-place exchanges hold, as the system sees it; and that they hold up nobody.
#include <unistd.h>

#include <fstream>

#include "support/counting.hpp"
#include "support/oracle.hpp"
#include "support/random_sizes.hpp"

namespace {

using namespace tonari::test;

constexpr std::size_t kib = 1024, budget = 1024 * kib, allowance = 64 * kib;

// Resident bytes of mappings of tonari's shared segments, own and others'.
std::size_t resident_segments() {
  std::ifstream maps("/proc/self/smaps");
  std::size_t bytes = 0;
  bool ours = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') != std::string::npos && line.find(':') != std::string::npos &&
        std::isxdigit(static_cast<unsigned char>(line[0])))
      ours = line.find("memfd:tonari") != std::string::npos;
    else if (ours && line.starts_with("Rss:"))
      bytes += std::stoul(line.substr(4)) * kib;
  }
  return bytes;
}

// Bytes that are not the MPI's, which takes more for its messages now and then.
std::size_t heap() { return static_cast<std::size_t>(live().bytes); }

// What the request says that it holds: bytes on their way, and books.
std::size_t told(tonari_request request) {
  tonari_request_info info;
  EXPECT_OK(tonari_request_get_info(request, &info));
  const std::string text = tonari_request_describe(request), words = "books: ";
  const std::size_t at = text.find(words);
  EXPECT_NE(at, std::string::npos) << text;
  const std::size_t books =
      at == std::string::npos ? 0 : std::stoul(text.substr(at + words.size()));
  return static_cast<std::size_t>(info.scratch_bytes) + books;
}

class InPlaceMemory : public testing::Test {
 protected:
  // An exchange, and the most that it adds to what is allocated meanwhile.
  static std::size_t most_held(tonari_request request, std::size_t before) {
    std::size_t most = heap();
    EXPECT_OK(tonari_start(request));
    for (int flag = 0; !flag;) {
      EXPECT_OK(tonari_test(request, &flag));
      most = std::max(most, heap());
    }
    return most - before;
  }
  // but for `fixed` bytes, which do not depend on ranks, blocks and budget
  static void expect_all_is_told(tonari_request request, std::size_t held,
                                 std::size_t fixed = allowance / 4) {
    EXPECT_LE(held, told(request) + fixed) << tonari_request_describe(request);
    // which counts what the allocator adds to small pieces
    EXPECT_LE(told(request), held + held / 3 + fixed) << tonari_request_describe(request);
  }

  int rank = world_rank(), ranks = world_size();
};

// One rank with many partners, which have it alone: the rings in which it sends are theirs.
TEST_F(InPlaceMemory, RingsOfOthersCountToo) {
  if (ranks < 3) GTEST_SKIP() << "needs three ranks";
  constexpr int bytes = 1 << 20;
  const auto partner = [&](int j) { return j != rank && (j == 0 || rank == 0); };
  std::vector<char> data(static_cast<std::size_t>(ranks) * bytes, static_cast<char>(rank));
  std::vector<int> counts;
  std::vector<MPI_Aint> places;
  for (int j = 0; j < ranks; ++j)
    counts.push_back(partner(j) ? bytes : 0), places.push_back(static_cast<MPI_Aint>(j) * bytes);
  const std::size_t before = resident_segments();
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_alltoallv_inplace_init(data.data(), counts.data(), places.data(), MPI_BYTE,
                                          MPI_COMM_WORLD, Info{{"tonari_channel", "shared"}},
                                          &request));
  tonari_request_info info;
  ASSERT_OK(tonari_request_get_info(request, &info));
  if (std::string(info.channel) != "shared") GTEST_SKIP() << tonari_request_describe(request);
  ASSERT_OK(tonari_start(request));
  ASSERT_OK(tonari_wait(request));
  const std::size_t held = resident_segments() - before;
  EXPECT_GT(held, 0u);
  EXPECT_LE(held, budget + allowance);
  for (int j = 0; j < ranks; ++j)
    EXPECT_EQ(data[static_cast<std::size_t>(j) * bytes + bytes / 2],
              static_cast<char>(partner(j) ? j : rank));
  EXPECT_OK(tonari_request_free(&request));
}

// Elements of two pieces: a list of all pieces would be longer than the data.
TEST_F(InPlaceMemory, ElementsAreNotListed) {
  const int count = 400'000 / ranks;
  struct Element {
    std::int32_t a, between;
    double b, behind;
  };
  const int lengths[] = {1, 1};
  const MPI_Aint offsets[] = {offsetof(Element, a), offsetof(Element, b)};
  const MPI_Datatype types[] = {MPI_INT32_T, MPI_DOUBLE};
  MPI_Datatype pair, element;
  MPI_Type_create_struct(2, lengths, offsets, types, &pair);
  MPI_Type_create_resized(pair, 0, sizeof(Element), &element);
  MPI_Type_commit(&element);
  std::vector<Element> data(static_cast<std::size_t>(count) * static_cast<std::size_t>(ranks));
  for (std::size_t k = 0; k < data.size(); ++k) data[k] = {rank, -1, static_cast<double>(k), -2};
  // after the first two the MPI has what it makes for its first messages
  for (int turn = 0; turn < 4; ++turn) {
    const char* const channel = turn % 2 ? "p2p-packed" : "shared";
    const std::size_t before = heap(), slack = turn < 2 ? 8 * budget : allowance;
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(tonari_alltoall_inplace_init(data.data(), count, element, MPI_COMM_WORLD,
                                           Info{{"tonari_channel", channel}}, &request));
    EXPECT_LE(heap(), before + budget + slack) << channel;
    ASSERT_OK(tonari_start(request));
    ASSERT_OK(tonari_wait(request));
    EXPECT_OK(tonari_request_free(&request));
    EXPECT_LE(heap(), before + slack) << channel;
  }
  // An even number of times: all is where it was.
  for (std::size_t k = 0; k < data.size(); ++k)
    if (data[k].a != rank || data[k].b != static_cast<double>(k) || data[k].between != -1 ||
        data[k].behind != -2) {
      ADD_FAILURE() << "element " << k;
      break;
    }
  MPI_Type_free(&pair), MPI_Type_free(&element);
}

// A budget that is smaller than the books: they are told of, and counted.
TEST_F(InPlaceMemory, BooksOfATinyBudgetAreTold) {
  if (!counts_allocations()) GTEST_SKIP() << "sanitizers have a malloc of their own";
  // each block moves on by half a block: nothing can be stored before something else has left
  const int n = 64 * static_cast<int>(kib), half = n / 2;
  std::vector<char> data(static_cast<std::size_t>(ranks * n + half));
  std::vector<int> counts(static_cast<std::size_t>(ranks), n);
  std::vector<MPI_Aint> from, to;
  for (int j = 0; j < ranks; ++j) from.push_back(j * n), to.push_back(j * n + half);
  const Info tiny{{"tonari_inplace_memory", "17"}, {"tonari_channel", "p2p-packed"}};
  for (int turn = 0; turn < 2; ++turn) {  // what the first one makes stays with the communicator
    const std::size_t before = heap();
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(tonari_alltoallv_inplace_general_init(data.data(), counts.data(), from.data(),
                                                    counts.data(), to.data(), MPI_CHAR,
                                                    MPI_COMM_WORLD, tiny, &request));
    const std::size_t held = most_held(request, before);
    if (turn == 1) expect_all_is_told(request, held);
    EXPECT_OK(tonari_request_free(&request));
  }
}

// One for each other rank, whatever the budget and the blocks.
TEST_F(InPlaceMemory, BooksOfSwapsAreTold) {
  if (!counts_allocations()) GTEST_SKIP() << "sanitizers have a malloc of their own";
  std::vector<char> data(static_cast<std::size_t>(ranks) * 4 * kib);
  for (int turn = 0; turn < 2; ++turn) {
    const std::size_t before = heap();
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(tonari_alltoall_inplace_init(
        data.data(), 4 * static_cast<int>(kib), MPI_CHAR, MPI_COMM_WORLD,
        Info{{"tonari_inplace_memory", "17"}, {"tonari_tune", "off"}}, &request));
    const std::size_t held = most_held(request, before);
    if (turn == 1) expect_all_is_told(request, held, 9 * kib / 4);
    EXPECT_OK(tonari_request_free(&request));
  }
}

// start and test do some of the work, not all of it: a program has other things to do.
TEST_F(InPlaceMemory, ATestIsShort) {
  if (ranks < 2) GTEST_SKIP() << "needs two ranks";
  constexpr int bytes = 6 << 20;  // several times what the rings of two partners can hold
  std::vector<char> data(static_cast<std::size_t>(ranks) * bytes);
  for (const char* channel : {"shared", "p2p-packed"}) {
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(tonari_alltoall_inplace_init(data.data(), bytes, MPI_BYTE, MPI_COMM_WORLD,
                                           Info{{"tonari_channel", channel}}, &request));
    ASSERT_OK(tonari_start(request));
    int tests = 0;
    for (int flag = 0; !flag; ++tests) ASSERT_OK(tonari_test(request, &flag));
    EXPECT_GE(tests, 8) << channel;
    EXPECT_OK(tonari_request_free(&request));
  }
}

// The first exchange on a communicator makes things for it, together with all others; who waits for
// something else meanwhile must get it.
TEST_F(InPlaceMemory, TheFirstCallOnACommunicatorHoldsUpNobody) {
  constexpr int bytes = 4 << 20;
  MPI_Comm fresh;
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  std::vector<char> data(static_cast<std::size_t>(ranks) * bytes);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_alltoall_inplace_init(data.data(), bytes, MPI_BYTE, MPI_COMM_WORLD,
                                         MPI_INFO_NULL, &request));
  ASSERT_OK(tonari_start(request));
  // needs the others, which go on to the next call
  if (rank % 2) {
    EXPECT_OK(tonari_wait(request));
  }
  std::vector<int> more(static_cast<std::size_t>(ranks), rank);
  EXPECT_OK(tonari_alltoall_inplace(more.data(), 1, MPI_INT, fresh, MPI_INFO_NULL));
  EXPECT_OK(tonari_wait(request));
  for (int j = 0; j < ranks; ++j) EXPECT_EQ(more[j], j);
  EXPECT_OK(tonari_request_free(&request));
  MPI_Comm_free(&fresh);
}

}  // namespace
