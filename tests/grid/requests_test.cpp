// SPDX-License-Identifier: BSD-3-Clause
// Halo exchanges as requests: several in flight, of one grid and of two, mixed with other
// exchanges; the turn of mapped ghosts; what is left of a thousand grids.
#include "grid/grids.hpp"
#include "memory/held.hpp"
#include "support/graph_exchange.hpp"
#include "support/random_sizes.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

constexpr const char* usual[] = {"pack", "layout", "memmap"};  // one way per storage
constexpr const char* other[] = {"datatypes", "plan", "shift"};

void exchange(tonari_request request, bool by_test = false) {
  must(tonari_start(request));
  must(complete(request, by_test));
}

TEST(GridRequests, AllCopiesInFlight) {
  for (const int storage : all_storages)
    for (const bool backwards : {false, true}) {
      TestGrid t(plain_geometry(2, 12, 3), storage);
      std::vector<tonari_request> requests;
      for (int c = 0; c < 3; ++c)
        requests.push_back(request_of(t, c, c == 1 ? other[storage] : usual[storage])),
            t.fill(c, 5);
      must(tonari_startall(3, requests.data()));
      if (backwards)
        for (int c = 3; c-- > 0;)
          must(complete(requests[static_cast<std::size_t>(c)], (world_rank() + c) % 2 == 0));
      else
        must(tonari_waitall(3, requests.data()));
      for (int c = 0; c < 3; ++c) EXPECT_TRUE(t.holds(c, 5, false, false));
      for (tonari_request& request : requests) must(tonari_request_free(&request));
    }
}

// Mapped ghosts: copies may be on their way at the same time as long as each has its turn.
TEST(GridRequests, CopiesWithMappedGhostsInFlight) {
  TestGrid t(plain_geometry(2, 12, 3), TONARI_STORAGE_MAPPED, true);
  tonari_request requests[3];
  for (int c = 0; c < 3; ++c) requests[c] = request_of(t, c, "zero-byte");
  for (int round = 0; round < 4; ++round) {
    for (int c = 0; c < 2; ++c) t.fill(c, round);
    must(tonari_startall(2, requests));
    must(tonari_waitall(2, requests));
    for (int c = 0; c < 2; ++c) EXPECT_TRUE(t.holds(c, round, false, false));
    t.fill(2, round);
    exchange(requests[2]);
    EXPECT_TRUE(t.holds(2, round, false, false));
  }
  // Another exchange was started in between, but whether neighbors have come to it is not known
  // yet.
  must(tonari_start(requests[0]));
  must(tonari_start(requests[1]));
  expect_everywhere(tonari_start(requests[2]), TONARI_ERR_ACTIVE,
                    {"copy 2 is exchanged twice", "complete"});
  must(tonari_waitall(2, requests));
  for (tonari_request& request : requests) must(tonari_request_free(&request));
}

TEST(GridRequests, TwoOfOneCopyMadeDifferently) {
  for (const int storage : all_storages) {
    TestGrid t(plain_geometry(3, 8), storage);
    tonari_request a = request_of(t, 0, usual[storage]), b = request_of(t, 0, other[storage], true);
    for (int round = 0; round < 4; ++round) {
      t.fill(0, round);
      exchange(round % 2 ? b : a, world_rank() % 2 == 0);
      EXPECT_TRUE(t.holds(0, round, round % 2 == 1, storage == TONARI_STORAGE_MAPPED));
    }
    must(tonari_request_free(&a));
    must(tonari_request_free(&b));
  }
}

