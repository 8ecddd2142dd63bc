// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/coloring.hpp"

#include <bit>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "planners/graphs/counted_bsp_comm.hpp"
#include "planners/graphs/graphs.hpp"
#include "planners/graphs/spread.hpp"

namespace tonari {
namespace {

using namespace graphs;

Edges torus(int rows, int columns) {
  Edges edges;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      for (const auto& [di, dj] : {std::pair{1, 0}, {rows - 1, 0}, {0, 1}, {0, columns - 1}})
        edges.emplace_back(i * columns + j, (i + di) % rows * columns + (j + dj) % columns);
  return edges;
}

Edges bipartite(int left, int right) {
  Edges edges;
  for (int a = 0; a < left; ++a)
    for (int b = 0; b < right; ++b) edges.emplace_back(a, left + b);
  return edges;
}

// Every rank sends and receives `degree` times (less where permutations agree): no rank has a gap,
// the hardest case.
Edges permutations(int ranks, int degree, std::mt19937& random) {
  Edges edges;
  std::vector<int> to(ranks);
  std::iota(to.begin(), to.end(), 0);
  for (int d = 0; d < degree; ++d) {
    std::shuffle(to.begin(), to.end(), random);
    for (int r = 0; r < ranks; ++r) edges.emplace_back(r, to[r]);
  }
  return edges;
}

Edges distinct_edges(std::span<const Vertex> vertices) {
  Edges edges;
  for (const Vertex& v : vertices)
    for (std::int32_t to : v.targets)
      if (to >= 0 && to != v.rank) edges.emplace_back(v.rank, to);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

// The distinct edges are there, both ends know the same colors, and no side has one twice. All of
// them have a color below `colors`, or (partial) none.
void expect_valid(std::span<const Vertex> vertices, const EdgeColors& edges, int colors,
                  bool partial = false) {
  Edges sent, received;
  for (std::size_t r = 0; r < vertices.size(); ++r) {
    const auto check = [&](const Side& side, const std::vector<Side>& others, bool sender) {
      ASSERT_EQ(side.colors.size(), side.peers.size());
      std::vector<bool> seen(colors);
      for (std::size_t e = 0; e < side.peers.size(); ++e) {
        if (sender)
          sent.emplace_back(r, side.peers[e]);
        else
          received.emplace_back(side.peers[e], r);
        const Color c = side.colors[e];
        const Side& other = others[side.peers[e]];
        EXPECT_EQ(other.colors[other.edge(static_cast<std::int32_t>(r))], c);
        if (partial && c == uncolored) continue;
        ASSERT_TRUE(c >= 0 && c < colors) << c;
        EXPECT_TRUE(side.used.contains(c));
        EXPECT_FALSE(seen[c]) << "rank " << r << (sender ? " sends" : " receives")
                              << " twice in round " << c;
        seen[c] = true;
      }
    };
    check(edges.senders[r], edges.receivers, true);
    check(edges.receivers[r], edges.senders, false);
  }
  std::sort(received.begin(), received.end());
  EXPECT_EQ(sent, distinct_edges(vertices));
  EXPECT_EQ(received, distinct_edges(vertices));
}

// Colors beyond the bound; checks that the coloring is valid.
int excess(std::span<const Vertex> vertices) {
  LocalBspComm bsp(static_cast<int>(vertices.size()));
  const GraphFacts facts = gather_facts(bsp, vertices);
  const Coloring coloring = color_edges(bsp, vertices);
  EXPECT_EQ(coloring.bound, facts.degree());
  EXPECT_GE(coloring.colors, coloring.bound);
  expect_valid(vertices, coloring.edges, coloring.colors);
  return coloring.colors - coloring.bound;
}

int excess(int ranks, const Edges& edges) { return excess(make(ranks, edges)); }

TEST(ColorSet, IsASet) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const int most = 1 + static_cast<int>(random() % 300);
    std::set<Color> expected;
    ColorSet set, other;
    for (int step = 0; step < 300; ++step) {
      const Color c = static_cast<Color>(random() % most);
      if (random() % 3)
        set.insert(c), expected.insert(c);
      else if (set.contains(c))
        set.erase(c), expected.erase(c);
      if (random() % 2) other.insert(static_cast<Color>(random() % most));
    }
    std::set<Color> members;
    EXPECT_FALSE(ColorSet(set.words()).any([&](Color c) { return members.insert(c), false; }));
    EXPECT_EQ(members, expected);
    EXPECT_LE(set.words().size(), expected.size());
    for (Color from = 0; from < most + 40; ++from) {
      Color next = from;
      while (expected.contains(next)) ++next;
      EXPECT_EQ(set.next_outside(from), next);
      EXPECT_EQ(set.contains(from), expected.contains(from));
    }
    Color lowest = 0;
    while (expected.contains(lowest) || other.contains(lowest)) ++lowest;
    EXPECT_EQ(ColorSet::lowest_outside(set, other), lowest);
  }
}

TEST(Coloring, IsValidOnAnyGraph) {
  std::mt19937 random(2);
  for (int i = 0; i < 600; ++i) EXPECT_LE(excess(any_graph(random, 40)), 1) << i;
}

TEST(Coloring, PlansAreProven) {
  std::mt19937 random(3);
  for (unsigned seed = 0; seed < 300; ++seed) {
    const std::vector<Vertex> vertices = any_graph(random);
    for (Collective collective : {Collective::alltoall, Collective::allgather})
      expect_proven(graph_coloring, vertices, {collective, 8, {}}, seed);
  }
}

TEST(Coloring, OfCompleteGraphsAndStarsIsOptimal) {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    EXPECT_EQ(excess(ranks, complete(ranks)), 0);
    EXPECT_EQ(excess(ranks, star_out(ranks, ranks / 2)), 0);
    EXPECT_EQ(excess(ranks, star_in(ranks, ranks / 3)), 0);
    EXPECT_EQ(excess(ranks + 1, star_out(ranks)), 0) << "with an isolated rank";
  }
}

