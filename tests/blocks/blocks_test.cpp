// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of block-structured grids against a brute-force oracle.
#include <utility>

#include "blocks/blocks.hpp"
#include "memory/held.hpp"
#include "support/contains.hpp"
#include "support/counting.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/random_sizes.hpp"
#include "support/reserved.hpp"

namespace {

using namespace tonari::test;

void run(tonari_request request, Arrays& arrays, int round) {
  arrays.fill(round);
  must(tonari_start(request));
  must(complete(request, (world_rank() + round) % 2 == 0));
}

void run_random(Random& random, int dims) {
  Blocks blocks = draw(random, dims);
  const tonari_ghosts ghosts = draw_ghosts(random, blocks);
  SCOPED_TRACE(blocks.text() + "; along " + std::to_string(ghosts.along));
  Arrays arrays(blocks);
  const Info off{{"tonari_tune", "off"}};
  tonari_request forward = TONARI_REQUEST_NULL, reverse = TONARI_REQUEST_NULL;
  const MPI_Op ops[] = {MPI_SUM, MPI_MIN, MPI_MAX};
  const MPI_Op op = ops[pick(random, 0, 2)];
  must(tonari_blocks_forward_init(arrays.handle, arrays.pointers.data(), &ghosts, off, &forward));
  must(tonari_blocks_reverse_init(arrays.handle, arrays.pointers.data(), &ghosts, op, off,
                                  &reverse));
  for (int round = 0; round < 2; ++round) {
    run(forward, arrays, round);
    arrays.expect_forward(ghosts, round);
    run(reverse, arrays, round);
    arrays.expect_reverse(ghosts, op, round);
  }
  must(tonari_request_free(&forward));
  must(tonari_request_free(&reverse));
  arrays.fill(5);
  must(tonari_blocks_forward(arrays.handle, arrays.pointers.data(), &ghosts));
  arrays.expect_forward(ghosts, 5);
  arrays.fill(6);
  must(tonari_blocks_reverse(arrays.handle, arrays.pointers.data(), &ghosts, op));
  arrays.expect_reverse(ghosts, op, 6);
}

TEST(Blocks, RandomBoxesExchangeGhostsBothWays) {
  Random random(41);
  const int repeats = ranks_are_slow() ? 2 : world_size() <= 2 ? 12 : 4;
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (int dims = 1; dims <= 3; ++dims) run_random(random, dims);
}

TEST(Blocks, OfManyDimensions) {
  Random random(42);
  for (int dims = 4; dims <= 5; ++dims) {
    Blocks blocks;
    blocks.shape.dims = dims, blocks.shape.type = MPI_DOUBLE;
    for (int k = 0; k < dims; ++k) {
      blocks.shape.domain.end[k] = 4, blocks.shape.periodic[k] = k % 2;
      blocks.shape.lower[k] = 1;
    }
    cut(random, blocks.shape.domain, dims, 4, blocks);
    Arrays arrays(blocks);
    arrays.fill(1);
    must(tonari_blocks_forward(arrays.handle, arrays.pointers.data(), nullptr));
    arrays.expect_forward(TONARI_GHOSTS_INIT, 1);
  }
}

// Any arrays at a start; they stay bound. Each array goes its own way.
void run_with_others(Random& random, int dims) {
  Blocks blocks = draw(random, dims);
  blocks.shape.fields = pick(random, 1, 3);
  const tonari_ghosts ghosts = draw_ghosts(random, blocks);
  SCOPED_TRACE(blocks.text() + "; along " + std::to_string(ghosts.along));
  Arrays sets[] = {Arrays(blocks), Arrays(blocks), Arrays(blocks)};
  const Info keys{{"tonari_tune", "off"},
                  {"tonari_channel", random_channel(random)},
                  {"tonari_start_with", "yes"}};
  tonari_request forward = TONARI_REQUEST_NULL, reverse = TONARI_REQUEST_NULL;
  void* const* const first = sets[0].pointers.data();
  must(tonari_blocks_forward_init(sets[0].handle, first, &ghosts, keys, &forward));
  must(tonari_blocks_reverse_init(sets[0].handle, first, &ghosts, MPI_SUM, keys, &reverse));
  for (int round = 0; round < 6; ++round) {
    // one rank alone may bring others
    Arrays& set = sets[world_rank() == 0 ? pick(random, 0, 2) : (pick(random, 0, 2) + round) % 3];
    const std::size_t arrays = set.pointers.size();
    void* const* const given = arrays > 0 ? set.pointers.data() : nullptr;
    set.fill(round);
    must(tonari_blocks_start_with(forward, given));
    must(complete(forward, round % 2 == 0));
    set.expect_forward(ghosts, round);
    set.fill(round + 10);
    must(tonari_blocks_start_with(reverse, given));
    must(complete(reverse, round % 2 == 0));
    set.expect_reverse(ghosts, MPI_SUM, round + 10);
    set.fill(round + 20);
    must(tonari_blocks_start_with(forward, given));
    must(tonari_wait(forward));
    set.expect_forward(ghosts, round + 20);
  }
  must(tonari_request_free(&forward));
  must(tonari_request_free(&reverse));
}

TEST(Blocks, StartWithOtherArrays) {
  Random random(46);
  const int repeats = ranks_are_slow() ? 1 : world_size() <= 2 ? 6 : 2;
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (int dims = 1; dims <= 3; ++dims) run_with_others(random, dims);
}

// Ghosts wider than the periodic domain are cells of it several times over.
TEST(Blocks, GhostsWiderThanTheDomain) {
  Blocks blocks;
  blocks.shape.dims = 1, blocks.shape.type = MPI_DOUBLE, blocks.shape.periodic[0] = 1;
  blocks.shape.domain.end[0] = 3;
  blocks.shape.lower[0] = 7, blocks.shape.upper[0] = 4;
  blocks.boxes = {{{0}, {1}}, {{1}, {3}}};
  blocks.owners = {0, world_size() - 1};
  Arrays arrays(blocks);
  arrays.fill(0);
  must(tonari_blocks_forward(arrays.handle, arrays.pointers.data(), nullptr));
  arrays.expect_forward(TONARI_GHOSTS_INIT, 0);
  arrays.fill(1);
  must(tonari_blocks_reverse(arrays.handle, arrays.pointers.data(), nullptr, MPI_SUM));
  arrays.expect_reverse(TONARI_GHOSTS_INIT, MPI_SUM, 1);
}

// However many blocks they share, two ranks exchange one message.
TEST(Blocks, OneMessageForEachRank) {
  Blocks blocks;
  blocks.shape.dims = 2, blocks.shape.type = MPI_DOUBLE;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      blocks.boxes.push_back({{i * 4, j * 4}, {i * 4 + 4, j * 4 + 4}});
      blocks.owners.push_back((i + j) % world_size());
    }
  blocks.shape.lower[0] = blocks.shape.lower[1] = blocks.shape.upper[0] = blocks.shape.upper[1] = 1;
  Arrays arrays(blocks);
  tonari_request request = TONARI_REQUEST_NULL;
  must(tonari_blocks_forward_init(arrays.handle, arrays.pointers.data(), nullptr,
                                  Info{{"tonari_tune", "off"}, {"tonari_algorithm", "linear"}},
                                  &request));
  tonari_request_info info;
  must(tonari_request_get_info(request, &info));
  EXPECT_LE(info.messages, world_size() - 1);
  EXPECT_CONTAINS(std::string(tonari_request_describe(request)), "of 16 blocks, 2 dimensions");
  must(tonari_request_free(&request));
}