// Two grids and an exchange of the usual kind, all under way at once.
TEST(GridRequests, AmongOthers) {
  const int size = world_size(), right = (world_rank() + 1) % size,
            left = (world_rank() + size - 1) % size;
  tonari_neighborhood ring = TONARI_NEIGHBORHOOD_NULL;
  must(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right,
                                           MPI_UNWEIGHTED, MPI_INFO_NULL, &ring));
  std::vector<int> out(1000), in(1000);
  tonari_request passing = TONARI_REQUEST_NULL;
  must(tonari_alltoall_init(out.data(), 1000, MPI_INT, in.data(), 1000, MPI_INT, ring,
                            Info{{"tonari_tune", "off"}}, &passing));
  for (const int storage : all_storages) {
    TestGrid a(plain_geometry(2, 12, 2), storage),
        b(plain_geometry(1, 24, 2), TONARI_STORAGE_MAPPED, true);
    tonari_request first = request_of(a, 1, usual[storage]),
                   second[] = {request_of(b, 0, "zero-byte"), request_of(b, 1, "zero-byte")};
    for (int round = 0; round < 4; ++round) {
      for (int k = 0; k < 1000; ++k)
        out[static_cast<std::size_t>(k)] = world_rank() * 10'000 + round * 1000 + k;
      a.fill(1, round);
      b.fill(round % 2, round);
      tonari_request all[] = {first, passing, second[round % 2]};
      if (world_rank() % 2) std::swap(all[0], all[2]);  // in any order
      must(tonari_startall(3, all));
      must(tonari_waitall(3, all));
      EXPECT_TRUE(a.holds(1, round, false, false));
      EXPECT_TRUE(b.holds(round % 2, round, false, false));
      int wrong = 0;
      for (int k = 0; k < 1000; ++k)
        wrong += in[static_cast<std::size_t>(k)] != left * 10'000 + round * 1000 + k;
      EXPECT_EQ(wrong, 0);
    }
    for (tonari_request* request : {&first, &second[0], &second[1]})
      must(tonari_request_free(request));
  }
  must(tonari_request_free(&passing));
  must(tonari_neighborhood_free(&ring));
}

// A second exchange of a copy without another one between is refused, and does no harm.
TEST(GridRequests, MappedCopiesTakeTurns) {
  TestGrid t(plain_geometry(2, 12, 2), TONARI_STORAGE_MAPPED, true);
  tonari_request requests[] = {request_of(t, 0, "zero-byte"), request_of(t, 1, "zero-byte"),
                               request_of(t, 0, "auto")};
  t.fill(0, 0);
  exchange(requests[0]);
  for (const int again : {0, 2})
    expect_everywhere(tonari_start(requests[again]), TONARI_ERR_ACTIVE,
                      {"copy 0 is exchanged twice", "in turn"});
  EXPECT_TRUE(t.holds(0, 0, false, false));
  tonari_box ghosts{{-1, 0}, {1, 1}};
  const double values[2] = {};
  expect_everywhere(tonari_grid_import(t.grid, 0, 0, 0, &ghosts, values), TONARI_ERR_ARGUMENT,
                    {"pages of the rank that owns them", "import own cells"});
  for (int round = 1; round < 5; ++round) {
    const int copy = round % 2;
    t.fill(copy, round);
    exchange(requests[copy == 1 ? 1 : round % 4 == 2 ? 2 : 0]);
    EXPECT_TRUE(t.holds(copy, round, false, false));
  }
  for (tonari_request& request : requests) must(tonari_request_free(&request));
}

TEST(GridRequests, WhatIsActiveIsNotStartedOrFreed) {
  for (const int storage : all_storages) {
    TestGrid t(plain_geometry(1, 12, 2), storage);
    tonari_request request = request_of(t, 0, usual[storage]);
    t.fill(0, 0);
    must(tonari_start(request));
    expect_everywhere(tonari_start(request), TONARI_ERR_ACTIVE, {"already started"});
    expect_everywhere(tonari_request_free(&request), TONARI_ERR_ACTIVE, {"active"});
    must(tonari_wait(request));
    must(tonari_wait(request));  // nothing left to wait for
    EXPECT_TRUE(t.holds(0, 0, false, false));
    must(tonari_request_free(&request));
    EXPECT_EQ(request, TONARI_REQUEST_NULL);
  }
}