TEST(Coloring, OfSmallRegularGraphsIsOptimal) {
  for (int n = 3; n <= 10; ++n) EXPECT_EQ(excess(n * n, torus(n, n)), 0) << n;
  for (int n = 1; n <= 32; ++n) EXPECT_EQ(excess(2 * n, bipartite(n, n)), 0) << n;
}

// Where a graph has no gaps, the last walks can be longer than the patience.
TEST(Coloring, NeedsAtMostOneRoundMoreThanTheBound) {
  using Make = std::function<Edges(std::mt19937&)>;
  const std::tuple<const char*, int, Make, int> kinds[] = {
      {"Erdos-Renyi, degree 8", 256,
       [](auto& random) { return erdos_renyi(256, 8 / 256., random); }, 95},
      {"Erdos-Renyi, degree 32", 256,
       [](auto& random) { return erdos_renyi(256, 32 / 256., random); }, 95},
      {"Erdos-Renyi, dense", 40, [](auto& random) { return erdos_renyi(40, 0.7, random); }, 95},
      {"random targets", 256, [](auto& random) { return random_targets(256, 8, random); }, 95},
      {"scale-free", 256, [](auto& random) { return scale_free(256, 3, random); }, 95},
      {"permutations, degree 8", 64, [](auto& random) { return permutations(64, 8, random); }, 90},
      {"permutations, degree 4", 256, [](auto& random) { return permutations(256, 4, random); }, 0},
  };
  for (const auto& [name, ranks, make_edges, optimal] : kinds) {
    std::map<int, int> count;
    for (unsigned seed = 1; seed <= 100; ++seed) {
      std::mt19937 random(seed);
      ++count[excess(ranks, make_edges(random))];
    }
    std::ostringstream distribution;
    for (const auto& [more, graphs] : count)
      distribution << "bound + " << more << ": " << graphs << " graphs; ";
    RecordProperty(name, distribution.str());
    EXPECT_GE(count[0] + count[1], 95) << name << ": " << distribution.str();
    EXPECT_GE(count[0], optimal) << name << ": " << distribution.str();
  }
}

