// SPDX-License-Identifier: BSD-3-Clause
// Neighborhoods whose exchanges follow the schedule of a file (tonari_schedule).
#include "support/schedule_files.hpp"

#include "support/counting.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/graph_exchange.hpp"
#include "support/grid_graph.hpp"
#include "support/grids.hpp"
#include "support/one_shot.hpp"
#include "support/weighted_ring.hpp"

namespace {

using namespace tonari::test;
using tonari::CommunicationMatrix;
using tonari::MessageSchedule;
using tonari::ScheduleMetrics;

class Schedules : public GraphExchange {
 protected:
  int open(const Graph& graph, const std::string& file) {
    return create_adjacent(MPI_COMM_WORLD, graph.of[static_cast<std::size_t>(world_rank())],
                           Info{{"tonari_schedule", file}}, &near);
  }
  void close() { EXPECT_OK(tonari_neighborhood_free(&near)); }
  // A request follows the schedule whether it says nothing or its name.
  void run_all_operations(const Graph& graph, Random& common) {
    for (const Operation op : all_operations)
      EXPECT_TRUE(exchange(near, graph, op, random_sizes(common, op, true),
                           {"schedule", random_channel(common), "off", pick(common, 0, 1)},
                           Applies::always, common));
  }

  ScheduleFolder folder;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
};

TEST_F(Schedules, RunAllOperationsOnGraphs) {
  Random common(71);
  std::vector<Graph> graphs{hubs()};
  for (int k = cases(2); k > 0; --k) graphs.push_back(random_graph(common, world_size()));
  for (const Graph& graph : graphs) {
    const CommunicationMatrix matrix = matrix_of(graph);
    for (const MessageSchedule& schedule : some_schedules(matrix)) {
      Nodes::set(splits[pick(common, 0, static_cast<int>(std::size(splits)) - 1)].text);
      ASSERT_OK(open(graph, folder.write(matrix, schedule)));
      run_all_operations(graph, common);
      close();
    }
  }
}

// Offsets are the same on all ranks; ranks on the border of a mesh lack some.
TEST_F(Schedules, RunAllOperationsOnGrids) {
  Random common(72);
  for (int periodic : {0, 1}) {
    const Topology t{{world_size()}, {periodic}, {-2, -1, 0, 1, 1}, periodic ? "torus" : "mesh"};
    const Graph graph = graph_of(t);
    const CommunicationMatrix matrix = matrix_of(graph);
    for (const MessageSchedule& schedule : some_schedules(matrix)) {
      MPI_Comm cart = make_cart(t);
      const Info info{{"tonari_schedule", folder.write(matrix, schedule)}};
      ASSERT_OK(tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), info, &near));
      MPI_Comm_free(&cart);
      run_all_operations(graph, common);
      close();
    }
  }
}

int messages_of_a_start(tonari_request request) {
  arm();
  EXPECT_OK(tonari_start(request));
  EXPECT_OK(tonari_wait(request));
  return static_cast<int>(disarm().sends);
}

// Counted at the MPI. An allgather sends no more messages than the file has.
TEST_F(Schedules, SendTheMessagesOfTheFile) {
  Random common(73);
  const Graph graph = hubs();
  const CommunicationMatrix matrix = matrix_of(graph);
  std::vector<MessageSchedule> schedules = some_schedules(matrix);
  if (world_size() > 1) schedules.push_back(over_the_next_rank(matrix));
  for (const MessageSchedule& schedule : schedules) {
    const std::string file = folder.write(matrix, schedule);
    const ScheduleMetrics counted = schedule.metrics(matrix);
    const int sent = counted.sent[static_cast<std::size_t>(world_rank())];
    ASSERT_OK(open(graph, file));
    for (const Operation op : {Operation::alltoall, Operation::allgather}) {
      Buffers b = make_buffers(common, graph, world_rank(), op, {4, 6, true, false, 0});
      tonari_request request = TONARI_REQUEST_NULL;
      const Info info{{"tonari_channel", "p2p-packed"}, {"tonari_tune", "off"}};
      ASSERT_OK(init(op, b.out, b.in, near, info, &request));
      b.out.free_types(), b.in.free_types();
      b.prepare(world_rank(), 0);
      const int messages = messages_of_a_start(request);
      EXPECT_EQ(b.wrong(graph, world_rank(), 0), "");
      if (op == Operation::alltoall)
        EXPECT_EQ(messages, sent);
      else
        EXPECT_LE(messages, sent);
      EXPECT_CONTAINS(tonari_request_describe(request), "schedule/p2p-packed");
      EXPECT_CONTAINS(tonari_request_describe(request),
                      "the schedule of the file " + file + " (tonari_schedule)");
      EXPECT_OK(tonari_request_free(&request));
    }
    close();
  }
}