TEST(GridRequests, StartWithOtherArraysIsChecked) {
  Geometry g = plain_geometry(2, 12, 2);
  g.shape.fields = 2;
  TestGrid t(g, TONARI_STORAGE_ARRAY);
  tonari_request request = request_of(t, 0, "plan");
  const auto refused = [&](std::vector<void*> arrays, int code, const char* part) {
    EXPECT_EQ(tonari_grid_start_with(request, arrays.data()), code);
    EXPECT_NE(std::string(tonari_last_error()).find(part), std::string::npos)
        << tonari_last_error();
  };
  std::vector<void*> arrays = t.arrays(1);
  EXPECT_EQ(tonari_grid_start_with(request, nullptr), TONARI_ERR_ARGUMENT);
  refused({arrays[0], t.arrays(0)[1]}, TONARI_ERR_ARGUMENT, "keep their distances");
  const auto apart = static_cast<char*>(arrays[1]) - static_cast<char*>(arrays[0]);
  refused({nullptr, reinterpret_cast<void*>(apart)}, TONARI_ERR_ARGUMENT, "`arrays[0]` is NULL");
  EXPECT_EQ(tonari_start_with(request, arrays[0], arrays[1]), TONARI_ERR_ARGUMENT);
  t.fill(1, 3);
  must(tonari_grid_start_with(request, arrays.data()));
  must(tonari_wait(request));
  EXPECT_TRUE(t.holds(1, 3, false, false));
  must(tonari_request_free(&request));

  TestGrid bricks(plain_geometry(2, 12), TONARI_STORAGE_BRICK);
  request = request_of(bricks, 0, "layout");
  refused(arrays, TONARI_ERR_ARGUMENT, "storage is not array");
  must(tonari_request_free(&request));
}

TEST(GridRequests, SayWhatTheyAre) {
  TestGrid t(plain_geometry(2, 12, 2), TONARI_STORAGE_MAPPED, true);
  tonari_request request = request_of(t, 1, "zero-byte");
  const std::string words = tonari_request_describe(request);
  for (const char* part : {"copy 1", "2 dimensions", "storage mapped with mapped ghosts",
                           "chosen: zero-byte (forced)", "sends: 0 messages, 0 bytes"})
    EXPECT_CONTAINS(words, part);
  tonari_request_info info;
  must(tonari_request_get_info(request, &info));
  EXPECT_STREQ(info.algorithm, "zero-byte");
  EXPECT_EQ(info.messages, 0);
  must(tonari_request_free(&request));
}

// As many as the paper counts, in three dimensions with a neighbor on every side (Table 1).
TEST(GridMessages27, AreAsManyAsThePaperCounts) {
  Geometry g = plain_geometry(3, 3, 2);
  for (int k = 0; k < 3; ++k) g.shape.brick[k] = g.shape.lower[k] = g.shape.upper[k] = 1;
  const std::tuple<int, const char*, int> counts[] = {
      {TONARI_STORAGE_ARRAY, "pack", 26},  {TONARI_STORAGE_ARRAY, "datatypes", 26},
      {TONARI_STORAGE_ARRAY, "shift", 6},  {TONARI_STORAGE_BRICK, "layout", 42},
      {TONARI_STORAGE_BRICK, "basic", 98}, {TONARI_STORAGE_MAPPED, "memmap", 26},
      {TONARI_STORAGE_MAPPED, "shift", 6}, {TONARI_STORAGE_MAPPED, "layout", 42}};
  for (const auto& [storage, halo, messages] : counts) {
    TestGrid t(g, storage);
    tonari_request request = request_of(t, 0, halo);
    tonari_request_info info;
    must(tonari_request_get_info(request, &info));
    EXPECT_EQ(info.messages, messages) << halo;
    EXPECT_EQ(info.rounds, std::string(halo) == "shift" ? 3 : 1) << halo;
    must(tonari_request_free(&request));
  }
}

// ---- a program

