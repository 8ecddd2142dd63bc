// SPDX-License-Identifier: BSD-3-Clause
// Vectors whose values have numbers of any kind: gaps, negative ones, any order, any owner.
#include <tonari/vector.hpp>

#include <set>

#include "support/same_error.hpp"
#include "vector/links.hpp"

namespace {

using namespace tonari::test;

struct IdCase {
  struct Side {
    std::vector<std::int64_t> ids;
    std::vector<int> places;
    bool in_order = false;  // no places are given
    const int* given() const { return in_order ? nullptr : places.data(); }
  };
  Links links;
  std::vector<Side> owned, needed;  // by rank

  tonari_vector make(const std::string& route) const {
    const Side &own = owned[static_cast<std::size_t>(world_rank())],
               &need = needed[static_cast<std::size_t>(world_rank())];
    tonari_vector vector = TONARI_VECTOR_NULL;
    must(tonari_vector_create_from_ids(
        MPI_COMM_WORLD, static_cast<std::int64_t>(own.ids.size()), own.ids.data(), own.given(),
        static_cast<std::int64_t>(need.ids.size()), need.ids.data(), need.given(),
        Info{{"tonari_route", route}, {"tonari_tune", "off"}}, &vector));
    return vector;
  }
};

std::vector<std::int64_t> draw_ids(Random& random) {
  std::set<std::int64_t> ids;
  const int wanted = pick(random, 0, 30 * world_size()), kind = pick(random, 0, 2);
  for (int k = 0; k < wanted; ++k)
    ids.insert(kind == 0   ? static_cast<std::int64_t>(mix(random()))
               : kind == 1 ? pick(random, -50, 60 * world_size())
                           : 7 * k);
  std::vector<std::int64_t> order(ids.begin(), ids.end());
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

// Drawn alike on all ranks.
IdCase draw_case(Random& random) {
  IdCase drawn;
  Links& links = drawn.links;
  const auto ranks = static_cast<std::size_t>(world_size());
  links.arrays = static_cast<ArrayKind>(pick(random, 0, 2));
  links.forward = pick(random, 0, 3) > 0;
  drawn.owned.resize(ranks), drawn.needed.resize(ranks);
  const std::vector<std::int64_t> ids = draw_ids(random);
  struct Home {
    int rank;
    std::int64_t place;
  };
  std::map<std::int64_t, Home> home;
  const int owners = pick(random, 1, world_size());
  for (const std::int64_t id : ids) {
    const int owner = pick(random, 0, owners - 1);
    home[id] = {owner, 0};
    drawn.owned[static_cast<std::size_t>(owner)].ids.push_back(id);
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    IdCase::Side &own = drawn.owned[r], &need = drawn.needed[r];
    const auto count = static_cast<std::int64_t>(own.ids.size());
    own.in_order = pick(random, 0, 2) == 0;
    std::vector<std::int64_t> free = shuffled(random, 0, count + pick(random, 0, 9));
    for (std::size_t k = 0; k < own.ids.size(); ++k) {
      own.places.push_back(own.in_order ? static_cast<int>(k) : static_cast<int>(free[k]));
      home[own.ids[k]].place = own.places.back();
    }
    links.owned_length.push_back(own.places.empty() ? 0
                                                    : *std::ranges::max_element(own.places) + 1);
    if (!ids.empty())
      for (int k = pick(random, 0, 40); k > 0; --k)
        need.ids.push_back(
            ids[static_cast<std::size_t>(pick(random, 0, static_cast<int>(ids.size()) - 1))]);
    const auto wanted = static_cast<std::int64_t>(need.ids.size());
    need.in_order = links.arrays == ArrayKind::two && links.forward && pick(random, 0, 1);
    std::vector<std::int64_t> room = shuffled(random, 0, wanted + count + 5 + pick(random, 0, 9));
    if (links.arrays == ArrayKind::one)
      std::erase_if(room, [&](std::int64_t place) {
        return std::ranges::find(own.places, place) != own.places.end();
      });
    for (std::size_t k = 0; k < need.ids.size(); ++k)
      need.places.push_back(need.in_order   ? static_cast<int>(k)
                            : links.forward ? static_cast<int>(room.at(k))
                                            : static_cast<int>(room[0]));
    links.ghost_length.push_back(need.places.empty() ? 0
                                                     : *std::ranges::max_element(need.places) + 1);
  }
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t k = 0; k < drawn.needed[r].ids.size(); ++k) {
      const Home from = home[drawn.needed[r].ids[k]];
      links.all.push_back({from.rank, from.place, static_cast<int>(r), drawn.needed[r].places[k]});
    }
  return drawn;
}

// Ids that several ranks have. Who owns one is found here by looking at all lists.
struct SharedCase {
  Links links;
  std::vector<IdCase::Side> values;  // by rank

