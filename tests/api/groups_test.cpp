// SPDX-License-Identifier: BSD-3-Clause
// Groups of calls: random operations on random neighborhoods, whose ranks are numbered in different
// ways, against what each would deliver alone; and how many messages they take.
#include <tonari/group.hpp>

#include <array>
#include <set>

#include "support/counting.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/graph_exchange.hpp"

namespace {

using namespace tonari::test;

// A call of a group. All ranks draw the same neighborhood and sizes.
struct Member {
  Graph graph;
  int rank = 0, ranks = 0;  // in its communicator, whose ranks may go backwards
  bool backwards = false;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  Buffers b{};

  Member(Random& common, bool may_turn) {
    ranks = world_size();
    backwards = may_turn && common() % 3 == 0;
    rank = in_world(world_rank());
    MPI_Comm comm = MPI_COMM_NULL;
    if (common() % 3 == 0) {
      Topology grid = torus_of_all(pick(common, 1, 2));
      grid.periods.assign(grid.periods.size(), pick(common, 0, 1));
      graph = cartesian_graph(grid, ranks);
      backwards = false, rank = world_rank();
      comm = make_cart(grid);
      EXPECT_OK(tonari_neighborhood_create_from_comm(comm, MPI_INFO_NULL, &near));
    } else {
      graph = random_graph(common, ranks);
      MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
      EXPECT_OK(
          create_adjacent(comm, graph.of[static_cast<std::size_t>(rank)], MPI_INFO_NULL, &near));
    }
    MPI_Comm_free(&comm);
    const Operation op = all_operations[common() % 6];
    const Sizes sizes = random_sizes(common, op, true);
    Random own(common() + 977u * static_cast<unsigned>(rank));
    b = make_buffers(own, graph, rank, op, sizes);
  }
  ~Member() { EXPECT_OK(tonari_neighborhood_free(&near)); }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  int in_world(int r) const { return backwards ? ranks - 1 - r : r; }
  // In the world, of all that get bytes from here.
  void add_peers(std::set<int>& peers) const {
    const std::vector<int>& targets = graph.of[static_cast<std::size_t>(rank)].targets;
    for (std::size_t i = 0; i < targets.size(); ++i)
      if (targets[i] >= 0 && targets[i] != rank && !b.out.blocks[gathers(b.op) ? 0 : i].empty())
        peers.insert(in_world(targets[i]));
  }
};

using Members = std::vector<std::unique_ptr<Member>>;

Members draw(Random& common, int count, bool may_turn = true) {
  Members all;
  for (int k = 0; k < count; ++k) all.push_back(std::make_unique<Member>(common, may_turn));
  return all;
}

// All in one request. What the calls are given is freed at once.
tonari_request make(const Members& members, MPI_Info info) {
  EXPECT_OK(tonari_group_start(MPI_COMM_WORLD));
  for (std::size_t k = 0; k < members.size(); ++k) {
    Buffers& b = members[k]->b;
    tonari_request none = reinterpret_cast<tonari_request>(std::uintptr_t{64});
    EXPECT_OK(init(b.op, b.out, b.in, members[k]->near, MPI_INFO_NULL, k % 2 ? &none : nullptr));
    EXPECT_TRUE(k % 2 == 0 || none == TONARI_REQUEST_NULL);
    b.out.free_types(), b.in.free_types();
    std::ranges::fill(b.out.counts, -1), std::ranges::fill(b.in.counts, -1);
  }
  tonari_request request = TONARI_REQUEST_NULL;
  EXPECT_OK(tonari_group_end(info, &request));
  return request;
}

void expect_delivered(const Members& members, tonari_request request, int round) {
  for (const auto& m : members) m->b.prepare(m->rank, round);
  EXPECT_OK(tonari_start(request));
  EXPECT_OK(complete(request, (world_rank() + round) % 2));
  for (std::size_t k = 0; k < members.size(); ++k)
    EXPECT_EQ(members[k]->b.wrong(members[k]->graph, members[k]->rank, round), "")
        << "call " << k << ", " << name(members[k]->b.op) << " on " << members[k]->graph.name
        << ", round " << round << "\n"
        << tonari_request_describe(request);
}

TEST(Groups, DeliverWhatTheirCallsWould) {
  const unsigned seed = random_seed();
  SCOPED_TRACE("TONARI_TEST_SEED=" + std::to_string(seed));
  Random common(seed);
  for (int k = 0; k < cases(60) && !HasFailure(); ++k) {
    const Members members = draw(common, pick(common, 0, 5));
    const bool linear = common() % 2 == 0;
    const Info info{{"tonari_tune", "off"},
                    {"tonari_algorithm", linear ? "linear" : "auto"},
                    {"tonari_channel", random_channel(common)}};
    tonari_request request = make(members, info);
    ASSERT_NE(request, TONARI_REQUEST_NULL);
    for (int round = 0; round < 3; ++round) expect_delivered(members, request, round);
    std::set<int> peers;
    for (const auto& m : members) m->add_peers(peers);
    tonari_request_info facts;
    EXPECT_OK(tonari_request_get_info(request, &facts));
    EXPECT_TRUE(!linear || facts.messages == static_cast<int>(peers.size()))
        << facts.messages << " messages to " << peers.size() << " ranks";
    EXPECT_OK(tonari_request_free(&request));
  }
}

// At once, without a request to start again.
TEST(Groups, ExchangeAtOnce) {
  const unsigned seed = random_seed();
  SCOPED_TRACE("TONARI_TEST_SEED=" + std::to_string(seed));
  Random common(seed);
  for (int k = 0; k < cases(20) && !HasFailure(); ++k) {
    const Members members = draw(common, pick(common, 0, 4));
    const bool waits = common() % 2 == 0;
    for (const auto& m : members) m->b.prepare(m->rank, k);
    EXPECT_OK(tonari_group_start(MPI_COMM_WORLD));
    for (const auto& m : members)
      EXPECT_OK(init(m->b.op, m->b.out, m->b.in, m->near, MPI_INFO_NULL, nullptr));
    tonari_request request = TONARI_REQUEST_NULL;
    if (waits) {
      EXPECT_OK(tonari_group_run(MPI_INFO_NULL));
    } else {
      EXPECT_OK(tonari_group_irun(MPI_INFO_NULL, &request));
      EXPECT_EQ(tonari_start(request), TONARI_ERR_ARGUMENT);
      EXPECT_CONTAINS(std::string(tonari_last_error()), "cannot be started again");
      EXPECT_OK(complete(request, (world_rank() + k) % 2));
      EXPECT_OK(tonari_request_free(&request));
    }
    for (const auto& m : members) EXPECT_EQ(m->b.wrong(m->graph, m->rank, k), "");
  }
}

TEST(Groups, AreMeasuredAsOneExchange) {
  Random common(11);
  const Members members = draw(common, 3);
  tonari_request request = make(members, Info{{"tonari_tune", "auto"}});
  for (int round = 0; round < 2; ++round) expect_delivered(members, request, round);
  const std::string said = tonari_request_describe(request);
  EXPECT_CONTAINS(said, "group of 3 calls");
  const std::size_t line = said.find("break-even");
  EXPECT_TRUE(world_size() == 1 || line != std::string::npos) << said;
  EXPECT_EQ(said.find("break-even", line == std::string::npos ? 0 : line + 1), std::string::npos)
      << said;
  EXPECT_OK(tonari_request_free(&request));
}

// Short arrays lie on the heap, long ones are mapped far from there.
TEST(Groups, AreMeasuredWhereverTheirArraysLie) {
  const int me = world_rank(), ranks = world_size();
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  const int to[] = {(me + 1) % ranks}, from[] = {(me + ranks - 1) % ranks};
  const auto ring = tonari::Neighborhood::adjacent(MPI_COMM_WORLD, from, to);
  std::vector<double> few(9, me), came(9), many(200'000, 100 + me), arrived(200'000);
  const std::span<const double> all(many);
  tonari::Group group(MPI_COMM_WORLD);
  group.add(ring.alltoall_init(std::span<const double>(few), std::span(came)));
  group.add(ring.alltoall_init(all.first(9), std::span(arrived).first(9)));
  tonari::Request both = group.end(Info{{"tonari_tune", "auto"}});
  EXPECT_EQ(both.describe().find("too large"), std::string::npos) << both.describe();
  const std::string reason = both.info().reason;
  EXPECT_TRUE(reason == "measured" || reason == "wisdom") << both.describe();
  both.start(), both.wait();
  EXPECT_EQ(came, std::vector<double>(9, from[0]));
  EXPECT_EQ(arrived[8], 100 + from[0]);
  EXPECT_EQ(arrived[9], 0);
}

// What a request on a neighborhood does by default, groups do.
TEST(Groups, ChooseByTheirStarts) {
  const FreshWisdom wisdom("0.02");
  Random common(17);
  const Members members = draw(common, 3);
  tonari_request request = make(members, MPI_INFO_NULL);
  const int starts = ranks_are_slow() ? 30 : 330;
  for (int round = 0; round < starts; ++round) {
    expect_delivered(members, request, round);
    if (HasFailure()) return;
  }
  if (world_size() > 1 && starts == 330) {
    EXPECT_CONTAINS(tonari_request_describe(request), "tuned online in");
    tonari_request_info about;
    EXPECT_OK(tonari_request_get_info(request, &about));
    EXPECT_STREQ(about.reason, "online");
    EXPECT_GT(about.measured_seconds, 0);
  }
  EXPECT_OK(tonari_request_free(&request));
}

// So a group of long blocks may move them as its calls alone would: each in a message of its own.
// Which of the other channels a race begins with, and how many pieces those make of a message,
// depends on the machine.
TEST(Groups, MayKeepTheBlocksOfTheirCallsApart) {
  const int me = world_rank(), ranks = world_size();
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  const int to[] = {(me + 1) % ranks}, from[] = {(me + ranks - 1) % ranks};
  const auto ring = tonari::Neighborhood::adjacent(MPI_COMM_WORLD, from, to);
  constexpr std::size_t calls = 3, most = 20'000;
  const auto value = [](int rank, std::size_t call, std::size_t i) {
    return 1e6 * rank + 1e5 * static_cast<double>(call) + static_cast<double>(i);
  };
  std::array<std::vector<double>, calls> out, in;
  for (std::size_t k = 0; k < calls; ++k) {
    in[k].assign(most - k, -1), out[k].resize(most - k);
    for (std::size_t i = 0; i < out[k].size(); ++i) out[k][i] = value(me, k, i);
  }
  const FreshWisdom wisdom("0.02");
  for (const auto& [algorithm, messages] : {std::pair("linear", 1),
                                            {"linear/a message per block", static_cast<int>(calls)},
                                            {"auto", 0}}) {
    tonari::Group group(MPI_COMM_WORLD);
    for (std::size_t k = 0; k < calls; ++k)
      group.add(ring.alltoall_init(std::span<const double>(out[k]), std::span(in[k])));
    tonari::Request all = group.end(Info{{"tonari_algorithm", algorithm},
                                         {"tonari_channel", messages > 0 ? "shared" : "auto"}});
    if (messages > 0)
      EXPECT_EQ(all.info().messages, messages) << all.describe();
    else
      EXPECT_CONTAINS(all.describe(), "linear/a message per block/shared");
    for (auto& buffer : in) std::ranges::fill(buffer, -1);
    all.start(), all.wait();
    for (std::size_t k = 0; k < calls; ++k)
      for (std::size_t i = 0; i < in[k].size(); ++i)
        ASSERT_EQ(in[k][i], value(from[0], k, i)) << algorithm << ", call " << k;
  }
}

TEST(Groups, StartAndWaitAllocateNothing) {
  Random common(12);
  const Members members = draw(common, 4);
  tonari_request request = make(members, Info{{"tonari_tune", "off"}});
  for (int round = 0; round < 2; ++round) expect_delivered(members, request, round);
  arm();
  const int code = start_and_wait(request);
  const Counts counts = disarm();
  EXPECT_OK(code);
  EXPECT_EQ(counts.allocations, 0);
  EXPECT_EQ(counts.collectives, 0) << counts.first;
  EXPECT_OK(tonari_request_free(&request));
}

// A group may hold a neighborhood whose messages must not leave its edges.
TEST(Groups, KeepPromisesOfNeighborhoods) {
  Random common(13);
  const Info strict{{"cdag_strict_communication", "true"}};
  Edges opposite;  // two hops from each other on a mesh, by ranks that are no neighbors
  for (int r = 0; r < world_size(); ++r) opposite.emplace_back(r, world_size() - 1 - r);
  const Graph graph = make_graph(world_size(), opposite);
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  const Lists& lists = graph.of[static_cast<std::size_t>(world_rank())];
  ASSERT_OK(create_adjacent(MPI_COMM_WORLD, lists, strict, &near));
  Buffers b =
      make_buffers(common, graph, world_rank(), Operation::alltoall, {4, 2, true, false, 0});
  ASSERT_OK(tonari_group_start(MPI_COMM_WORLD));
  EXPECT_OK(init(b.op, b.out, b.in, near, MPI_INFO_NULL, nullptr));
  tonari_request request = TONARI_REQUEST_NULL;
  const int code = tonari_group_end(Info{{"tonari_algorithm", "store-and-forward"}}, &request);
  EXPECT_EQ(code, TONARI_ERR_ALGORITHM);
  tonari_request_free(&request);
  EXPECT_OK(tonari_neighborhood_free(&near));
}

TEST(Groups, InCpp) {
  const int me = world_rank(), ranks = world_size(), next = (me + 1) % ranks,
            before = (me + ranks - 1) % ranks;
  const int to[] = {next}, from[] = {before};
  const auto ring = tonari::Neighborhood::adjacent(MPI_COMM_WORLD, from, to),
             back = tonari::Neighborhood::adjacent(MPI_COMM_WORLD, to, from);
  std::vector<double> a(3, me), b(3, -1);
  std::vector<int> c(5, 100 + me), d(5, -1), e(2, -1);
  tonari::Group group(MPI_COMM_WORLD);
  EXPECT_EQ(ring.alltoall_init(std::span<const double>(a), std::span(b)).handle(),
            TONARI_REQUEST_NULL);
  group.add(back.alltoall_init(std::span<const int>(c), std::span(d)));
  group.add(ring.allgather_init(std::span<const int>(c).first(2), std::span(e)));
  tonari::Request all = group.end();
  all.start();
  all.wait();
  tonari::Group again(MPI_COMM_WORLD);
  again.add(ring.alltoall_init(std::span<const double>(a), std::span(b)));
  tonari::Request once = again.irun();
  once.wait();
  EXPECT_EQ(b, std::vector<double>(3, before));
  EXPECT_EQ(d, std::vector<int>(5, 100 + next));
  EXPECT_EQ(e, std::vector<int>(2, 100 + before));
}

TEST(Groups, InCppTakeOnlyWhatTheyCollect) {
  const int to[] = {(world_rank() + 1) % world_size()},
            from[] = {(world_rank() + world_size() - 1) % world_size()};
  const auto ring = tonari::Neighborhood::adjacent(MPI_COMM_WORLD, from, to);
  std::vector<int> a(3, world_rank()), b(3), c(3);
  const tonari::Request alone = ring.alltoall_init(a, b);
  tonari::Group group(MPI_COMM_WORLD);
  group.add(ring.alltoall_init(a, c));
  try {
    group.add(alone);
    ADD_FAILURE() << "the request belongs to no group";
  } catch (const tonari::Failure& failure) {
    EXPECT_EQ(failure.code(), TONARI_ERR_ARGUMENT);
    EXPECT_CONTAINS(failure.what(), "did not collect this request");
  }
  group.run();
  EXPECT_EQ(c, std::vector<int>(3, from[0]));
}

}  // namespace