TEST_F(Schedules, RunOneShotCalls) {
  Random common(74);
  const Graph graph = hubs();
  const CommunicationMatrix matrix = matrix_of(graph);
  for (const MessageSchedule& schedule : some_schedules(matrix)) {
    ASSERT_OK(open(graph, folder.write(matrix, schedule)));
    for (const Operation op : all_operations) {
      Random own(common() + 977u * static_cast<unsigned>(world_rank()));
      Buffers b = make_buffers(own, graph, world_rank(), op, random_sizes(common, op, true));
      for (int round = 0; round < 3; ++round) {
        b.prepare(world_rank(), round);
        tonari_request request = TONARI_REQUEST_NULL;
        if (round == 1) {
          EXPECT_OK(icall(op, b.out, b.in, near, &request));
          EXPECT_OK(complete(request, world_rank() % 2 != 0));
          EXPECT_OK(tonari_request_free(&request));
        } else {
          EXPECT_OK(call(op, b.out, b.in, near));
        }
        EXPECT_EQ(b.wrong(graph, world_rank(), round), "") << name(op) << ", round " << round;
      }
      b.out.free_types(), b.in.free_types();
    }
    close();
  }
}

TEST_F(Schedules, StartWithOtherBuffers) {
  Random common(75);
  const Graph graph = hubs();
  const CommunicationMatrix matrix = matrix_of(graph);
  for (const MessageSchedule& schedule : some_schedules(matrix)) {
    ASSERT_OK(open(graph, folder.write(matrix, schedule)));
    for (const Operation op : all_operations) {
      Random own(common() + 977u * static_cast<unsigned>(world_rank()));
      Buffers b = make_buffers(own, graph, world_rank(), op, random_sizes(common, op, true));
      tonari_request request = TONARI_REQUEST_NULL;
      ASSERT_OK(init(op, b.out, b.in, near, Info{{"tonari_tune", "off"}}, &request));
      b.out.free_types(), b.in.free_types();
      std::vector<Byte> other_out = b.out.memory, other_in = b.in.memory;
      for (int round = 0; round < 4; ++round) {
        b.out.memory.swap(other_out), b.in.memory.swap(other_in);
        b.prepare(world_rank(), round);
        EXPECT_OK(tonari_start_with(request, b.out.buffer(), b.in.buffer()));
        EXPECT_OK(tonari_wait(request));
        EXPECT_EQ(b.wrong(graph, world_rank(), round), "") << name(op) << ", round " << round;
      }
      EXPECT_OK(tonari_request_free(&request));
    }
    close();
  }
}

// Channels race, and what wins is remembered for this schedule.
TEST_F(Schedules, AreTunedLikeOtherAlgorithms) {
  Random common(76);
  const FreshWisdom wisdom("0.01");
  const Graph graph = hubs();
  const CommunicationMatrix matrix = matrix_of(graph);
  const std::string file = folder.write(matrix, balanced(matrix, {3}));
  for (const char* tune : {"online", "auto", "auto", "model", "measure"}) {
    ASSERT_OK(open(graph, file));
    for (const Operation op : {Operation::alltoallv, Operation::allgather})
      EXPECT_TRUE(exchange(near, graph, op, random_sizes(common, op, true),
                           {"schedule", "auto", tune}, Applies::always, common));
    close();
  }
}

TEST_F(Schedules, RequestsMayNameAnotherAlgorithm) {
  Random common(77);
  const Graph graph = hubs();
  const CommunicationMatrix matrix = matrix_of(graph);
  ASSERT_OK(open(graph, folder.write(matrix, balanced(matrix, {2}))));
  for (const char* algorithm : {"linear", "balanced/3 stages", "schedule"})
    EXPECT_TRUE(exchange(near, graph, Operation::alltoallw,
                         random_sizes(common, Operation::alltoallw, true), {algorithm},
                         Applies::always, common));
  close();
}

// All edges between two ranks go together, each with its own size.
TEST_F(Schedules, KnowTheSizesThatArePromised) {
  const WeightedRing ring;
  Edges edges;
  for (int r = 0; r < ring.ranks; ++r)
    for (const int step : WeightedRing::steps) edges.emplace_back(r, (r + step) % ring.ranks);
  const CommunicationMatrix matrix = matrix_of(make_graph(ring.ranks, edges));
  for (const MessageSchedule& schedule : some_schedules(matrix)) {
    near = ring.make(Info{{"cdag_exact_byte_communications", "true"},
                          {"tonari_tune", "model"},
                          {"tonari_schedule", folder.write(matrix, schedule)}});
    auto d = ring.data(0);
    for (int round = 0; round < 2; ++round) {
      ring.fill(d, round);
      EXPECT_OK(alltoallv(d, near));
      ring.expect(d, round);
    }
    close();
  }
}

TEST_F(Schedules, MayHaveLongNames) {
  const Graph graph = hubs();
  const CommunicationMatrix matrix = matrix_of(graph);
  std::string file = folder.write(matrix, direct_schedule(matrix));
  while (file.size() + 2 < MPI_MAX_INFO_VAL) file.insert(file.rfind('/'), "/.");
  ASSERT_OK(open(graph, file));
  close();
}

}  // namespace
