// SPDX-License-Identifier: BSD-3-Clause
// Blocks of 2.5 GB, and of more than 2^31 elements, through every way that moves bytes. Each test
// says how much memory it needs, and is skipped where that is not there.
#include <gtest/gtest.h>
#include <tonari/blocks.h>
#include <tonari/grid.h>
#include <tonari/group.h>
#include <tonari/sparse.h>
#include <tonari/vector.h>
#include <cstdlib>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "memory/available.hpp"
#include "support/oracle.hpp"

namespace {

using namespace tonari::test;

constexpr std::size_t long_block = 2'500'000'000;  // bytes; a multiple of 8, and no power of two
constexpr std::size_t words = long_block / sizeof(std::uint64_t);
constexpr double giga = 1e9;

// Differs by rank, block, round and word.
std::uint64_t word_of(int rank, int block, int round, std::size_t k) {
  const auto who = static_cast<std::uint64_t>((rank * 64 + block) * 64 + round + 1);
  return (k + who * 0x9E3779B97F4A7C15u) * 0xD1B54A32D192ED03u;
}

using Words = std::unique_ptr<std::uint64_t[]>;
Words memory_for(std::size_t count) {
  return std::make_unique_for_overwrite<std::uint64_t[]>(count);
}
void fill(std::uint64_t* to, std::size_t count, int rank, int block, int round) {
  for (std::size_t k = 0; k < count; ++k) to[k] = word_of(rank, block, round, k);
}
// The first word that is wrong; `count` if none is.
std::size_t first_wrong(const std::uint64_t* at, std::size_t count, int rank, int block,
                        int round) {
  std::size_t k = 0;
  while (k < count && at[k] == word_of(rank, block, round, k)) ++k;
  return k;
}

class Large : public testing::Test {
 protected:
  // Whether all ranks together can fill so many bytes each, and 1.5 GB are left.
  // All of them together take many minutes: one runs in any case.
  bool there_is(double bytes_per_rank, bool in_any_case = false) {
    if (!in_any_case && !std::getenv("TONARI_TEST_LARGE")) {
      text = "takes minutes: TONARI_TEST_LARGE=1 asks for it (make test-large)";
      return false;
    }
    double needed = bytes_per_rank * ranks + 1.5 * giga,
           available = static_cast<double>(tonari::available_memory());
    MPI_Bcast(&available, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (available >= needed) return true;
    text = "needs " + std::to_string(needed / giga) + " GB of memory; " +
           std::to_string(available / giga) + " are available";
    return false;
  }
  // A ring: block 0 goes to the next rank, block 1 to the one before.
  void connect() {
    const int periodic = 1, offsets[] = {1, -1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
    ASSERT_OK(tonari_neighborhood_create_cart(ring, 2, offsets, MPI_INFO_NULL, &near));
  }
  void TearDown() override {
    if (near) {
      EXPECT_OK(tonari_neighborhood_free(&near));
    }
    if (ring != MPI_COMM_NULL) MPI_Comm_free(&ring);
  }
  int before() const { return (rank + ranks - 1) % ranks; }
  int after() const { return (rank + 1) % ranks; }

  int rank = world_rank(), ranks = world_size();
  std::string text;
  MPI_Comm ring = MPI_COMM_NULL;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
};

// Block 1 is short, and lies in front of the long one, so block 0 begins beyond the first words.
struct RingBuffers {
  static constexpr std::size_t few = 100, gap = 28;
  Words out = memory_for(few + gap + words), in = memory_for(few + gap + words);

  void prepare(int rank, int round) {
    fill(&out[few + gap], words, rank, 0, round);
    fill(&out[0], few, rank, 1, round);
    std::memset(in.get(), 0xA5, (few + gap + words) * sizeof(std::uint64_t));
  }
  void expect(int before, int after, int round) const {
    EXPECT_EQ(first_wrong(&in[few + gap], words, before, 0, round), words);
    EXPECT_EQ(first_wrong(&in[0], few, after, 1, round), few);
    for (std::size_t k = few; k < few + gap; ++k) EXPECT_EQ(in[k], 0xA5A5A5A5A5A5A5A5u);
  }
};

// Ranks of even number count bytes, by MPI_Count; the others count doubles, by int.
struct RingCall {
  bool large;
  MPI_Count counts[2] = {static_cast<MPI_Count>(long_block), 8 * RingBuffers::few};
  int short_counts[2] = {static_cast<int>(words), RingBuffers::few};
  MPI_Aint places[2] = {8 * (RingBuffers::few + RingBuffers::gap), 0},
           short_places[2] = {RingBuffers::few + RingBuffers::gap, 0};

  explicit RingCall(int rank) : large(rank % 2 == 0) {}
  int init(RingBuffers& b, tonari_neighborhood near, MPI_Info info, tonari_request* request) {
    return large ? tonari_alltoallv_init_c(b.out.get(), counts, places, MPI_BYTE, b.in.get(),
                                           counts, places, MPI_BYTE, near, info, request)
                 : tonari_alltoallv_init(b.out.get(), short_counts, short_places, MPI_DOUBLE,
                                         b.in.get(), short_counts, short_places, MPI_DOUBLE, near,
                                         info, request);
  }
  int call(RingBuffers& b, tonari_neighborhood near) {
    return large ? tonari_alltoallv_c(b.out.get(), counts, places, MPI_BYTE, b.in.get(), counts,
                                      places, MPI_BYTE, near)
                 : tonari_alltoallv(b.out.get(), short_counts, short_places, MPI_DOUBLE, b.in.get(),
                                    short_counts, short_places, MPI_DOUBLE, near);
  }
};

struct Way {
  const char *algorithm, *channel;
  double more;  // memory of a rank, in blocks, beside its buffers
};

void PrintTo(const Way& way, std::ostream* to) { *to << way.algorithm << ' ' << way.channel; }

class LargeRequests : public Large, public testing::WithParamInterface<Way> {};

TEST_P(LargeRequests, Deliver) {
  const auto [algorithm, channel, more] = GetParam();
  if (!there_is((2 + more) * static_cast<double>(long_block))) GTEST_SKIP() << text;
  connect();
  RingBuffers b;
  RingCall call(rank);
  const Info info{
      {"tonari_algorithm", algorithm}, {"tonari_channel", channel}, {"tonari_tune", "off"}};
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(call.init(b, near, info, &request));
  for (int round = 0; round < 2; ++round) {
    b.prepare(rank, round);
    EXPECT_OK(tonari_start(request));
    EXPECT_OK(tonari_wait(request));
    b.expect(before(), after(), round);
  }
  tonari_request_info told;
  EXPECT_OK(tonari_request_get_info(request, &told));
  if (ranks > 1) {  // what a rank has for itself is no message
    EXPECT_EQ(told.bytes, static_cast<MPI_Count>(long_block + 8 * RingBuffers::few))
        << tonari_request_describe(request);
  }
  EXPECT_OK(tonari_request_free(&request));
}

INSTANTIATE_TEST_SUITE_P(Ways, LargeRequests,
                         testing::Values(Way{"linear", "p2p-packed", 0},
                                         Way{"linear", "p2p-typed", 0}, Way{"linear", "shared", 0},
                                         Way{"linear", "onesided", 2}, Way{"irecv", "auto", 0},
                                         Way{"native", "auto", 0}),
                         [](const auto& way) {
                           std::string name =
                               std::string(way.param.algorithm) + "_" + way.param.channel;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_F(Large, OneShotCallsDeliver) {
  if (!there_is(2 * static_cast<double>(long_block), true)) GTEST_SKIP() << text;
  connect();
  RingBuffers b;
  RingCall call(rank);
  const int rounds = std::getenv("TONARI_TEST_LARGE") ? 2 : 1;  // in `make test-all`
  for (int round = 0; round < rounds; ++round) {
    b.prepare(rank, round);
    EXPECT_OK(call.call(b, near));
    b.expect(before(), after(), round);
  }
}

// Where ranks are on nodes of their own: by MPI alone, in parts.
TEST_F(Large, OneShotCallsDeliverBetweenNodes) {
  if (!there_is(2 * static_cast<double>(long_block))) GTEST_SKIP() << text;
  ::setenv("TONARI_NODES", "1", 1);
  connect();
  RingBuffers b;
  RingCall call(rank);
  b.prepare(rank, 3);
  EXPECT_OK(call.call(b, near));
  ::unsetenv("TONARI_NODES");
  b.expect(before(), after(), 3);
}

// More than 2^31 elements, every other byte: what comes is spread by the receiver.
TEST_F(Large, MoreElementsThanAnIntCounts) {
  constexpr MPI_Count elements = (MPI_Count{1} << 31) + 1000;
  if (!there_is(3.0 * elements)) GTEST_SKIP() << text;
  connect();
  MPI_Datatype spaced;
  MPI_Type_create_resized(MPI_BYTE, 0, 2, &spaced);
  MPI_Type_commit(&spaced);
  const auto out = std::make_unique_for_overwrite<Byte[]>(elements),
             in = std::make_unique_for_overwrite<Byte[]>(2 * elements);
  const auto byte = [](int from, MPI_Count k) {
    return static_cast<Byte>((static_cast<std::uint64_t>(k + 1) * 0x9E3779B97F4A7C15u >> 40) +
                             static_cast<std::uint64_t>(from));
  };
  for (MPI_Count k = 0; k < elements; ++k) out[k] = byte(rank, k);
  const MPI_Count counts[] = {elements, 0};
  const MPI_Aint places[] = {0, 0};
  for (const char* channel : {"shared", "p2p-packed", "p2p-typed"}) {
    if (std::string(channel) != "shared" && !there_is(3.0 * elements + 2.0 * elements)) continue;
    std::memset(in.get(), 0xA5, 2 * elements);
    const Info info{
        {"tonari_algorithm", "linear"}, {"tonari_channel", channel}, {"tonari_tune", "off"}};
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(tonari_alltoallv_init_c(out.get(), counts, places, MPI_BYTE, in.get(), counts, places,
                                      spaced, near, info, &request));
    EXPECT_OK(tonari_start(request));
    EXPECT_OK(tonari_wait(request));
    EXPECT_OK(tonari_request_free(&request));
    MPI_Count wrong = 0;
    for (MPI_Count k = 0; k < elements; ++k)
      wrong += in[2 * k] != byte(before(), k) || in[2 * k + 1] != 0xA5;
    EXPECT_EQ(wrong, 0) << channel;
  }
  MPI_Type_free(&spaced);
}

// ---- in place

class LargeInPlace : public Large, public testing::WithParamInterface<const char*> {};

TEST_P(LargeInPlace, BlocksAreSwapped) {
  if (!there_is(ranks * static_cast<double>(long_block))) GTEST_SKIP() << text;
  const Words buf = memory_for(words * static_cast<std::size_t>(ranks));
  const auto block = [&](int j) { return &buf[words * static_cast<std::size_t>(j)]; };
  const Info info{{"tonari_channel", GetParam()}, {"tonari_tune", "off"}};
  for (int j = 0; j < ranks; ++j) fill(block(j), words, rank, j, 0);
  if (rank % 2)
    EXPECT_OK(tonari_alltoall_inplace(buf.get(), static_cast<int>(words), MPI_DOUBLE,
                                      MPI_COMM_WORLD, info));
  else
    EXPECT_OK(tonari_alltoall_inplace_c(buf.get(), long_block, MPI_BYTE, MPI_COMM_WORLD, info));
  for (int j = 0; j < ranks; ++j) EXPECT_EQ(first_wrong(block(j), words, j, rank, 0), words) << j;
}

INSTANTIATE_TEST_SUITE_P(Channels, LargeInPlace, testing::Values("shared", "p2p-packed"),
                         [](const auto& channel) {
                           return std::string(channel.param) == "shared" ? "shared" : "packed";
                         });

// The blocks move on by some words: all of it is in the way of all of it.
TEST_F(Large, InPlaceInGeneral) {
  const std::size_t shift = 1000;
  if (!there_is(ranks * static_cast<double>(long_block))) GTEST_SKIP() << text;
  const Words buf = memory_for(words * static_cast<std::size_t>(ranks) + shift);
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> from, to;
  for (int j = 0; j < ranks; ++j) {
    counts.push_back(long_block);
    from.push_back(static_cast<MPI_Aint>(long_block) * j);
    to.push_back(static_cast<MPI_Aint>(long_block) * (ranks - 1 - j) +
                 static_cast<MPI_Aint>(8 * shift));
    fill(&buf[words * static_cast<std::size_t>(j)], words, rank, j, 1);
  }
  EXPECT_OK(tonari_alltoallv_inplace_general_c(buf.get(), counts.data(), from.data(), counts.data(),
                                               to.data(), MPI_BYTE, MPI_COMM_WORLD, MPI_INFO_NULL));
  for (int j = 0; j < ranks; ++j)
    EXPECT_EQ(first_wrong(&buf[static_cast<std::size_t>(to[static_cast<std::size_t>(j)]) / 8],
                          words, j, rank, 1),
              words);
}

// ---- messages, vectors, groups

TEST_F(Large, AMessageThatNobodyExpects) {
  if (!there_is(2 * static_cast<double>(long_block))) GTEST_SKIP() << text;
  const Words out = memory_for(words);
  fill(out.get(), words, rank, 0, 2);
  const int to = after();
  const MPI_Count count = long_block;
  tonari_messages got = TONARI_MESSAGES_NULL;
  ASSERT_OK(tonari_sparse_alltoallv(1, &to, &count, nullptr, MPI_BYTE, out.get(), MPI_COMM_WORLD,
                                    MPI_INFO_NULL, &got));
  ASSERT_EQ(got->count, 1);
  ASSERT_EQ(got->counts[0], count);
  EXPECT_EQ(first_wrong(static_cast<const std::uint64_t*>(got->data), words, before(), 0, 2),
            words);
  EXPECT_OK(tonari_messages_free(&got));
}

// Each rank owns one index, and needs that of the next, of so many components.
TEST_F(Large, AVectorWithMoreThan2GiBBetweenTwoRanks) {
  if (!there_is(2 * static_cast<double>(long_block))) GTEST_SKIP() << text;
  const Words x = memory_for(2 * words);
  const std::int64_t needs = after();
  tonari_vector vector = TONARI_VECTOR_NULL;
  ASSERT_OK(tonari_vector_create(MPI_COMM_WORLD, rank, 1, 1, &needs, MPI_INFO_NULL, &vector));
  tonari_vector_values values = {};
  values.type = MPI_DOUBLE, values.components = static_cast<int>(words);
  for (int round = 0; round < 2; ++round) {
    fill(&x[0], words, rank, 0, 3 + round);
    std::memset(&x[words], 0xA5, long_block);
    if (round == 0) {
      EXPECT_OK(tonari_vector_forward(vector, &values, &x[0], &x[words]));
    } else {
      tonari_request request = TONARI_REQUEST_NULL;
      ASSERT_OK(tonari_vector_forward_init(vector, &values, &x[0], &x[words],
                                           Info{{"tonari_tune", "off"}}, &request));
      EXPECT_OK(tonari_start(request));
      EXPECT_OK(tonari_wait(request));
      EXPECT_OK(tonari_request_free(&request));
    }
    EXPECT_EQ(first_wrong(&x[words], words, after(), 0, 3 + round), words);
  }
  EXPECT_OK(tonari_vector_free(&vector));
}

// Two calls, whose blocks travel in one message.
TEST_F(Large, AGroup) {
  if (!there_is(2 * static_cast<double>(long_block))) GTEST_SKIP() << text;
  connect();
  RingBuffers b;
  RingCall call(rank);
  const std::vector<double> out(200, rank + 0.5);
  std::vector<double> in(200, -1);
  b.prepare(rank, 5);
  ASSERT_OK(tonari_group_start(ring));
  EXPECT_OK(call.init(b, near, MPI_INFO_NULL, nullptr));
  EXPECT_OK(tonari_alltoall_init(out.data(), 100, MPI_DOUBLE, in.data(), 100, MPI_DOUBLE, near,
                                 MPI_INFO_NULL, nullptr));
  ASSERT_OK(tonari_group_run(MPI_INFO_NULL));
  b.expect(before(), after(), 5);
  EXPECT_EQ(in[0], before() + 0.5);
  EXPECT_EQ(in[199], after() + 0.5);
}

// ---- grids: the first cells of the next rank are ghosts here, 1.28 GB of them

constexpr std::int64_t own_cells = 170'000'000, ghost_cells = 160'000'000;

class LargeGhosts : public Large {
 protected:
  void SetUp() override {
    const int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &ring);
  }
  bool fits() {
    // beside the array, what comes from the ghosts in a reverse exchange
    return there_is(8.0 * (own_cells + 2 * ghost_cells));
  }
  static double value(int of, std::int64_t k) { return 1000.0 * of + static_cast<double>(k % 997); }
  void expect(std::int64_t first, std::int64_t end, auto want) {
    std::int64_t k = first;
    while (k < end && cells[static_cast<std::size_t>(k)] == want(k)) ++k;
    EXPECT_EQ(k, end) << "the first wrong cell of " << first << " to " << end;
  }
  // forward(), then reverse(): one-shot calls
  template <class Forward, class Reverse>
  void exchange(Forward forward, Reverse reverse) {
    for (std::int64_t k = 0; k < own_cells; ++k)
      cells[static_cast<std::size_t>(k)] = value(rank, k);
    for (std::int64_t k = own_cells; k < own_cells + ghost_cells; ++k)
      cells[static_cast<std::size_t>(k)] = -1;
    forward();
    expect(0, own_cells, [&](std::int64_t k) { return value(rank, k); });
    expect(own_cells, own_cells + ghost_cells,
           [&](std::int64_t k) { return value(after(), k - own_cells); });
    reverse();
    expect(0, ghost_cells, [&](std::int64_t k) { return 2 * value(rank, k); });
    expect(ghost_cells, own_cells, [&](std::int64_t k) { return value(rank, k); });
  }

  std::unique_ptr<double[]> cells;
};

TEST_F(LargeGhosts, OfAGrid) {
  if (!fits()) GTEST_SKIP() << text;
  tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
  shape.dims = 1, shape.type = MPI_DOUBLE;
  shape.cells[0] = own_cells * ranks, shape.upper[0] = ghost_cells;
  std::int64_t length = 0;
  ASSERT_OK(tonari_grid_shape_cells(ring, &shape, 0, nullptr, nullptr, &length));
  ASSERT_EQ(length, own_cells + ghost_cells);
  cells = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(length));
  void* const arrays[] = {cells.get()};
  tonari_grid grid = TONARI_GRID_NULL;
  ASSERT_OK(tonari_grid_create(ring, &shape, arrays, MPI_INFO_NULL, &grid));
  exchange([&] { EXPECT_OK(tonari_grid_forward(grid, 0, nullptr)); },
           [&] { EXPECT_OK(tonari_grid_reverse(grid, 0, nullptr, MPI_SUM)); });
  EXPECT_OK(tonari_grid_free(&grid));
}

TEST_F(LargeGhosts, OfBlocks) {
  if (!fits()) GTEST_SKIP() << text;
  std::vector<tonari_box> boxes(static_cast<std::size_t>(ranks));
  std::vector<int> owners(boxes.size());
  for (int r = 0; r < ranks; ++r) {
    boxes[static_cast<std::size_t>(r)].first[0] = own_cells * r;
    boxes[static_cast<std::size_t>(r)].end[0] = own_cells * (r + 1);
    owners[static_cast<std::size_t>(r)] = r;
  }
  tonari_blocks_shape shape = TONARI_BLOCKS_SHAPE_INIT;
  shape.dims = 1, shape.count = ranks, shape.boxes = boxes.data(), shape.owners = owners.data();
  shape.domain.end[0] = own_cells * ranks, shape.periodic[0] = 1;
  shape.upper[0] = ghost_cells, shape.type = MPI_DOUBLE;
  cells = std::make_unique_for_overwrite<double[]>(own_cells + ghost_cells);
  void* const arrays[] = {cells.get()};
  tonari_blocks blocks = TONARI_BLOCKS_NULL;
  ASSERT_OK(tonari_blocks_create(ring, &shape, MPI_INFO_NULL, &blocks));
  exchange([&] { EXPECT_OK(tonari_blocks_forward(blocks, arrays, nullptr)); },
           [&] { EXPECT_OK(tonari_blocks_reverse(blocks, arrays, nullptr, MPI_SUM)); });
  EXPECT_OK(tonari_blocks_free(&blocks));
}

}  // namespace