// One step of a five-point stencil from copy `from` to the other one, through plain arrays.
void relax(const TestGrid& t, int from) {
  const tonari_box whole = t.g.whole(world_rank(), 0);
  const Index own = t.g.own(world_rank(), 0);
  const auto row = static_cast<std::size_t>(whole.end[1] - whole.first[1]);
  std::vector<double> old(row * static_cast<std::size_t>(whole.end[0] - whole.first[0])), now;
  must(tonari_grid_export(t.grid, 0, from, 0, &whole, old.data()));
  for (std::int64_t i = 0; i < own[0]; ++i)
    for (std::int64_t j = 0; j < own[1]; ++j) {
      const double* const at = &old[static_cast<std::size_t>(i + t.g.shape.lower[0]) * row +
                                    static_cast<std::size_t>(j + t.g.shape.lower[1])];
      now.push_back(0.4 * at[0] + 0.13 * at[-1] + 0.17 * at[1] + 0.11 * *(at - row) +
                    0.19 * at[row]);
    }
  must(tonari_grid_import(t.grid, 0, 1 - from, 0, nullptr, now.data()));
}

std::vector<unsigned char> fifty_steps(int storage, bool mapped_ghosts) {
  TestGrid t(plain_geometry(2, 12, 2), storage, mapped_ghosts);
  tonari_request halo[2];
  for (int c = 0; c < 2; ++c)
    halo[c] = request_of(t, c, mapped_ghosts ? "zero-byte" : usual[storage]);
  std::vector<double> start(144);
  for (std::size_t k = 0; k < start.size(); ++k)
    start[k] = static_cast<double>(mix(static_cast<std::uint64_t>(world_rank()) * 1000 + k) >> 40);
  must(tonari_grid_import(t.grid, 0, 0, 0, nullptr, start.data()));
  exchange(halo[0]);
  for (int step = 0; step < 50; ++step) {
    relax(t, step % 2);
    exchange(halo[1 - step % 2], step % 3 == 0);
  }
  std::vector<unsigned char> end = t.field(0, 0, 0);
  MPI_Barrier(MPI_COMM_WORLD);  // the end of a grid whose ghosts others read
  for (tonari_request& request : halo) must(tonari_request_free(&request));
  return end;
}

TEST(GridRequests, FiftyStepsAreTheSameOnEveryStorage) {
  const std::vector<unsigned char> want = fifty_steps(TONARI_STORAGE_ARRAY, false);
  EXPECT_TRUE(fifty_steps(TONARI_STORAGE_BRICK, false) == want);
  EXPECT_TRUE(fifty_steps(TONARI_STORAGE_MAPPED, false) == want);
  EXPECT_TRUE(fifty_steps(TONARI_STORAGE_MAPPED, true) == want);
}

// ---- what is left

std::size_t map_lines() {
  std::ifstream maps("/proc/self/maps");
  std::size_t lines = 0;
  for (std::string line; std::getline(maps, line);) ++lines;
  return lines;
}

void make_and_free(const Geometry& g, int storage, bool mapped_ghosts) {
  TestGrid t(g, storage, mapped_ghosts);
  const char* const kinds[] = {mapped_ghosts ? "zero-byte" : usual[storage],
                               mapped_ghosts ? "zero-byte" : other[storage]};
  for (int c = 0; c < 2; ++c) {
    tonari_request request = request_of(t, c, kinds[c]);
    exchange(request);
    must(tonari_request_free(&request));
  }
}

// Both MPIs give up after some thousands of communicators.
TEST(GridRequests, AThousandGridsLeaveNothing) {
  const Geometry g = plain_geometry(1, 8, 2);
  const int all = crowded() ? 8 : world_size() <= 2 ? 1000 : 100;
  const auto some = [&](int many) {
    for (int k = 0; k < many; ++k)
      make_and_free(g, k % 4 == 3 ? TONARI_STORAGE_MAPPED : all_storages[k % 4], k % 4 == 3);
  };
  some(crowded() ? 4 : 12);  // the MPI has what it makes for its first messages
  const Held before = held();
  const std::size_t lines = map_lines();
  some(all);
  EXPECT_EQ(held(), before);
  if (!sanitized) {
    EXPECT_LE(map_lines(), lines + 8) << "the heap may have grown by some";
  }
}

}  // namespace
