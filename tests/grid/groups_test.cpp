// SPDX-License-Identifier: BSD-3-Clause
// Grids in groups: copies of random grids of all storages beside a random operation, against the
// places of cells; how many messages they take; what is refused.
#include <tonari/grid.hpp>
#include <tonari/group.hpp>

#include <set>

#include "grid/reverse_grid.hpp"
#include "support/beside.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

// A copy of a grid in a group.
struct Member {
  const TestGrid* grid;
  int copy;
  bool faces;
};

void collect(const Member& m) {
  const Info faces{{"tonari_halo_neighbors", "faces"}};
  must(tonari_grid_exchange_init(m.grid->grid, m.copy, m.faces ? MPI_Info(faces) : MPI_INFO_NULL,
                                 nullptr));
}

TEST(GridGroups, GhostsAndBlocksTravelTogether) {
  const unsigned seed = random_seed();
  SCOPED_TRACE("TONARI_TEST_SEED=" + std::to_string(seed));
  Random common(seed);
  const int count = crowded() ? 4 : 15;
  for (int k = 0; k < count && !testing::Test::HasFailure(); ++k) {
    std::vector<std::unique_ptr<TestGrid>> grids;
    std::vector<Member> members;
    for (int n = pick(common, 1, 2); n > 0; --n) {
      const Geometry g = draw_geometry(common, pick(common, 1, 3), true);
      const bool fits_pages = g.element_bytes != 12;
      grids.push_back(std::make_unique<TestGrid>(g, all_storages[common() % (fits_pages ? 3 : 2)]));
      for (int copy = 0; copy < grids.back()->copies; ++copy)
        if (copy == 0 || pick(common, 0, 1))
          members.push_back({grids.back().get(), copy, pick(common, 0, 1) == 1});
    }
    Beside beside(common);
    must(tonari_group_start(MPI_COMM_WORLD));
    for (const Member& m : members) collect(m);
    beside.collect();
    tonari_request request = TONARI_REQUEST_NULL;
    must(tonari_group_end(Info{{"tonari_tune", "off"}, {"tonari_channel", random_channel(common)}},
                          &request));
    for (int round = 0; round < 2; ++round) {
      for (const Member& m : members) const_cast<TestGrid*>(m.grid)->fill(m.copy, round);
      beside.b.prepare(world_rank(), round);
      must(tonari_start(request));
      must(complete(request, (round + world_rank()) % 2));
      for (const Member& m : members)
        EXPECT_TRUE(m.grid->holds(m.copy, round, m.faces, false))
            << tonari_request_describe(request);
      EXPECT_EQ(beside.wrong(round), "");
    }
    must(tonari_request_free(&request));
    for (const std::unique_ptr<TestGrid>& grid : grids)
      if (grid->g.ours) {
        MPI_Datatype type = grid->g.shape.type;
        MPI_Type_free(&type);
      }
  }
}

