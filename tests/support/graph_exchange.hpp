// SPDX-License-Identifier: BSD-3-Clause
// Runs one exchange on a neighborhood that all ranks know as a graph, by any algorithm, and knows
// which of them must refuse.
#pragma once

#include <cstdlib>
#include <optional>
#include <span>
#include <sstream>

#include "support/graph_oracle.hpp"

namespace tonari::test {

// MPICH 4 receives no more blocks than a rank sends, and Intel MPI counts as MPICH 4
// (mpi/quirks.hpp).
inline bool native_loses_blocks() {
#if defined(MPICH_NUMVERSION)
  return MPICH_NUMVERSION < 50000000;
#else
  return mpi_says("Intel(R) MPI");
#endif
}

// Nodes that are not there, by TONARI_NODES; the old value comes back.
class Nodes {
 public:
  Nodes() {
    if (const char* value = std::getenv("TONARI_NODES")) before_ = value;
  }
  ~Nodes() { set(before_.value_or("")); }
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;
  static void set(const std::string& text) {
    if (text.empty())
      unsetenv("TONARI_NODES");
    else
      setenv("TONARI_NODES", text.c_str(), 1);
  }

 private:
  std::optional<std::string> before_;
};

struct Split {
  const char* text;  // for TONARI_NODES
};
inline const Split splits[] = {{""}, {"1"}, {"2"}, {"3"}, {"1,3"}, {"3,1"}, {"2,1,4"}, {"1,5"}};

// Ranks 0 and 1 write to all, all write to the last rank, and each to the next one.
inline Graph hubs() {
  Edges edges;
  const int ranks = world_size();
  for (int r = 0; r < ranks; ++r) {
    for (int hub : {0, 1})
      if (r != hub && hub < ranks) edges.emplace_back(hub, r);
    if (r > 1 && r + 1 < ranks) edges.emplace_back(r, ranks - 1);
    if (ranks > 4) edges.emplace_back(r, (r + 1) % ranks);
  }
  Graph graph = make_graph(ranks, edges);
  graph.name = "hubs";
  return graph;
}

class GraphExchange : public testing::Test {
 protected:
  enum class Applies { always, never };

  // What is named runs wherever it is possible, whether or not it is expected to pay.
  static Applies applies(const Graph& graph, Operation op, const std::string& algorithm) {
    const auto only_if = [](bool possible) { return possible ? Applies::always : Applies::never; };
    if (algorithm == "native") return only_if(degrees_of(graph).balanced || !native_loses_blocks());
    if (algorithm == "common-neighborhood") return only_if(gathers(op));
    if (algorithm == "store-and-forward") return only_if(world_size() >= 4);
    // not isomorphic
    if (algorithm == "torus" || algorithm == "torus-direct") return Applies::never;
    return Applies::always;
  }

  struct Way {
    std::string algorithm, channel = "auto", tune = "off";
    int ports = 0;
  };

  // near is graph. common: the same on all ranks. Returns whether it ran.
  bool exchange(tonari_neighborhood near, const Graph& graph, Operation op, const Sizes& sizes,
                const Way& way, Applies expected, Random& common) {
    const int rank = world_rank();
    const Info info{{"tonari_algorithm", way.algorithm},
                    {"tonari_channel", way.channel},
                    {"tonari_ports", std::to_string(way.ports)},
                    {"tonari_tune", way.tune}};
    // datatypes and places differ between ranks
    Random random(common() + 977u * static_cast<unsigned>(rank));
    Buffers b = make_buffers(random, graph, rank, op, sizes);
    b.prepare(rank, -1);
    const std::vector<Byte> before = b.in.memory;
    std::ostringstream label;
    label << name(op) << ", " << graph.name << ", " << way.algorithm << ' ' << way.channel << ' '
          << way.tune << " ports " << way.ports << ", blocks of " << sizes.quantum << " * "
          << sizes.most
          << (sizes.by_rank ? " by rank"
              : sizes.equal ? ""
                            : " by block");
    SCOPED_TRACE(label.str());
    tonari_request request = TONARI_REQUEST_NULL;
    const int code = init(op, b.out, b.in, near, info, &request);
    b.out.free_types(), b.in.free_types();
    if (expected == Applies::never) {
      EXPECT_EQ(code, TONARI_ERR_ALGORITHM);
      if (code == TONARI_SUCCESS)
        tonari_request_free(&request);
      else
        expect_sentence(way.algorithm);
      return false;
    }
    EXPECT_OK(code);
    if (code != TONARI_SUCCESS) return false;  // the same on all ranks
    EXPECT_TRUE(b.in.memory == before && b.out.memory == b.sent) << "init touched a buffer";
    check_info(request, way);
    for (int round = 0; round < 2; ++round) {
      b.prepare(rank, round);
      EXPECT_OK(tonari_start(request));
      EXPECT_OK(complete(request, (rank + round) % 2));
      EXPECT_EQ(b.wrong(graph, rank, round), "") << "round " << round << "\n"
                                                 << tonari_request_describe(request);
    }
    EXPECT_OK(tonari_request_free(&request));
    ++ran[way.algorithm];
    return true;
  }

