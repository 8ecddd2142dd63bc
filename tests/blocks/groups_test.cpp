// SPDX-License-Identifier: BSD-3-Clause
// Blocks in groups, forward and reverse, beside a random operation; what is refused.
#include <tonari/blocks.hpp>
#include <tonari/group.hpp>

#include "blocks/blocks.hpp"
#include "support/beside.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

void run_random_group(Random& common, int dims) {
  Blocks some = draw(common, dims), others = draw(common, dims);
  Arrays filled(some), combined(others);
  const tonari_ghosts ghosts = draw_ghosts(common, some), back = draw_ghosts(common, others);
  SCOPED_TRACE(some.text() + " and " + others.text());
  const MPI_Op ops[] = {MPI_SUM, MPI_MIN, MPI_MAX};
  const MPI_Op op = ops[pick(common, 0, 2)];
  Beside beside(common);
  must(tonari_group_start(MPI_COMM_WORLD));
  must(tonari_blocks_forward_init(filled.handle, filled.pointers.data(), &ghosts, MPI_INFO_NULL,
                                  nullptr));
  beside.collect();
  must(tonari_blocks_reverse_init(combined.handle, combined.pointers.data(), &back, op,
                                  MPI_INFO_NULL, nullptr));
  tonari_request request = TONARI_REQUEST_NULL;
  must(tonari_group_end(Info{{"tonari_tune", "off"}, {"tonari_channel", random_channel(common)}},
                        &request));
  for (int round = 0; round < 2; ++round) {
    filled.fill(round), combined.fill(round + 5);
    beside.b.prepare(world_rank(), round);
    must(tonari_start(request));
    must(complete(request, (world_rank() + round) % 2 == 0));
    filled.expect_forward(ghosts, round);
    combined.expect_reverse(back, op, round + 5);
    EXPECT_EQ(beside.wrong(round), "");
  }
  must(tonari_request_free(&request));
}

TEST(BlocksGroups, TravelWithOtherCalls) {
  Random common(51);
  const int repeats = ranks_are_slow() ? 1 : world_size() <= 2 ? 8 : 3;
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (int dims = 1; dims <= 3; ++dims) run_random_group(common, dims);
}

TEST(BlocksGroups, WhatIsWrong) {
  Random random(52);
  Blocks blocks;
  blocks.shape.dims = 1, blocks.shape.type = MPI_DOUBLE;
  blocks.shape.lower[0] = blocks.shape.upper[0] = 1;
  for (int b = 0; b <= world_size(); ++b) {
    blocks.boxes.push_back({{4 * b}, {4 * b + 4}});
    blocks.owners.push_back(b % world_size());
  }
  Arrays one(blocks);
  const bool last = world_rank() == world_size() - 1;
  const auto refused = [&](int code, std::initializer_list<std::string> words, auto collect) {
    must(tonari_group_start(MPI_COMM_WORLD));
    collect();
    tonari_request request = TONARI_REQUEST_NULL;
    expect_everywhere(tonari_group_end(MPI_INFO_NULL, &request), code, words);
  };
  const auto forward = [&](void* const* arrays, const tonari_ghosts* ghosts) {
    must(tonari_blocks_forward_init(one.handle, arrays, ghosts, MPI_INFO_NULL, nullptr));
  };
  const auto reverse = [&](MPI_Op op) {
    must(tonari_blocks_reverse_init(one.handle, one.pointers.data(), nullptr, op, MPI_INFO_NULL,
                                    nullptr));
  };
  refused(TONARI_ERR_ARGUMENT, {"in call 0 of the group", "`arrays` is NULL"},
          [&] { forward(last ? nullptr : one.pointers.data(), nullptr); });
  refused(TONARI_ERR_BUFFERS,
          {"call 0 (forward exchange of blocks) and call 1 (reverse exchange of blocks)"}, [&] {
            forward(one.pointers.data(), nullptr);
            reverse(MPI_SUM);
          });
  if (world_size() == 1) return;
  tonari_ghosts ghosts = TONARI_GHOSTS_INIT;
  ghosts.upper[0] = last ? 0 : TONARI_GHOSTS_NONE;
  refused(TONARI_ERR_MISMATCH, {"in call 0 of the group", "different ghosts"},
          [&] { forward(one.pointers.data(), &ghosts); });
  refused(TONARI_ERR_MISMATCH, {"in call 0 of the group", "different operations"},
          [&] { reverse(last ? MPI_MAX : MPI_SUM); });
}

TEST(BlocksGroups, InCpp) {
  const std::vector<tonari_box> boxes{{{0}, {4}}, {{4}, {8}}};
  const std::vector<int> owners{0, world_size() - 1};
  const tonari::Blocks blocks(MPI_COMM_WORLD, tonari::BlocksShape(boxes, owners, 1, 1, MPI_DOUBLE));
  std::vector<std::vector<double>> values;
  std::vector<void*> arrays;
  for (const std::int64_t b : blocks.own()) values.emplace_back(6, 10.0 * static_cast<double>(b));
  for (std::vector<double>& array : values) arrays.push_back(array.data());
  tonari::Group group(MPI_COMM_WORLD);
  EXPECT_EQ(blocks.forward_init(arrays).handle(), TONARI_REQUEST_NULL);
  group.run();
  for (std::size_t k = 0; k < values.size(); ++k)
    EXPECT_EQ(blocks.own()[k] == 0 ? values[k][5] : values[k][0], blocks.own()[k] == 0 ? 10 : 0);
}

}  // namespace
