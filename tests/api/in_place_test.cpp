// SPDX-License-Identifier: BSD-3-Clause
// In-place all-to-all exchanges as a program makes them: all forms, datatypes, sizes, budgets,
// channels and nodes, against what every rank knows of all payloads.
#include "support/graph_exchange.hpp"
#include "support/random_sizes.hpp"

namespace {

using namespace tonari::test;

enum class Shape { regular, v, w };

// What pairs of ranks swap: the same on all ranks.
struct BlockSizes {
  int ranks;
  std::vector<int> of;  // [i * ranks + j], symmetric
  int at(int i, int j) const { return of[static_cast<std::size_t>(i * ranks + j)]; }
  std::vector<int> row(int i) const {
    return {of.begin() + i * ranks, of.begin() + (i + 1) * ranks};
  }
};

BlockSizes random_sizes(Random& common, int ranks, int most, bool equal) {
  BlockSizes sizes{ranks, std::vector<int>(static_cast<std::size_t>(ranks * ranks))};
  const int one = 4 * pick(common, 1, most / 4);
  for (int i = 0; i < ranks; ++i)
    for (int j = i; j < ranks; ++j) {
      const int bytes = equal ? one
                        : pick(common, 0, 3) == 0
                            ? 0
                            : 4 * pick(common, 1, pick(common, 0, 2) ? most / 4 : 16);
      sizes.of[static_cast<std::size_t>(i * ranks + j)] =
          sizes.of[static_cast<std::size_t>(j * ranks + i)] = bytes;
    }
  return sizes;
}

struct Settings {
  std::string algorithm = "auto", channel = "auto";
  std::string memory = "1048576";
  Info info() const {
    return Info{{"tonari_algorithm", algorithm},
                {"tonari_channel", channel},
                {"tonari_inplace_memory", memory}};
  }
  std::string text() const { return algorithm + ", " + channel + ", " + memory + " bytes"; }
};

class InPlace : public testing::Test {
 protected:
  int rank = world_rank(), ranks = world_size();
  Nodes nodes;

  Side side(Random& random, Shape shape, const BlockSizes& sizes) const {
    const std::vector<int> mine = sizes.row(rank);
    if (shape == Shape::regular)
      return regular_side(random, static_cast<Style>(pick(random, 0, styles - 1)), ranks, mine[0]);
    if (shape == Shape::v)
      return v_side(random, static_cast<Style>(pick(random, 0, styles - 1)), mine, 4);
    return w_side(random, mine);
  }

  static int make(Shape shape, Side& s, MPI_Comm comm, MPI_Info info, tonari_request* request) {
    if (shape == Shape::regular)
      return tonari_alltoall_inplace_init(s.buffer(), s.counts[0], s.types[0], comm, info, request);
    if (shape == Shape::v)
      return tonari_alltoallv_inplace_init(s.buffer(), s.counts.data(), s.displacements.data(),
                                           s.types[0], comm, info, request);
    return tonari_alltoallw_inplace_init(s.buffer(), s.counts.data(), s.displacements.data(),
                                         s.types.data(), comm, info, request);
  }

  static int call(Shape shape, Side& s, MPI_Comm comm, MPI_Info info) {
    if (shape == Shape::regular)
      return tonari_alltoall_inplace(s.buffer(), s.counts[0], s.types[0], comm, info);
    if (shape == Shape::v)
      return tonari_alltoallv_inplace(s.buffer(), s.counts.data(), s.displacements.data(),
                                      s.types[0], comm, info);
    return tonari_alltoallw_inplace(s.buffer(), s.counts.data(), s.displacements.data(),
                                    s.types.data(), comm, info);
  }

  // Before: block j is what this rank has for rank j. After: what rank j had for this one.
  std::vector<Byte> content(const Side& s, int round, bool after) const {
    std::vector<Byte> memory(s.memory.size(), poison);
    for (int j = 0; j < ranks; ++j)
      write_block(memory, s.blocks[j], after ? j : rank, after ? rank : j, round);
    return memory;
  }

  // Where it lies: requests keep the address.
  void fill(Side& s, int round) const {
    std::ranges::copy(content(s, round, false), s.memory.begin());
  }

