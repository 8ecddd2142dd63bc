// SPDX-License-Identifier: BSD-3-Clause
// The protocols of Hoefler 2012, section II-C, one by one: tonari_ready and tonari_canary.
#include "support/graph_exchange.hpp"

namespace {

using namespace tonari::test;

class ProtocolKeys : public GraphExchange {
 protected:
  void SetUp() override {
    graph = make_graph(world_size(), all_pairs(world_size()));
    ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[world_rank()], MPI_INFO_NULL, &near));
  }
  void TearDown() override { EXPECT_OK(tonari_neighborhood_free(&near)); }

  // Exchanges three times; the detail of the channel.
  std::string detail(const std::string& channel, const std::string& ready,
                     const std::string& canary, int bytes) {
    Info info{{"tonari_algorithm", "linear"}, {"tonari_channel", channel}, {"tonari_tune", "off"}};
    if (!ready.empty()) MPI_Info_set(info, "tonari_ready", ready.c_str());
    if (!canary.empty()) MPI_Info_set(info, "tonari_canary", canary.c_str());
    Random random(5u + static_cast<unsigned>(world_rank()));
    Buffers b = make_buffers(random, graph, world_rank(), Operation::alltoallv,
                             {4, bytes / 4, true, false, 0});
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(init(b.op, b.out, b.in, near, info, &request));
    b.out.free_types(), b.in.free_types();
    for (int round = 0; round < 3 && request != TONARI_REQUEST_NULL; ++round) {
      b.prepare(world_rank(), round);
      EXPECT_OK(tonari_start(request));
      EXPECT_OK(tonari_wait(request));
      EXPECT_EQ(b.wrong(graph, world_rank(), round), "") << channel << " " << ready << canary;
    }
    tonari_request_info chosen{};
    EXPECT_OK(tonari_request_get_info(request, &chosen));
    const std::string text = channel == chosen.channel ? chosen.channel_detail : "another channel";
    EXPECT_OK(tonari_request_free(&request));
    return text;
  }

  Graph graph;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
};

TEST_F(ProtocolKeys, CanariesInSharedMemory) {
  for (int bytes : {4, 64, 68, 4096}) {
    EXPECT_EQ(detail("shared", "", "", bytes), "");
    EXPECT_EQ(detail("shared", "", "0", bytes), "no canary");
    EXPECT_EQ(detail("shared", "", "64", bytes), "canary up to 64");
    EXPECT_EQ(detail("shared", "tree/2", "1MiB", bytes), "canary up to 1048576");
  }
}

TEST_F(ProtocolKeys, ReadyWordsAndCanariesInWindows) {
  for (int bytes : {4, 256, 4096}) {
    EXPECT_EQ(detail("onesided", "", "", bytes), "");
    EXPECT_EQ(detail("onesided", "each", "", bytes), "");
    EXPECT_EQ(detail("onesided", "tree/2", "", bytes), "ready tree of 2");
    EXPECT_EQ(detail("onesided", "tree/3", "0", bytes), "ready tree of 3/no canary");
    EXPECT_EQ(detail("onesided", "auto", "1KiB", bytes), "canary up to 1024");
  }
}

}  // namespace