// Ghosts of one copy go to their owners while those of the other are filled.
TEST(GridGroups, GhostsThatAreCombinedTravelToo) {
  Random common(31);
  const MPI_Op ops[] = {MPI_SUM, MPI_MIN, MPI_MAX};
  const int count = crowded() ? 3 : 12;
  for (int k = 0; k < count && !testing::Test::HasFailure(); ++k) {
    const int storage = all_storages[k % 3];
    Geometry g = draw_geometry(common, pick(common, 1, 3), storage != TONARI_STORAGE_ARRAY);
    if (g.ours) MPI_Type_free(&g.shape.type);
    g.shape.type = MPI_DOUBLE, g.element_bytes = sizeof(double), g.shape.copies = 2;
    const Reverse<double> grid(g, storage, 1);
    const ChosenGhosts chosen = draw_ghosts(common, g, storage != TONARI_STORAGE_ARRAY);
    const MPI_Op op = ops[pick(common, 0, 2)];
    SCOPED_TRACE(g.text() + ", storage " + std::to_string(storage) + ", " + chosen.text(g));
    Beside beside(common);
    must(tonari_group_start(MPI_COMM_WORLD));
    beside.collect();
    must(tonari_grid_reverse_init(grid.t.grid, 1, &chosen.ghosts, op, MPI_INFO_NULL, nullptr));
    must(tonari_grid_reverse_init(grid.t.grid, 0, nullptr, MPI_SUM, MPI_INFO_NULL, nullptr));
    tonari_request request = TONARI_REQUEST_NULL;
    must(tonari_group_end(Info{{"tonari_tune", "off"}, {"tonari_channel", random_channel(common)}},
                          &request));
    for (int round = 0; round < 2; ++round) {
      for (const int copy : {0, 1}) grid.fill(copy, round + 2 * copy);
      beside.b.prepare(world_rank(), round);
      must(tonari_start(request));
      must(complete(request, (round + world_rank()) % 2));
      grid.expect(chosen, op, 1, round + 2);
      grid.expect({}, MPI_SUM, 0, round);
      EXPECT_EQ(beside.wrong(round), "");
    }
    must(tonari_request_free(&request));
  }
}

// They are published beside the messages of the group; the ranks of other nodes get messages.
TEST(GridGroups, MappedGhostsComeBesideTheMessages) {
  for (const char* nodes : {"", "1"}) {
    Nodes::set(nodes);
    Random common(32);
    TestGrid mapped(plain_geometry(2, 16, 2), TONARI_STORAGE_MAPPED, true),
        plain(plain_geometry(2, 12, 2), TONARI_STORAGE_ARRAY);
    Beside beside(common);
    tonari_request requests[2] = {};
    for (int copy = 0; copy < 2; ++copy) {
      must(tonari_group_start(MPI_COMM_WORLD));
      collect({&mapped, copy, false});
      collect({&plain, copy, false});
      if (copy == 0) beside.collect();
      must(tonari_group_end(Info{{"tonari_tune", "off"}}, &requests[copy]));
      EXPECT_CONTAINS(std::string(tonari_request_describe(requests[copy])), "zero-byte");
    }
    for (int round = 0; round < 4; ++round) {
      const int copy = round % 2;
      mapped.fill(copy, round), plain.fill(copy, round);
      beside.b.prepare(world_rank(), round);
      must(tonari_start(requests[copy]));
      must(complete(requests[copy], (round + world_rank()) % 2));
      EXPECT_TRUE(mapped.holds(copy, round, false, false));
      EXPECT_TRUE(plain.holds(copy, round, false, false));
      EXPECT_EQ(copy == 0 ? beside.wrong(round) : "", "");
    }
    must(tonari_start(requests[0]));
    must(tonari_wait(requests[0]));
    EXPECT_EQ(tonari_start(requests[0]), TONARI_ERR_ACTIVE) << "the copies take turns";
    for (tonari_request& request : requests) must(tonari_request_free(&request));
  }
  Nodes::set("");
}

TEST(GridGroups, OfMappedGhostsAlone) {
  TestGrid mapped(plain_geometry(1, 16, 2), TONARI_STORAGE_MAPPED, true);
  must(tonari_group_start(MPI_COMM_WORLD));
  collect({&mapped, 0, false});
  mapped.fill(0, 5);
  must(tonari_group_run(MPI_INFO_NULL));
  EXPECT_TRUE(mapped.holds(0, 5, false, false));
}

