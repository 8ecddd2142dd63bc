// SPDX-License-Identifier: BSD-3-Clause
// Vectors made of neighbor lists: what is sent to whom, how much comes from whom, and where it
// lies.
#include <numeric>

#include "vector/neighbor_case.hpp"

namespace {

using namespace tonari::test;

class VectorNeighbors : public VectorTest {};

TEST_F(VectorNeighbors, ValuesGoFromPlaceToPlace) { expect_random_cases(draw_neighbor_case, 3); }

TEST_F(VectorNeighbors, RoutesAreTimedWhateverTheListsAre) {
  Random common(7);
  for (int k = 0; k < 2; ++k) {
    const NeighborCase drawn = draw_neighbor_case(common);
    tonari_vector vector = drawn.make("auto");
    expect_exchanges(vector, drawn.links, common, 1);
    must(tonari_vector_free(&vector));
  }
}

// The lists of a sparse matrix code, used as they are: ghosts lie behind own values.
TEST_F(VectorNeighbors, GhostsAreAppended) {
  const int rank = world_rank(), ranks = world_size(), next = (rank + 1) % ranks,
            before = (rank + ranks - 1) % ranks;
  double x[6] = {10.0 * rank, 10.0 * rank + 1, 10.0 * rank + 2, 10.0 * rank + 3, -1, -1};
  const int neighbors[] = {before, next}, sources[] = {next, before}, ones[] = {1, 1},
            places[] = {0, 3};
  tonari_vector vector = TONARI_VECTOR_NULL;
  must(tonari_vector_create_from_neighbors(MPI_COMM_WORLD, 4, 2, neighbors, ones, places, 2,
                                           sources, ones, nullptr, MPI_INFO_NULL, &vector));
  tonari_vector_facts facts;
  must(tonari_vector_get_facts(vector, &facts));
  EXPECT_EQ(facts.owned_length, 4);
  EXPECT_EQ(facts.ghost_length, 2);
  EXPECT_EQ(facts.ghosts, ranks == 1 ? 0 : 2);
  EXPECT_EQ(facts.sources, ranks == 1 ? 0 : ranks == 2 ? 1 : 2);
  must(tonari_vector_forward(vector, nullptr, x, x + 4));
  EXPECT_EQ(x[4], 10.0 * next);
  EXPECT_EQ(x[5], 10.0 * before + 3);
  must(tonari_vector_free(&vector));
}

// Open MPI 4.1.4 takes a vector of bytes with the stride -1 for contiguous bytes.
TEST_F(VectorNeighbors, SingleBytesMayBeListedBackwards) {
  const int rank = world_rank(), ranks = world_size(), next = (rank + 1) % ranks,
            before = (rank + ranks - 1) % ranks, four = 4, places[] = {3, 2, 1, 0};
  for (const char* const channel : channel_names) {
    tonari_vector vector = TONARI_VECTOR_NULL;
    must(tonari_vector_create_from_neighbors(MPI_COMM_WORLD, 4, 1, &next, &four, places, 1, &before,
                                             &four, nullptr, MPI_INFO_NULL, &vector));
    const auto value = [](int from, int k) { return static_cast<unsigned char>(10 * from + k); };
    unsigned char owned[4], ghosts[4] = {};
    for (int k = 0; k < 4; ++k) owned[k] = value(rank, k);
    tonari_vector_values values{};
    values.type = MPI_UNSIGNED_CHAR;
    tonari_request fill = TONARI_REQUEST_NULL;
    must(tonari_vector_forward_init(vector, &values, owned, ghosts,
                                    Info{{"tonari_channel", channel}, {"tonari_tune", "off"}},
                                    &fill));
    must(tonari_start(fill));
    must(tonari_wait(fill));
    for (int k = 0; k < 4; ++k) EXPECT_EQ(ghosts[k], value(before, 3 - k)) << channel;
    must(tonari_request_free(&fill));
    must(tonari_vector_free(&vector));
  }
}

// Values that several ranks share: each adds what the others have, in the same array.
TEST_F(VectorNeighbors, SharedValuesAreAddedUp) {
  const int rank = world_rank(), ranks = world_size();
  std::vector<int> others, ones, places;
  double sum = 1.0 + rank;
  for (int bit = 1; bit < 2 * ranks; bit *= 2)  // edges of a cube, which has a hop for each
    if (const int r = rank ^ bit; r < ranks)
      others.push_back(r), ones.push_back(1), places.push_back(2), sum += 1.0 + r;
  const int lists = static_cast<int>(others.size());
  for (const std::string& route : routes()) {
    tonari_vector vector = TONARI_VECTOR_NULL;
    must(tonari_vector_create_from_neighbors(
        MPI_COMM_WORLD, 3, lists, others.data(), ones.data(), places.data(), lists, others.data(),
        ones.data(), places.data(), Info{{"tonari_route", route}, {"tonari_tune", "off"}},
        &vector));
    double x[] = {1, 2, 1.0 + rank};
    must(tonari_vector_reverse(vector, nullptr, MPI_SUM, x, x));
    EXPECT_EQ(x[2], sum) << route;
    EXPECT_EQ(x[0], 1);
    EXPECT_EQ(x[1], 2);
    must(tonari_vector_free(&vector));
  }
}

}  // namespace