// One-shot calls keep an exchange for each set of arrays; one rank alone may bring others.
TEST(Blocks, OneShotCallsWithOtherArrays) {
  Random random(43);
  Blocks blocks = draw(random, 2);
  Arrays one(blocks), two(blocks);
  for (int round = 0; round < 12; ++round) {
    Arrays& arrays = (round / 2 + (world_rank() == 0 && round % 3 == 0)) % 2 ? one : two;
    arrays.fill(round);
    must(tonari_blocks_forward(one.handle, arrays.pointers.data(), nullptr));
    arrays.expect_forward(TONARI_GHOSTS_INIT, round);
  }
}

// Rank 0 has two time levels in turn, the others always the same arrays.
TEST(Blocks, KeptExchangesServeRanksThatChangeArraysAndThoseThatDoNot) {
  Blocks blocks;
  blocks.shape.dims = 1, blocks.shape.type = MPI_DOUBLE;
  blocks.shape.lower[0] = blocks.shape.upper[0] = 1;
  for (int r = 0; r < world_size(); ++r) {
    blocks.boxes.push_back({{4 * r}, {4 * r + 4}});
    blocks.owners.push_back(r);
  }
  Arrays one(blocks), two(blocks);
  for (int round = 0; round < 8; ++round) {
    Arrays& arrays = world_rank() == 0 && round % 2 == 1 ? two : one;
    arrays.fill(round);
    arm();
    const int code = tonari_blocks_forward(one.handle, arrays.pointers.data(), nullptr);
    const Counts counts = disarm();
    must(code);
    arrays.expect_forward(TONARI_GHOSTS_INIT, round);
    if (round > 1) {
      EXPECT_LE(counts.collectives, 1) << round;
      EXPECT_EQ(counts.setups, 0) << round << ": " << counts.first;
    }
  }
}

