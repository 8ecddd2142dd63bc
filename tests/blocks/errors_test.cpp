// SPDX-License-Identifier: BSD-3-Clause
// Wrong blocks and wrong calls: one sentence, on all ranks.
#include "blocks/blocks.hpp"
#include "support/contains.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

using Words = std::initializer_list<std::string>;

Blocks good() {
  Blocks blocks;
  blocks.shape.dims = 1, blocks.shape.type = MPI_DOUBLE;
  blocks.shape.lower[0] = blocks.shape.upper[0] = 1;
  blocks.boxes = {{{0}, {4}}, {{4}, {8}}};
  blocks.owners = {0, world_size() - 1};
  return blocks;
}

template <class Change>
void refused(Change change, int code, Words words) {
  Blocks blocks = good();
  change(blocks);
  tonari_blocks handle = TONARI_BLOCKS_NULL;
  expect_everywhere(tonari_blocks_create(MPI_COMM_WORLD, blocks.given(), MPI_INFO_NULL, &handle),
                    code, words);
  EXPECT_EQ(handle, TONARI_BLOCKS_NULL);
}

TEST(BlocksErrors, WrongShapesAreRefusedOnAllRanks) {
  const int wrong = TONARI_ERR_ARGUMENT;
  refused([](Blocks& b) { b.shape.dims = 6; }, wrong, {"shape.dims is 6", "1 to 5"});
  refused([](Blocks& b) { b.shape.type = MPI_DATATYPE_NULL; }, wrong, {"shape.type"});
  refused([](Blocks& b) { b.shape.order = 2; }, wrong, {"shape.order is 2"});
  refused([](Blocks& b) { b.shape.fields = -1; }, wrong, {"shape.fields is -1"});
  refused([](Blocks& b) { b.shape.upper[0] = -1; }, wrong, {"shape.upper[0] is -1"});
  refused([](Blocks& b) { b.shape.reserved[3] = 1; }, wrong, {"shape.reserved"});
  refused([](Blocks& b) { b.boxes[1].end[0] = 4; }, wrong, {"block 1", "from 4 to 4"});
  refused([](Blocks& b) { b.boxes[1].first[0] = 3; }, wrong, {"blocks 0 and 1", "in common"});
  refused([](Blocks& b) { b.owners[1] = world_size(); }, wrong, {"shape.owners[1]"});
  refused(
      [](Blocks& b) {
        b.shape.periodic[0] = 1;
        b.shape.domain.end[0] = 7;
      },
      wrong, {"block 1 leaves shape.domain in dimension 0"});
  if (world_size() == 1) return;
  const bool last = world_rank() == world_size() - 1;
  refused([&](Blocks& b) { b.shape.lower[0] = last ? 2 : 1; }, TONARI_ERR_MISMATCH,
          {"different shapes"});
  refused([&](Blocks& b) { b.owners[0] = last; }, TONARI_ERR_MISMATCH, {"different lists"});
}

TEST(BlocksErrors, TheDomainMattersInPeriodicDimensionsOnly) {
  Blocks blocks = good();
  blocks.shape.dims = 2;
  for (tonari_box& box : blocks.boxes) box.end[1] = 3;
  blocks.shape.periodic[0] = 1, blocks.shape.domain.end[0] = 8;
  blocks.shape.domain.first[1] = world_rank();  // not looked at
  const Arrays arrays(blocks);
  EXPECT_NE(arrays.handle, TONARI_BLOCKS_NULL);
  refused(
      [](Blocks& b) {
        b.shape.periodic[0] = 1;
        b.shape.domain.first[0] = b.shape.domain.end[0] = 3;
      },
      TONARI_ERR_ARGUMENT, {"shape.domain has cells from 3 to 3", "dimension 0"});
}

TEST(BlocksErrors, UnknownKeysAreRefusedOnAllRanks) {
  Blocks blocks = good();
  tonari_blocks handle = TONARI_BLOCKS_NULL;
  const Info wrong{{"tonari_algoritm", "linear"}};
  expect_everywhere(tonari_blocks_create(MPI_COMM_WORLD, blocks.given(), wrong, &handle),
                    TONARI_ERR_ARGUMENT, {"tonari_algoritm", "tonari_algorithm"});
  EXPECT_EQ(handle, TONARI_BLOCKS_NULL);
}