// All edges by descending degree, ties by hash, one after the other.
std::map<std::pair<int, int>, Color> welsh_powell(std::span<const Vertex> vertices, Color palette) {
  const Edges edges = distinct_edges(vertices);
  std::vector<int> out(vertices.size()), in(vertices.size());
  for (const auto& [from, to] : edges) ++out[from], ++in[to];
  std::vector<std::tuple<int, std::uint64_t, int, int>> order;
  for (const auto& [from, to] : edges)
    order.emplace_back(-(out[from] + in[to]), Hash().word(from).word(to).value(), from, to);
  std::sort(order.begin(), order.end());
  std::vector<std::set<Color>> sent(vertices.size()), received(vertices.size());
  std::map<std::pair<int, int>, Color> colors;
  for (const auto& [degree, hash, from, to] : order) {
    Color c = 0;
    while (sent[from].contains(c) || received[to].contains(c)) ++c;
    colors[{from, to}] = c < palette ? c : uncolored;
    if (c < palette) sent[from].insert(c), received[to].insert(c);
  }
  return colors;
}

TEST(Coloring, GreedyPartIsWelshPowell) {
  std::mt19937 random(4);
  for (int i = 0; i < 300; ++i) {
    const std::vector<Vertex> vertices = any_graph(random, 40);
    LocalBspComm bsp(static_cast<int>(vertices.size()));
    EdgeColors edges = uncolored_edges(bsp, vertices);
    const Color palette = static_cast<Color>(random() % 60);
    color_greedily(bsp, edges, palette);
    for (const auto& [edge, color] : welsh_powell(vertices, palette)) {
      const Side& sender = edges.senders[edge.first];
      ASSERT_EQ(sender.colors[sender.edge(edge.second)], color)
          << "graph " << i << ", " << edge.first << " to " << edge.second;
    }
    expect_valid(vertices, edges, palette, true);
  }
}

// Recoloring alone, from nothing: it may give up at any time.
TEST(Coloring, RecoloringGivesUpSafely) {
  std::mt19937 random(5);
  int complete_ones = 0, given_up = 0;
  for (int i = 0; i < 300; ++i) {
    const std::vector<Vertex> vertices =
        i % 2 ? any_graph(random, 40) : make(24, permutations(24, 1 + i % 9, random));
    LocalBspComm bsp(static_cast<int>(vertices.size()));
    const auto degree = static_cast<Color>(gather_facts(bsp, vertices).degree());
    EdgeColors edges = uncolored_edges(bsp, vertices);
    const bool done = recolor(bsp, edges, degree, static_cast<int>(random() % 60));
    ++(done ? complete_ones : given_up);
    expect_valid(vertices, edges, degree, !done);
    for (int more = 1; more < 3; ++more) color_greedily(bsp, edges, more * degree);
    expect_valid(vertices, edges, 2 * degree);
  }
  EXPECT_GT(complete_ones, 30);
  EXPECT_GT(given_up, 30);
}

// One message each way per round; and in the other way, the same messages leave in the order of
// their rounds.
TEST(Coloring, RoundsAndOrder) {
  std::mt19937 random(6);
  for (int i = 0; i < 100; ++i) {
    const std::vector<Vertex> vertices = any_graph(random);
    LocalBspComm bsp(static_cast<int>(vertices.size()));
    const GraphFacts facts = gather_facts(bsp, vertices);
    const GraphTask task{i % 2 ? Collective::alltoall : Collective::allgather, 8, {}};
    if (!graph_coloring.pays(facts, task).empty()) continue;
    const std::vector<GraphVariant> ways = graph_coloring.variants(bsp, vertices, facts, task);
    ASSERT_EQ(ways.size(), 2u);
    EXPECT_EQ(ways[0].ports(), 1);
    EXPECT_EQ(ways[1].ports(), 0);
    EXPECT_LE(gather_traffic(bsp, ways[0].relays()).stages, facts.degree() + 1);
    EXPECT_EQ(gather_traffic(bsp, ways[1].relays()).stages, facts.edges ? 1 : 0);
    EXPECT_EQ(gather_traffic(bsp, ways[0].relays()).messages,
              static_cast<std::int64_t>(distinct_edges(vertices).size()));
    for (std::size_t r = 0; r < vertices.size(); ++r)
      for (auto hops : {&Relay::out, &Relay::in}) {
        const std::vector<Hop>&in_rounds = ways[0].relays()[r].*hops,
              &in_order = ways[1].relays()[r].*hops;
        ASSERT_EQ(in_rounds.size(), in_order.size());
        for (std::size_t h = 0; h < in_rounds.size(); ++h) {
          EXPECT_EQ(in_rounds[h].peer, in_order[h].peer);
          EXPECT_EQ(in_rounds[h].block, in_order[h].block);
          if (h == 0) continue;
          EXPECT_LE(in_rounds[h - 1].stage, in_rounds[h].stage);
          EXPECT_EQ(in_rounds[h - 1].stage == in_rounds[h].stage,
                    in_rounds[h - 1].peer == in_rounds[h].peer);
        }
      }
  }
}