TEST(Blocks, RequestsOutliveThem) {
  Random random(44);
  Blocks blocks = draw(random, 2);
  Arrays arrays(blocks);
  tonari_blocks other = TONARI_BLOCKS_NULL;
  must(tonari_blocks_create(MPI_COMM_WORLD, blocks.given(), MPI_INFO_NULL, &other));
  tonari_request request = TONARI_REQUEST_NULL;
  must(tonari_blocks_forward_init(other, arrays.pointers.data(), nullptr,
                                  Info{{"tonari_tune", "off"}}, &request));
  must(tonari_blocks_free(&other));
  EXPECT_EQ(other, TONARI_BLOCKS_NULL);
  run(request, arrays, 3);
  arrays.expect_forward(TONARI_GHOSTS_INIT, 3);
  must(tonari_request_free(&request));
}

// By default the first starts choose; more of them than that takes.
TEST(Blocks, ChooseByTheirStarts) {
  Random random(45);
  Blocks blocks = draw(random, 2);
  Arrays arrays(blocks);
  const FreshWisdom wisdom("0.02");
  tonari_blocks made = TONARI_BLOCKS_NULL;
  must(tonari_blocks_create(MPI_COMM_WORLD, blocks.given(), MPI_INFO_NULL, &made));
  tonari_request request = TONARI_REQUEST_NULL;
  must(tonari_blocks_forward_init(made, arrays.pointers.data(), nullptr, MPI_INFO_NULL, &request));
  const int starts = ranks_are_slow() ? 30 : 330;
  for (int round = 0; round < starts; ++round) {
    run(request, arrays, round);
    arrays.expect_forward(TONARI_GHOSTS_INIT, round);
    if (testing::Test::HasFailure()) return;
  }
  if (world_size() > 1 && starts == 330) {
    EXPECT_CONTAINS(std::string(tonari_request_describe(request)), "tuned online in");
    tonari_request_info about;
    must(tonari_request_get_info(request, &about));
    EXPECT_STREQ(about.reason, "online");
    EXPECT_GT(about.measured_seconds, 0);
  }
  must(tonari_request_free(&request));
  must(tonari_blocks_free(&made));
}

TEST(Blocks, HundredsOfThemLeaveNothing) {
  Random random(45);
  Blocks blocks = draw(random, 2);
  const auto some = [&](int many) {
    for (int k = 0; k < many; ++k) {
      Arrays arrays(blocks);
      tonari_request request = TONARI_REQUEST_NULL;
      must(tonari_blocks_reverse_init(arrays.handle, arrays.pointers.data(), nullptr, MPI_SUM,
                                      Info{{"tonari_tune", "off"}}, &request));
      run(request, arrays, k);
      must(tonari_blocks_forward(arrays.handle, arrays.pointers.data(), nullptr));
      must(tonari_request_free(&request));
    }
  };
  some(4);  // the MPI has what it makes for its first messages
  const Held before = held();
  some(world_size() <= 2 ? 300 : 20);
  EXPECT_EQ(held(), before);
}

TEST(Blocks, ListsAndLayouts) {
  Blocks blocks;
  blocks.shape.dims = 2, blocks.shape.type = MPI_FLOAT, blocks.shape.lower[1] = 2;
  blocks.boxes = {{{0, 0}, {3, 4}}, {{3, 0}, {5, 9}}, {{10, 0}, {12, 2}}};
  blocks.owners = {0, world_size() - 1, 0};
  for (const int order : {TONARI_ORDER_C, TONARI_ORDER_FORTRAN}) {
    blocks.shape.order = order;
    tonari_blocks handle = TONARI_BLOCKS_NULL;
    must(tonari_blocks_create(MPI_COMM_WORLD, blocks.given(), MPI_INFO_NULL, &handle));
    std::int64_t count = 0, numbers[3] = {-1, -1, -1};
    must(tonari_blocks_get_own(handle, &count, nullptr));
    const std::int64_t mine = std::count(blocks.owners.begin(), blocks.owners.end(), world_rank());
    EXPECT_EQ(count, mine);
    count = 3;
    must(tonari_blocks_get_own(handle, &count, numbers));
    EXPECT_EQ(count, mine);
    if (mine > 0) {
      EXPECT_EQ(numbers[0], world_rank() == 0 ? 0 : 1);
    }
    auto array = with_all_bits_set<tonari_array>();
    must(tonari_blocks_get_array(handle, 1, &array));
    EXPECT_TRUE(reserved_is_zero(array));
    EXPECT_EQ(array.own[1], 9);
    EXPECT_EQ(array.lower[1], 2);
    EXPECT_EQ(array.stride[0], order == TONARI_ORDER_C ? 11 : 1);
    EXPECT_EQ(array.stride[1], order == TONARI_ORDER_C ? 1 : 2);
    EXPECT_EQ(tonari_blocks_get_array(handle, 3, &array), TONARI_ERR_ARGUMENT);
    EXPECT_CONTAINS(std::string(tonari_last_error()), "block 3 does not exist; there are 3");
    must(tonari_blocks_free(&handle));
  }
}

}  // namespace