TEST(BlocksErrors, WrongCallsAreRefusedOnAllRanks) {
  Blocks blocks = good();
  Arrays arrays(blocks);
  tonari_request request = TONARI_REQUEST_NULL;
  const auto call = [&](void* const* given, const tonari_ghosts* ghosts, MPI_Op op) {
    return tonari_blocks_reverse_init(arrays.handle, given, ghosts, op, MPI_INFO_NULL, &request);
  };
  const bool last = world_rank() == world_size() - 1;
  expect_everywhere(call(last ? nullptr : arrays.pointers.data(), nullptr, MPI_SUM),
                    TONARI_ERR_ARGUMENT, {"`arrays` is NULL"});
  void* none[] = {nullptr, nullptr};
  expect_everywhere(call(last ? none : arrays.pointers.data(), nullptr, MPI_SUM),
                    TONARI_ERR_ARGUMENT, {"array 0 of"});
  expect_everywhere(call(arrays.pointers.data(), nullptr, MPI_PROD), TONARI_ERR_ARGUMENT,
                    {"MPI_SUM, MPI_MIN or MPI_MAX"});
  tonari_ghosts ghosts = TONARI_GHOSTS_INIT;
  ghosts.upper[0] = 2;
  expect_everywhere(call(arrays.pointers.data(), &ghosts, MPI_SUM), TONARI_ERR_ARGUMENT,
                    {"ghosts.upper[0] is 2", "there are 1"});
  EXPECT_EQ(tonari_blocks_forward(TONARI_BLOCKS_NULL, nullptr, nullptr), TONARI_ERR_ARGUMENT);
  if (world_size() > 1) {
    ghosts.upper[0] = last ? 0 : TONARI_GHOSTS_NONE;
    expect_everywhere(call(arrays.pointers.data(), &ghosts, MPI_SUM), TONARI_ERR_MISMATCH,
                      {"different ghosts"});
    expect_everywhere(call(arrays.pointers.data(), nullptr, last ? MPI_MAX : MPI_SUM),
                      TONARI_ERR_MISMATCH, {"different operations"});
  }
  EXPECT_EQ(request, TONARI_REQUEST_NULL);
}

// Also where no message would notice it.
TEST(BlocksErrors, ArraysThatOverlapAreRefused) {
  Blocks blocks = good();
  blocks.owners[1] = 0;
  Arrays arrays(blocks);
  std::vector<void*> wrong = arrays.pointers;
  if (!wrong.empty()) wrong[0] = static_cast<double*>(wrong[1]) + 5;  // the last of six cells
  tonari_request request = TONARI_REQUEST_NULL;
  expect_everywhere(
      tonari_blocks_forward_init(arrays.handle, wrong.data(), nullptr, MPI_INFO_NULL, &request),
      TONARI_ERR_BUFFERS, {"`arrays` 0 and 1 overlap"});
  expect_everywhere(tonari_blocks_reverse(arrays.handle, wrong.data(), nullptr, MPI_SUM),
                    TONARI_ERR_BUFFERS, {"`arrays` 0 and 1 overlap"});
  EXPECT_EQ(request, TONARI_REQUEST_NULL);
}

// Of this rank alone: nothing was started, and the arrays of before stay bound.
TEST(BlocksErrors, WrongArraysAtAStart) {
  Blocks blocks;
  blocks.shape.dims = 1, blocks.shape.type = MPI_DOUBLE, blocks.shape.fields = 2;
  blocks.shape.lower[0] = blocks.shape.upper[0] = 1;
  for (int b = 0; b < 2 * world_size(); ++b) {
    blocks.boxes.push_back({{4 * b}, {4 * b + 4}});
    blocks.owners.push_back(b % world_size());
  }
  Arrays arrays(blocks), others(blocks);
  tonari_request request = TONARI_REQUEST_NULL;
  must(tonari_blocks_forward_init(arrays.handle, arrays.pointers.data(), nullptr, MPI_INFO_NULL,
                                  &request));
  EXPECT_EQ(tonari_blocks_start_with(request, others.pointers.data()), TONARI_ERR_ARGUMENT);
  EXPECT_CONTAINS(std::string(tonari_last_error()), "tonari_start_with=yes");
  must(tonari_request_free(&request));
  must(tonari_blocks_forward_init(arrays.handle, arrays.pointers.data(), nullptr,
                                  Info{{"tonari_start_with", "yes"}}, &request));
  const auto refused = [&](void* const* given, int code, const std::string& words) {
    EXPECT_EQ(tonari_blocks_start_with(request, given), code);
    EXPECT_CONTAINS(std::string(tonari_last_error()), words);
  };
  refused(nullptr, TONARI_ERR_ARGUMENT, "`arrays` is NULL");
  std::vector<void*> wrong = others.pointers;
  wrong[3] = nullptr;
  refused(wrong.data(), TONARI_ERR_ARGUMENT, "`arrays[3]` is NULL");
  for (std::size_t one = 0; one < 4; ++one)
    for (std::size_t other = 0; other < 4; ++other) {
      if (one == other) continue;
      wrong = others.pointers;
      wrong[one] = static_cast<double*>(wrong[other]) + 5;  // the last of six cells
      refused(wrong.data(), TONARI_ERR_BUFFERS, "two of the arrays overlap");
    }
  EXPECT_EQ(tonari_start_with(request, wrong[0], wrong[1]), TONARI_ERR_ARGUMENT);
  EXPECT_EQ(tonari_blocks_start_with(TONARI_REQUEST_NULL, wrong.data()), TONARI_ERR_ARGUMENT);
  arrays.fill(1);
  must(tonari_start(request));
  must(tonari_wait(request));
  arrays.expect_forward(TONARI_GHOSTS_INIT, 1);
  must(tonari_request_free(&request));
}

}  // namespace