TEST(GridGroups, OneMessageForAllCopies) {
  for (const int storage : all_storages) {
    TestGrid t(plain_geometry(2, 12, 3), storage);
    must(tonari_group_start(MPI_COMM_WORLD));
    for (int copy = 0; copy < 3; ++copy) collect({&t, copy, false});
    tonari_request all = TONARI_REQUEST_NULL;
    must(tonari_group_end(Info{{"tonari_tune", "off"}, {"tonari_algorithm", "linear"}}, &all));
    std::set<int> peers;
    for (std::int64_t a = -1; a <= 1; ++a)
      for (std::int64_t b = -1; b <= 1; ++b) peers.insert(t.g.neighbor(world_rank(), 0, {a, b}));
    peers.erase(world_rank());
    tonari_request_info facts;
    must(tonari_request_get_info(all, &facts));
    EXPECT_EQ(facts.messages, static_cast<int>(peers.size()));
    expect_everywhere(tonari_grid_free(&t.grid), TONARI_ERR_ACTIVE, {"in use"});
    must(tonari_request_free(&all));
  }
}

TEST(GridGroups, WhatIsWrong) {
  TestGrid t(plain_geometry(2, 12, 2), TONARI_STORAGE_ARRAY),
      mapped(plain_geometry(2, 12, 2), TONARI_STORAGE_MAPPED, true);
  tonari_request request = TONARI_REQUEST_NULL;
  const auto refused = [&](int code, std::initializer_list<std::string> words, auto call) {
    must(tonari_group_start(MPI_COMM_WORLD));
    call();
    expect_everywhere(tonari_group_end(MPI_INFO_NULL, &request), code, words);
    EXPECT_EQ(request, TONARI_REQUEST_NULL);
  };
  const bool last = world_rank() == world_size() - 1;
  refused(TONARI_ERR_BUFFERS, {"call 0 (halo exchange) and call 2 (halo exchange)"}, [&] {
    for (const int copy : {0, 1, 0}) collect({&t, copy, false});
  });
  refused(TONARI_ERR_ARGUMENT, {"in call 1 of the group", "copy 2 does not exist"},
          [&] { collect({&t, 0, false}), collect({&t, last ? 2 : 1, false}); });
  refused(TONARI_ERR_BUFFERS, {"call 0 (halo exchange) and call 1 (halo exchange)"},
          [&] { collect({&mapped, 1, false}), collect({&mapped, 1, true}); });
  refused(TONARI_ERR_BUFFERS, {"call 0 (halo exchange) and call 1 (reverse halo exchange)"}, [&] {
    collect({&t, 0, false});
    must(tonari_grid_reverse_init(t.grid, 0, nullptr, MPI_SUM, MPI_INFO_NULL, nullptr));
  });
  refused(TONARI_ERR_ARGUMENT, {"in call 0 of the group", "MPI_SUM, MPI_MIN or MPI_MAX"}, [&] {
    must(tonari_grid_reverse_init(t.grid, 0, nullptr, last ? MPI_PROD : MPI_SUM, MPI_INFO_NULL,
                                  nullptr));
  });
  const Info ways{{"tonari_halo", "pack"}};
  refused(TONARI_ERR_ARGUMENT,
          {"in call 0 of the group", "tonari_halo does not apply", "only tonari_halo_neighbors"},
          [&] { must(tonari_grid_exchange_init(t.grid, 0, ways, nullptr)); });
  if (world_size() > 1) {
    refused(TONARI_ERR_MISMATCH, {"in call 0 of the group", "same copy"},
            [&] { collect({&t, last ? 1 : 0, false}); });
    refused(TONARI_ERR_MISMATCH, {"in call 0 of the group", "tonari_halo_neighbors"},
            [&] { collect({&t, 0, last}); });
  }
}

TEST(GridGroups, InCpp) {
  MPI_Comm cart = plain_geometry(1, 8).make_cart();
  const tonari::Grid grid(cart, tonari::GridShape({8 * world_size()}, 4, MPI_DOUBLE));
  tonari::Group group(cart);
  EXPECT_EQ(grid.exchange_init().handle(), TONARI_REQUEST_NULL);
  tonari::Request all = group.end();
  all.start(), all.wait();
  EXPECT_CONTAINS(all.describe(), "halo exchange");
  MPI_Comm_free(&cart);
}

}  // namespace