// This counts exchanges of the greedy part and of both recolorings. Messages and their size grow
// with the edges, not with the ranks.
TEST(Coloring, TakesFewExchanges) {
  const auto count = [](const char* name, int ranks, const Edges& edges) {
    const std::vector<Vertex> vertices = make(ranks, edges);
    CountedBspComm bsp(ranks);
    const Coloring coloring = color_edges(bsp, vertices);
    EXPECT_LE(coloring.colors, coloring.bound + 1) << name;
    const int log = std::bit_width(static_cast<unsigned>(ranks));
    EXPECT_LE(bsp.exchanges(), static_cast<std::size_t>(20 * coloring.bound + 40 * log + 40))
        << name;
    EXPECT_LE(bsp.messages(), 40 * edges.size() + 40) << name;
    testing::Test::RecordProperty(name, static_cast<int>(bsp.exchanges()));
    return bsp.exchanges();
  };
  std::mt19937 random(7);
  count("Erdos-Renyi 1024, degree 32", 1024, erdos_renyi(1024, 32 / 1024., random));
  count("permutations 1024, degree 32", 1024, permutations(1024, 32, random));
  count("permutations 4096, degree 4", 4096, permutations(4096, 4, random));
  count("random targets 20000, degree 10", 20000, random_targets(20000, 10, random));
  count("torus 32 x 32", 1024, torus(32, 32));
  count("dense 128", 128, erdos_renyi(128, 0.8, random));
  EXPECT_LE(count("permutations 20000, degree 8", 20000, permutations(20000, 8, random)), 250u)
      << "hopeless walks are given up early";
  EXPECT_LE(count("scale-free 5000", 5000, scale_free(5000, 5, random)), 400u);
  EXPECT_EQ(count("complete 200", 200, complete(200)), 1u);
  EXPECT_LE(count("star 5000 of 5002", 5002, star_out(5001)), 16u)
      << "a hub goes through its leaves in one step";
}

TEST(Coloring, DoesNotDependOnHowRanksAreSpread) {
  std::mt19937 random(8);
  for (int i = 0; i < 40; ++i) {
    const std::vector<Vertex> vertices =
        i % 2 ? any_graph(random, 40) : make(40, permutations(40, 1 + i % 9, random));
    LocalBspComm local(static_cast<int>(vertices.size()));
    const Coloring together = color_edges(local, vertices);
    run_spread(vertices.size(), random, [&](BspComm& bsp) {
      const std::vector<Vertex> own = own_vertices(bsp, vertices);
      const Coloring split = color_edges(bsp, own);
      EXPECT_EQ(split.colors, together.colors);
      EXPECT_EQ(split.bound, together.bound);
      for (std::size_t k = 0; k < own.size(); ++k) {
        EXPECT_EQ(split.edges.senders[k].colors, together.edges.senders[own[k].rank].colors);
        EXPECT_EQ(split.edges.receivers[k].colors, together.edges.receivers[own[k].rank].colors);
      }
    });
  }
}

}  // namespace
}  // namespace tonari
