// SPDX-License-Identifier: BSD-3-Clause
// Many exchanges in flight at once, on several neighborhoods, started and completed in another
// order on every rank.
#include "support/graph_exchange.hpp"

namespace {

using namespace tonari::test;

class Mix : public GraphExchange {
 protected:
  struct Item {
    Graph graph;
    Buffers buffers;
    tonari_request request = TONARI_REQUEST_NULL;
    int round = 0;
    bool active = false;
  };

  struct Place {
    Graph graph;
    tonari_neighborhood near;
  };

  static std::string algorithm_of(Random& common) {
    static const char* const names[] = {"auto",       "linear", "coloring",
                                        "irecv",      "native", "torus",
                                        "node-aware", "tree",   "common-neighborhood"};
    return names[pick(common, 0, 8)];
  }

  Place make_place(Random& common) {
    static const char* const texts[] = {"", "2", "1,3"};
    Nodes::set(texts[pick(common, 0, 2)]);
    Place place{{}, TONARI_NEIGHBORHOOD_NULL};
    if (pick(common, 0, 1)) {
      place.graph = random_graph(common, world_size());
      EXPECT_OK(create_adjacent(MPI_COMM_WORLD, place.graph.of[world_rank()], MPI_INFO_NULL,
                                &place.near));
      return place;
    }
    Topology grid = torus_of_all(pick(common, 1, 2));
    grid.periods[0] = pick(common, 0, 1);
    place.graph = cartesian_graph(grid, world_size());
    MPI_Comm cart = make_cart(grid);
    EXPECT_OK(tonari_neighborhood_create_from_comm(cart, MPI_INFO_NULL, &place.near));
    MPI_Comm_free(&cart);
    return place;
  }

  // The algorithm wanted where it applies, else linear.
  Item make_item(const Place& place, Random& common) {
    const auto op = all_operations[pick(common, 0, 5)];
    Sizes sizes = random_sizes(common, op, true);
    // native: see exchange_test.cpp
    if (mpi_spins()) sizes.most = std::min(sizes.most, 4000 / sizes.quantum - 1);
    const std::string algorithm = algorithm_of(common), channel = random_channel(common);
    Random random(common() + static_cast<unsigned>(world_rank()));
    Item item{place.graph, make_buffers(random, place.graph, world_rank(), op, sizes)};
    for (const std::string& name : {algorithm, std::string("linear")}) {
      const Info info{{"tonari_algorithm", name},
                      {"tonari_channel", name == "native" ? "auto" : channel},
                      {"tonari_tune", "off"}};
      const int code = init(op, item.buffers.out, item.buffers.in, place.near, info, &item.request);
      if (code == TONARI_ERR_ALGORITHM) continue;
      EXPECT_EQ(code, TONARI_SUCCESS) << name << ": " << tonari_last_error();
      break;
    }
    item.buffers.out.free_types(), item.buffers.in.free_types();
    return item;
  }

  static void finish(Item& item) {
    if (!item.active) return;
    item.active = false;
    EXPECT_EQ(item.buffers.wrong(item.graph, world_rank(), item.round), "")
        << name(item.buffers.op) << " on " << item.graph.name << ", round " << item.round << "\n"
        << tonari_request_describe(item.request);
  }

  static void begin(Item& item) {
    item.buffers.prepare(world_rank(), ++item.round);
    item.active = true;
  }

  // All once, in an order of this rank's own: one by one or together, with tests in between.
  static void start_all(std::vector<Item>& items, Random& own) {
    std::vector<tonari_request> together;
    for (std::size_t k : shuffled(items.size(), own)) {
      begin(items[k]);
      if (pick(own, 0, 2) == 0)
        together.push_back(items[k].request);
      else
        EXPECT_OK(tonari_start(items[k].request));
    }
    EXPECT_OK(tonari_startall(static_cast<int>(together.size()), together.data()));
  }

  // A wait for one may need others to progress, on ranks that wait for yet others: only waitall and
  // test promise that any order is fine. So this rank tests in a random order until some are left,
  // which it then waits for together.
  static void complete_all(std::vector<Item>& items, Random& own) {
    const std::size_t left_at_end = own() % (items.size() + 1);
    for (std::size_t active = items.size(); active > left_at_end;) {
      Item& item = items[own() % items.size()];
      if (!item.active) continue;
      int flag = 0;
      EXPECT_OK(tonari_test(item.request, &flag));
      if (!flag) continue;
      finish(item);
      --active;
    }
    std::vector<tonari_request> rest{TONARI_REQUEST_NULL};
    // complete ones are skipped
    for (std::size_t k : shuffled(items.size(), own)) rest.push_back(items[k].request);
    EXPECT_OK(tonari_waitall(static_cast<int>(rest.size()), rest.data()));
    for (Item& item : items) finish(item);
  }

  static std::vector<std::size_t> shuffled(std::size_t n, Random& own) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), own);
    return order;
  }

  // Neighborhoods are freed by all ranks in one order, requests in any.
  static void free_requests(std::vector<Item>& items, std::size_t from, Random& own) {
    for (std::size_t k : shuffled(items.size() - from, own)) {
      EXPECT_OK(tonari_request_free(&items[from + k].request));
      EXPECT_EQ(items[from + k].request, TONARI_REQUEST_NULL);
    }
    items.resize(from);
  }

  void run(std::uint32_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random common(seed), own(seed * 31 + 7u * static_cast<unsigned>(world_rank()) + 1);
    const bool few = mpi_spins() && ranks_are_slow();
    std::vector<Place> places;
    std::vector<Item> items;
    for (int n = few ? 2 : pick(common, 2, 4); n > 0; --n) places.push_back(make_place(common));
    for (int n = few ? 4 : pick(common, 3, 10); n > 0; --n)
      items.push_back(
          make_item(places[pick(common, 0, static_cast<int>(places.size()) - 1)], common));
    const std::size_t freed_early = common() % (places.size() + 1);
    for (int round = 0; round < 3; ++round) {
      start_all(items, own);
      for (std::size_t k = 0; round == 1 && k < freed_early; ++k)
        EXPECT_OK(tonari_neighborhood_free(&places[k].near));
      complete_all(items, own);
      if (round == 1) free_requests(items, items.size() - items.size() / 3, own);
    }
    const bool requests_first = common() % 2;
    if (requests_first) free_requests(items, 0, own);
    for (Place& place : places) EXPECT_OK(tonari_neighborhood_free(&place.near));
    free_requests(items, 0, own);
  }
};

TEST_F(Mix, OfOperationsOnGraphsAndGridsInAnyOrder) {
  const int n = cases(world_size() == 2 ? 60 : 120);
  for (int k = 0; k < n; ++k)
    run(6151u * static_cast<unsigned>(k) + static_cast<unsigned>(world_size()));
}

}  // namespace
