// SPDX-License-Identifier: BSD-3-Clause
// Hops of networks, and machine files of simulations.
#include "simulate/topology.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "base/error.hpp"
#include "simulate/cluster.hpp"

namespace tonari::sim {
namespace {

TEST(Topology, TorusCountsTheShortestWayBeyondTheFirstHop) {
  const Topology torus = topology_from_text("torus:4x3");
  EXPECT_EQ(room_of(torus), 12u);
  EXPECT_EQ(hops(torus, 0, 0), 0u);
  EXPECT_EQ(hops(torus, 0, 1), 0u);
  EXPECT_EQ(hops(torus, 0, 2), 0u);  // around
  EXPECT_EQ(hops(torus, 0, 6), 1u);  // two rows below
  EXPECT_EQ(hops(torus, 0, 7), 2u);
}

TEST(Topology, FatTreeGoesUpAndDown) {
  const Topology tree = topology_from_text("fat-tree:4");
  EXPECT_EQ(hops(tree, 0, 3), 0u);
  EXPECT_EQ(hops(tree, 0, 4), 2u);
  EXPECT_EQ(hops(tree, 0, 15), 2u);
  EXPECT_EQ(hops(tree, 15, 16), 4u);
  EXPECT_EQ(hops(tree, 0, 1'000'000), 2u * 9);
}

TEST(Topology, DragonflyHasRoutersAndGroups) {
  const Topology dragonfly = topology_from_text("dragonfly:3,2");
  EXPECT_EQ(hops(dragonfly, 0, 1), 0u);
  EXPECT_EQ(hops(dragonfly, 1, 2), 1u);
  EXPECT_EQ(hops(dragonfly, 0, 5), 1u);
  EXPECT_EQ(hops(dragonfly, 5, 6), 3u);
}

TEST(Topology, DistancesAreThoseOfTheWayBack) {
  for (const char* text : {"flat", "torus:3x4x5", "fat-tree:3", "dragonfly:4,3"}) {
    const Topology topology = topology_from_text(text);
    for (std::uint32_t a = 0; a < 60; ++a)
      for (std::uint32_t b = 0; b < 60; ++b)
        ASSERT_EQ(hops(topology, a, b), hops(topology, b, a)) << text << a << " " << b;
  }
}

TEST(Topology, WhatIsNoNetworkIsRefused) {
  for (const char* text :
       {"", "ring", "torus", "torus:", "torus:4x", "torus:0x4", "torus:4,4", "fat-tree:1",
        "fat-tree:4,4", "dragonfly:4", "dragonfly:1,2,3", "torus:9999999", "star:4"})
    EXPECT_TRUE(error_of([&] { topology_from_text(text); })) << text;
}

const std::string common =
    "L=2e-6 o=1e-6 g=5e-7 G=1e-9 copy_block=1e-9 copy_byte=2e-9 typed_block=1e-9 rendezvous=3e-6 "
    "eager=100 shared_latency=1e-7 shared_overhead=2e-7\n";

Machine read(const std::string& text) {
  const std::string path = testing::TempDir() + "tonari_cluster_test";
  std::ofstream(path) << text;
  struct Removed {
    std::string path;
    ~Removed() { std::remove(path.c_str()); }
  } const removed{path};
  return read_cluster_file(path);
}

TEST(ClusterFile, HasEveryParameter) {
  const Machine m = read(common +
                         "self_latency=0 self_overhead=5e-8 shared_byte=4e-9 ranks_per_node=8\n"
                         "ranks_per_nic=2 network=fat-tree:16 hop=1e-7 # comment\n"
                         "noise_period=1e-3 noise_duration=1e-5");
  EXPECT_EQ(m.network.latency, 2'000'000'000u);
  EXPECT_EQ(m.network.gap, 500'000'000u);
  EXPECT_EQ(m.network.byte, 1'000'000u);
  EXPECT_TRUE(m.network.interface);
  EXPECT_EQ(m.node.latency, 100'000'000u);
  EXPECT_EQ(m.node.byte, 4'000'000u);
  EXPECT_FALSE(m.node.interface);
  EXPECT_EQ(m.self.latency, 0u);
  EXPECT_EQ(m.self.overhead, 50'000'000u);
  EXPECT_EQ(m.eager, 100u);
  EXPECT_EQ(m.rendezvous, 3'000'000'000u);
  EXPECT_EQ(m.ranks_per_node, 8u);
  EXPECT_EQ(m.ranks_per_nic, 2u);
  EXPECT_EQ(m.topology.network, Network::fat_tree);
  EXPECT_EQ(m.hop, 100'000'000u);
  EXPECT_EQ(m.noise.duration, 10'000'000'000u);
  EXPECT_FALSE(uniform(m));
  EXPECT_TRUE(uniform(read(common)));
  EXPECT_EQ(read(common + "cores=2").sharing.times(27), 13.5);
  EXPECT_EQ(read(common + "cores=2").sharing.times(2), 1);
  EXPECT_EQ(read(common + "ranks_per_core=4 core_switch=3e-6").sharing.times(2), 4);
  EXPECT_EQ(read(common + "ranks_per_core=4 core_switch=3e-6").sharing.turn, 3'000'000'000u);
  EXPECT_EQ(read(common).sharing.times(1000), 1);
}

TEST(ClusterFile, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"ranks_per_node=0", "ranks_per_node is '0'; it must be a whole number from 1 to"},
      {"ranks_per_nic=two", "ranks_per_nic is 'two'; it must be a whole number"},
      {"self_latency=-1", "self_latency is '-1'; it must be a time in seconds"},
      {"network=ring", "network is 'ring'; it must be flat, torus:4x4x4"},
      {"network=torus:4x4", "hop is missing"},
      {"hop=1e-7", "hop goes with a network that has hops"},
      {"noise_period=1e-3", "noise needs a noise_period and a noise_duration"},
      {"noise_period=1e-3 noise_duration=1", "the duration must be shorter"},
      {"cores=0", "cores is '0'; it must be a whole number from 1 to"},
      {"cores=2 ranks_per_core=2", "cores and ranks_per_core both say"},
      {"hops=1", "'hops' is no machine parameter"},
      {"hop=1e-7 hop=1e-7", "hop is given twice"},
      {"ranks_per_node", "'ranks_per_node' has no value"}};
  for (const auto& [text, sentence] : cases) {
    const auto error = error_of([&, line = common + text] { read(line); });
    ASSERT_TRUE(error) << text;
    EXPECT_EQ(error->code(), Errc::file);
    EXPECT_NE(std::string(error->what()).find(sentence), std::string::npos) << error->what();
  }
}

TEST(ClusterFile, RanksMustFitIntoTheNetwork) {
  const Machine m = read(common + "network=torus:4x4 hop=1e-7 ranks_per_node=2");
  check_room(m, 32);
  EXPECT_TRUE(error_of([&] { check_room(m, 33); }));
}

}  // namespace
}  // namespace tonari::sim