  // Random exchanges on a random graph with random nodes.
  void random_exchanges(std::uint32_t seed, int exchanges,
                        std::span<const char* const> algorithms) {
    Random common(seed);
    const Split& split = splits[pick(common, 0, static_cast<int>(std::size(splits)) - 1)];
    const Graph graph = random_graph(common, world_size());
    SCOPED_TRACE("seed " + std::to_string(seed) + ", nodes " + split.text);
    Nodes::set(split.text);
    tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
    ASSERT_OK(create_adjacent(MPI_COMM_WORLD, graph.of[world_rank()], MPI_INFO_NULL, &near));
    check_lists(near, graph.of[world_rank()]);
    for (int k = 0; k < exchanges; ++k) {
      const auto op = all_operations[pick(common, 0, 5)];
      const Sizes sizes = random_sizes(common, op, true);
      Way way{algorithms[pick(common, 0, static_cast<int>(algorithms.size()) - 1)], "auto", "off",
              std::max(0, pick(common, -3, 2))};
      // MPICH 4 loses bytes of long messages between types that are made of different elements.
      if (way.algorithm == "native" && mpi_spins() && sizes.quantum * sizes.most >= 4000) continue;
      if (way.algorithm != "native") way.channel = random_channel(common);
      if (!ranks_are_slow() && pick(common, 0, 1)) way.tune = "model";
      exchange(near, graph, op, sizes, way, applies(graph, op, way.algorithm), common);
    }
    EXPECT_OK(tonari_neighborhood_free(&near));
  }

  static void check_lists(tonari_neighborhood near, const Lists& lists) {
    std::vector<int> targets(lists.targets.size(), -5), sources(lists.sources.size(), -5);
    int in = -1, out = -1, count = -1;
    EXPECT_OK(tonari_neighborhood_degrees(near, &in, &out));
    EXPECT_OK(tonari_neighborhood_count(near, &count));
    ASSERT_EQ(in, static_cast<int>(sources.size()));
    ASSERT_EQ(out, static_cast<int>(targets.size()));
    EXPECT_EQ(count, out);
    EXPECT_OK(tonari_neighborhood_ranks(near, targets.data(), sources.data()));
    EXPECT_EQ(targets, as_mpi(lists.targets));
    EXPECT_EQ(sources, as_mpi(lists.sources));
  }

  std::map<std::string, int> ran;
  Nodes nodes;

 private:
  static void expect_sentence(const std::string& word) {
    const std::string sentence = tonari_last_error();
    EXPECT_CONTAINS(sentence, "'" + word + "'");
    EXPECT_GT(sentence.size(), word.size() + 40) << "does not say why: " << sentence;
  }
  static void check_info(tonari_request request, const Way& way) {
    tonari_request_info info;
    ASSERT_OK(tonari_request_get_info(request, &info));
    const std::string algorithm = way.algorithm == "auto"    ? info.algorithm
                                  : way.algorithm == "irecv" ? "linear"
                                                             : way.algorithm;
    const std::string channel = way.algorithm == "native" ? "mpi"
                                : way.channel == "auto"   ? info.channel
                                                          : way.channel;
    EXPECT_EQ(algorithm.find('/') == std::string::npos
                  ? info.algorithm
                  : std::string(info.algorithm) + "/" + info.variant,
              algorithm);
    EXPECT_EQ(info.channel, channel);
    EXPECT_CONTAINS(tonari_request_describe(request), info.algorithm);
  }
};

}  // namespace tonari::test