  void run(MPI_Comm comm, Random& common, Shape shape, const BlockSizes& sizes,
           const Settings& settings) {
    SCOPED_TRACE(settings.text() + ", form " + std::to_string(static_cast<int>(shape)));
    Random random(common() + static_cast<unsigned>(7919 * rank));
    Side s = side(random, shape, sizes);
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(make(shape, s, comm, settings.info(), &request));
    s.free_types();
    for (int round = 0; round < 3; ++round) {
      fill(s, round);
      ASSERT_OK(tonari_start(request));
      ASSERT_OK(complete(request, (rank + round) % 2));
      EXPECT_TRUE(s.memory == content(s, round, true)) << "round " << round << "\n"
                                                       << tonari_request_describe(request);
    }
    tonari_request_info info;
    EXPECT_OK(tonari_request_get_info(request, &info));
    EXPECT_LE(info.scratch_bytes, std::max(1ll, std::stoll(settings.memory)))
        << tonari_request_describe(request);
    EXPECT_OK(tonari_request_free(&request));
  }

  static bool few() { return world_size() > (mpi_spins() ? 5 : 8); }
};

constexpr const char* orders[] = {"mpich-order", "linear-shift", "hierarchical-sets"};

TEST_F(InPlace, AllFormsOrdersChannelsAndBudgets) {
  Random common(11);
  int turn = 0;
  for (const char* split : {"", "2,1", "1"})
    for (const char* order : orders)
      for (const char* channel : {"shared", "p2p-packed"})
        for (const char* memory : {"1048576", "40000", "1000", "17"}) {
          if (few() && ++turn % 7 != 0) continue;
          Nodes::set(split);
          MPI_Comm comm;  // nodes are looked at once per communicator
          MPI_Comm_dup(MPI_COMM_WORLD, &comm);
          const auto shape = static_cast<Shape>(pick(common, 0, 2));
          const int most = std::string(memory) == "17" ? 300 : pick(common, 0, 3) ? 3000 : 200'000;
          run(comm, common, shape, random_sizes(common, ranks, most, shape == Shape::regular),
              {order, channel, memory});
          MPI_Comm_free(&comm);
        }
}

TEST_F(InPlace, WithoutMemoryAByteAtATime) {
  Random common(12);
  for (const char* channel : {"shared", "p2p-packed"})
    for (const char* memory : {"0", "1", "8"})
      for (Shape shape : {Shape::regular, Shape::v, Shape::w})
        run(MPI_COMM_WORLD, common, shape,
            random_sizes(common, ranks, few() ? 16 : 64, shape == Shape::regular),
            {"auto", channel, memory});
}

TEST_F(InPlace, EachRankMayHaveAnotherBudget) {
  Random common(13);
  for (int k = 0; k < (few() ? 1 : 12); ++k) {
    Random own(common() + static_cast<unsigned>(rank));
    const std::string memory = std::to_string(pick(own, 0, 2) ? pick(own, 200, 20'000) : 1 << 22);
    run(MPI_COMM_WORLD, common, Shape::v, random_sizes(common, ranks, 50'000, false),
        {orders[k % 3], k % 2 ? "p2p-packed" : "auto", memory});
  }
}

TEST_F(InPlace, LargeBlocksGoThroughCellsManyTimes) {
  Random common(14);
  for (const char* channel : {"shared", "p2p-packed"}) {
    BlockSizes sizes = random_sizes(common, ranks, 4, true);
    for (int& bytes : sizes.of) bytes = few() ? 300'000 : 3'000'000;
    run(MPI_COMM_WORLD, common, Shape::regular, sizes, {"hierarchical-sets", channel, "1048576"});
  }
}

TEST_F(InPlace, OneShotCallsAndSeveralAtOnce) {
  Random common(15);
  const BlockSizes sizes = random_sizes(common, ranks, 5000, false),
                   equal = random_sizes(common, ranks, 5000, true);
  Random random(common() + static_cast<unsigned>(rank));
  for (Shape shape : {Shape::regular, Shape::v, Shape::w}) {
    Side s = side(random, shape, shape == Shape::regular ? equal : sizes);
    fill(s, 5);
    EXPECT_OK(call(shape, s, MPI_COMM_WORLD, MPI_INFO_NULL));
    EXPECT_TRUE(s.memory == content(s, 5, true));
  }
  // Requests that are started in one order and completed in another on every rank.
  std::vector<Side> sides;
  std::vector<tonari_request> requests(4, TONARI_REQUEST_NULL);
  for (int k = 0; k < 4; ++k) {
    sides.push_back(side(random, Shape::w, sizes));
    Side& s = sides.back();
    fill(s, k);
    if (k == 3) {
      EXPECT_OK(tonari_ialltoallw_inplace(s.buffer(), s.counts.data(), s.displacements.data(),
                                          s.types.data(), MPI_COMM_WORLD, MPI_INFO_NULL,
                                          &requests[3]));
    } else {
      EXPECT_OK(make(Shape::w, s, MPI_COMM_WORLD,
                     Settings{"auto", k % 2 ? "p2p-packed" : "auto"}.info(), &requests[k]));
      EXPECT_OK(tonari_start(requests[k]));
    }
  }
  for (int k = 0; k < 4; ++k) {
    const int which = (k + rank) % 4;
    EXPECT_OK(tonari_wait(requests[which]));
    EXPECT_TRUE(sides[which].memory == content(sides[which], which, true)) << which;
    EXPECT_OK(tonari_request_free(&requests[which]));
  }
}

TEST_F(InPlace, OnCommunicatorsOfAnyKind) {
  MPI_Comm reversed, half;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  for (MPI_Comm comm : {reversed, half}) {
    int me = 0, all = 0;
    MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &all);
    std::vector<int> data;
    for (int j = 0; j < all; ++j) data.push_back(1000 * me + j);
    EXPECT_OK(tonari_alltoall_inplace(data.data(), 1, MPI_INT, comm, MPI_INFO_NULL));
    for (int j = 0; j < all; ++j) EXPECT_EQ(data[j], 1000 * j + me);
  }
  // A request outlives its communicator.
  std::vector<int> data(static_cast<std::size_t>(ranks));
  for (int j = 0; j < ranks; ++j) data[j] = 1000 * (ranks - 1 - rank) + j;
  tonari_request request = TONARI_REQUEST_NULL;
  EXPECT_OK(
      tonari_alltoall_inplace_init(data.data(), 1, MPI_INT, reversed, MPI_INFO_NULL, &request));
  MPI_Comm_free(&reversed), MPI_Comm_free(&half);
  EXPECT_OK(tonari_start(request));
  EXPECT_OK(tonari_wait(request));
  for (int j = 0; j < ranks; ++j) EXPECT_EQ(data[j], 1000 * j + ranks - 1 - rank);
  EXPECT_OK(tonari_request_free(&request));
}

TEST_F(InPlace, SaysWhatItIs) {
  std::vector<double> data(static_cast<std::size_t>(ranks) * 100);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_alltoall_inplace_init(data.data(), 100, MPI_DOUBLE, MPI_COMM_WORLD,
                                         Info{{"tonari_tune", "off"}}, &request));
  tonari_request_info info;
  ASSERT_OK(tonari_request_get_info(request, &info));
  EXPECT_STREQ(info.algorithm, "hierarchical-sets");
  EXPECT_STREQ(info.reason, "fixed rule");
  EXPECT_STREQ(info.channel, ranks > 1 ? "shared" : "p2p-packed");
  EXPECT_EQ(info.bytes, (ranks - 1) * 800);
  EXPECT_NE(std::string(tonari_request_describe(request))
                .find("in-place all-to-all between " + std::to_string(ranks)),
            std::string::npos);
  EXPECT_OK(tonari_request_free(&request));
}

// ---- the general exchange

// Of all ranks: how many elements go from i to j.
class InPlaceGeneral : public InPlace {
 protected:
  struct Rank {
    std::vector<int> send, recv;
    std::vector<MPI_Aint> send_at, recv_at;
    MPI_Aint slots = 0;
  };

  // Blocks in shuffled order with gaps, both sides in the same slots.
  Rank lay_out(Random& random, const std::vector<int>& counts, int me) const {
    Rank r;
    for (int j = 0; j < ranks; ++j)
      r.send.push_back(counts[me * ranks + j]), r.recv.push_back(counts[j * ranks + me]);
    const auto place = [&](const std::vector<int>& sizes, std::vector<MPI_Aint>& at) {
      std::vector<int> order(sizes.size());
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      at.resize(sizes.size());
      MPI_Aint next = pick(random, 0, 3);
      for (int j : order)
        at[j] = next, next += sizes[j] + (pick(random, 0, 2) ? 0 : pick(random, 0, 5));
      r.slots = std::max(r.slots, next);
    };
    place(r.send, r.send_at), place(r.recv, r.recv_at);
    return r;
  }

  static std::uint64_t value(int from, int to, int k, int round) {
    return (static_cast<std::uint64_t>(round) << 56) | (static_cast<std::uint64_t>(from) << 44) |
           (static_cast<std::uint64_t>(to) << 32) | static_cast<std::uint64_t>(k);
  }
};

TEST_F(InPlaceGeneral, AgainstOutOfPlace) {
  Random common(21);
  for (int c = 0; c < (few() ? 2 : 40); ++c) {
    std::vector<int> counts(static_cast<std::size_t>(ranks * ranks));
    const int most = pick(common, 0, 3) ? 50 : 3000;
    for (int& n : counts) n = pick(common, 0, 3) ? pick(common, 0, most) : 0;
    const unsigned seed = common();
    Random random(seed + static_cast<unsigned>(rank));
    const Rank r = lay_out(random, counts, rank);
    constexpr std::uint64_t gap = 0xABABABABABABABABu;
    std::vector<std::uint64_t> data(static_cast<std::size_t>(r.slots) + 4);
    const std::string memory =
        std::to_string(pick(common, 0, 2) ? 8 * pick(common, 1, 200) : 1 << 20);
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_OK(tonari_alltoallv_inplace_general_init(
        data.data(), r.send.data(), r.send_at.data(), r.recv.data(), r.recv_at.data(), MPI_UINT64_T,
        MPI_COMM_WORLD, Info{{"tonari_inplace_memory", memory}}, &request));
    for (int round = 0; round < 2; ++round) {
      std::fill(data.begin(), data.end(), gap);
      std::vector<bool> free(data.size(), false);
      for (int j = 0; j < ranks; ++j)
        for (int k = 0; k < r.send[j]; ++k)
          data[r.send_at[j] + k] = value(rank, j, k, round), free[r.send_at[j] + k] = true;
      ASSERT_OK(tonari_start(request));
      ASSERT_OK(complete(request, (rank + round) % 2));
      for (int j = 0; j < ranks; ++j)
        for (int k = 0; k < r.recv[j]; ++k) {
          EXPECT_EQ(data[r.recv_at[j] + k], value(j, rank, k, round))
              << "from " << j << ", element " << k;
          data[r.recv_at[j] + k] = gap;
        }
      for (std::size_t s = 0; s < data.size(); ++s)
        EXPECT_TRUE(free[s] || data[s] == gap) << "slot " << s << " belongs to no block";
    }
    EXPECT_OK(tonari_request_free(&request));
  }
}

TEST_F(InPlaceGeneral, ARowOfMatricesIsTransposed) {
  // Rank r has rows r n .. r n + n - 1 of a matrix of ranks * n columns; afterwards the same
  // columns. The block for j: n x n, in n pieces.
  constexpr int n = 6;
  const int columns = ranks * n;
  std::vector<int> data(static_cast<std::size_t>(n * columns));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < columns; ++j) data[i * columns + j] = (rank * n + i) * 1000 + j;
  MPI_Datatype rows;
  MPI_Type_vector(n, n, columns, MPI_INT, &rows);
  std::vector<int> counts(static_cast<std::size_t>(ranks), 1);
  std::vector<MPI_Aint> places;
  for (int j = 0; j < ranks; ++j) places.push_back(static_cast<MPI_Aint>(sizeof(int)) * n * j);
  const std::vector<MPI_Datatype> types(static_cast<std::size_t>(ranks), rows);
  EXPECT_OK(tonari_alltoallw_inplace(data.data(), counts.data(), places.data(), types.data(),
                                     MPI_COMM_WORLD, MPI_INFO_NULL));
  MPI_Type_free(&rows);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < columns; ++j)
      EXPECT_EQ(data[i * columns + j], (j / n * n + i) * 1000 + rank * n + j % n);
}

}  // namespace