  tonari_vector make(const std::string& route) const {
    const IdCase::Side& mine = values[static_cast<std::size_t>(world_rank())];
    tonari_vector vector = TONARI_VECTOR_NULL;
    must(tonari_vector_create_shared(
        MPI_COMM_WORLD, static_cast<std::int64_t>(mine.ids.size()), mine.ids.data(), mine.given(),
        Info{{"tonari_route", route}, {"tonari_tune", "off"}}, &vector));
    return vector;
  }
};

SharedCase draw_shared_case(Random& random) {
  SharedCase drawn;
  Links& links = drawn.links;
  links.arrays = ArrayKind::one;
  const std::vector<std::int64_t> ids = draw_ids(random);
  struct Home {
    int rank;
    std::int64_t place;
  };
  std::map<std::int64_t, Home> lowest;
  for (int r = 0; r < world_size(); ++r) {
    IdCase::Side& side = drawn.values.emplace_back();
    const int share = pick(random, 0, 3);
    for (const std::int64_t id : ids)
      if (pick(random, 0, 3) < share) side.ids.push_back(id);
    std::shuffle(side.ids.begin(), side.ids.end(), random);
    side.in_order = pick(random, 0, 2) == 0;
    const auto count = static_cast<std::int64_t>(side.ids.size());
    const std::vector<std::int64_t> free = shuffled(random, 0, count + pick(random, 0, 9));
    links.owned_length.push_back(0), links.ghost_length.push_back(0);
    for (std::size_t k = 0; k < side.ids.size(); ++k) {
      const auto place = side.in_order ? static_cast<std::int64_t>(k) : free[k];
      side.places.push_back(static_cast<int>(place));
      links.owned_length.back() = std::max(links.owned_length.back(), place + 1);
      const auto [home, first] = lowest.try_emplace(side.ids[k], Home{r, place});
      if (first) continue;
      links.all.push_back({home->second.rank, home->second.place, r, place});
      links.ghost_length.back() = std::max(links.ghost_length.back(), place + 1);
    }
  }
  return drawn;
}

class VectorIds : public VectorTest {};

TEST_F(VectorIds, TheLowestRankOwnsWhatIsShared) { expect_random_cases(draw_shared_case, 2); }

// Nodes of a row of elements: each rank has five, the first and the last also belong to neighbors.
TEST_F(VectorIds, SumsOfSharedNodesAreTheSameOnAllRanks) {
  const int rank = world_rank(), ranks = world_size();
  std::int64_t ids[5];
  std::vector<double> x(5);
  for (int k = 0; k < 5; ++k) ids[k] = 4 * rank + k, x[static_cast<std::size_t>(k)] = 1 + rank;
  const auto nodes = tonari::DistributedVector::shared(MPI_COMM_WORLD, ids);
  nodes.reverse(MPI_SUM, std::span<const double>(x), std::span(x));
  nodes.forward(std::span<const double>(x), std::span(x));
  EXPECT_EQ(x[0], rank == 0 ? 1 : 2 * rank + 1);
  EXPECT_EQ(x[4], rank == ranks - 1 ? 1 + rank : 2 * rank + 3);
  EXPECT_EQ(x[2], 1 + rank);
}

TEST_F(VectorIds, ASharedIdIsOnceInAList) {
  const std::int64_t ids[3] = {7, 9, world_rank() == world_size() - 1 ? 7 : 11};
  tonari_vector vector = TONARI_VECTOR_NULL;
  expect_everywhere(
      tonari_vector_create_shared(MPI_COMM_WORLD, 3, ids, nullptr, MPI_INFO_NULL, &vector),
      TONARI_ERR_ARGUMENT, {"`ids` has id 7 twice (positions 0 and 2)"});
  const int places[3] = {2, 0, world_rank() == 0 ? 2 : 1};
  const std::int64_t others[3] = {7, 9, 11};
  expect_everywhere(
      tonari_vector_create_shared(MPI_COMM_WORLD, 3, others, places, MPI_INFO_NULL, &vector),
      TONARI_ERR_ARGUMENT, {"`places` has place 2 twice"});
  EXPECT_EQ(vector, TONARI_VECTOR_NULL);
}

TEST_F(VectorIds, ValuesComeFromTheirOwners) { expect_random_cases(draw_case, 2); }

}  // namespace
