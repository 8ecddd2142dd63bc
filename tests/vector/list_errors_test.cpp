// SPDX-License-Identifier: BSD-3-Clause
// Lists of neighbors or ids, and fields, that are wrong on one rank or between two: every rank gets
// the same sentence, and nothing hangs.
#include "support/same_error.hpp"
#include "vector/vectors.hpp"

namespace {

using namespace tonari::test;

using Words = std::initializer_list<std::string>;

class VectorListErrors : public testing::Test {
 protected:
  // A ring in both directions: two values to each side, two ghosts from each.
  struct Ring {
    std::int64_t owned = 4;
    int sends = 2, receives = 2;
    std::vector<int> destinations{(world_rank() + 1) % world_size(),
                                  (world_rank() + world_size() - 1) % world_size()},
        sources{destinations[1], destinations[0]}, sendcounts{2, 2}, recvcounts{2, 2},
        send_indices{2, 3, 0, 1}, recv_places{0, 1, 2, 3};
    const int *to = destinations.data(), *out = sendcounts.data(), *places = send_indices.data(),
              *from = sources.data(), *in = recvcounts.data();
    int create(tonari_vector* vector) const {
      return tonari_vector_create_from_neighbors(MPI_COMM_WORLD, owned, sends, to, out, places,
                                                 receives, from, in, recv_places.data(),
                                                 Info{{"tonari_tune", "off"}}, vector);
    }
  };
  template <class Bend>
  void refuse(int code, Words words, Bend bend) {
    Ring ring;
    if (rank == last) bend(ring);
    tonari_vector vector = TONARI_VECTOR_NULL;
    expect_everywhere(ring.create(&vector), code, words);
    EXPECT_EQ(vector, TONARI_VECTOR_NULL);
  }

  // Rank r owns ids 100 r, 100 r + 7, and needs one of the next rank.
  struct Ids {
    std::int64_t owned = 2, needed = 2;
    std::vector<std::int64_t> own{100 * world_rank(), 100 * world_rank() + 7},
        needs{100 * world_rank(), 100 * ((world_rank() + 1) % world_size()) + 7};
    std::vector<int> owned_places{5, 2}, ghost_places{0, 9};
    const std::int64_t *own_list = own.data(), *needs_list = needs.data();
    int create(tonari_vector* vector) const {
      return tonari_vector_create_from_ids(MPI_COMM_WORLD, owned, own_list, owned_places.data(),
                                           needed, needs_list, ghost_places.data(),
                                           Info{{"tonari_tune", "off"}}, vector);
    }
  };
  template <class Bend>
  void refuse_ids(Words words, Bend bend) {
    Ids ids;
    if (rank == last) bend(ids);
    tonari_vector vector = TONARI_VECTOR_NULL;
    expect_everywhere(ids.create(&vector), TONARI_ERR_ARGUMENT, words);
    EXPECT_EQ(vector, TONARI_VECTOR_NULL);
  }

  int rank = world_rank(), ranks = world_size(), last = ranks - 1;
  const std::string who = "rank " + std::to_string(last);
};

TEST_F(VectorListErrors, NeighborLists) {
  constexpr int wrong = TONARI_ERR_ARGUMENT;
  const std::string top = std::to_string(ranks - 1);
  refuse(wrong, {"`owned` is -1"}, [](Ring& r) { r.owned = -1; });
  refuse(wrong, {"`sends` is -2"}, [](Ring& r) { r.sends = -2; });
  refuse(wrong, {"`receives` is -2"}, [](Ring& r) { r.receives = -2; });
  refuse(wrong, {"`destinations` is NULL", "`sends` is 2"}, [](Ring& r) { r.to = nullptr; });
  refuse(wrong, {"`sendcounts` is NULL", "`sends` is 2"}, [](Ring& r) { r.out = nullptr; });
  refuse(wrong, {"`send_indices` is NULL", "add up to 4"}, [](Ring& r) { r.places = nullptr; });
  refuse(wrong, {"`sources` is NULL", "`receives` is 2"}, [](Ring& r) { r.from = nullptr; });
  refuse(wrong, {"`recvcounts` is NULL", "`receives` is 2"}, [](Ring& r) { r.in = nullptr; });
  refuse(wrong, {"`destinations`[1] is -1", "0 to " + top},
         [](Ring& r) { r.destinations[1] = -1; });
  refuse(wrong, {"`sources`[0] is " + std::to_string(ranks), "0 to " + top},
         [&](Ring& r) { r.sources[0] = ranks; });
  refuse(wrong, {"`sendcounts`[1] is -3"}, [](Ring& r) { r.sendcounts[1] = -3; });
  refuse(wrong, {"`recvcounts`[0] is -1"}, [](Ring& r) { r.recvcounts[0] = -1; });
  refuse(wrong, {"`send_indices`[2] is 4", "`owned` - 1, which is 3"},
         [](Ring& r) { r.send_indices[2] = 4; });
  refuse(wrong, {"`send_indices`[0] is -1"}, [](Ring& r) { r.send_indices[0] = -1; });
  refuse(wrong, {"`recv_places`[3] is -2"}, [](Ring& r) { r.recv_places[3] = -2; });
}

// The last rank sends another number of values, or expects another one, than its neighbor.
TEST_F(VectorListErrors, CountsThatDiffer) {
  const int next = 0, pairs = ranks <= 2 ? 2 : 1;  // lists between two ranks
  const std::string to = "rank " + std::to_string(next);
  refuse(TONARI_ERR_MISMATCH,
         {who + " sends " + std::to_string(2 * pairs - 1) + " values to " + to,
          to + " expects " + std::to_string(2 * pairs) + " from it"},
         [](Ring& r) { r.sendcounts[0] = 1; });
  refuse(TONARI_ERR_MISMATCH, {"expects " + std::to_string(2 * pairs - 2) + " from it"},
         [](Ring& r) { r.receives = 1; });
  if (ranks < 4) return;
  refuse(TONARI_ERR_MISMATCH, {"rank 1 sends 0 values to " + who, "expects 2 from it"},
         [](Ring& r) { r.sources[0] = 1; });
}

TEST_F(VectorListErrors, PlacesThatAreReceivedTwice) {
  Ring ring;
  if (rank == last) ring.recv_places[3] = 1;
  tonari_vector vector = TONARI_VECTOR_NULL;
  must(ring.create(&vector));
  double x[4] = {}, ghosts[4] = {1, 2, 3, 4};
  expect_everywhere(tonari_vector_forward(vector, nullptr, x, ghosts), TONARI_ERR_ARGUMENT,
                    {who + " lists place 1 of its ghosts twice", "positions 1 and 3"});
  must(tonari_vector_reverse(vector, nullptr, MPI_SUM, ghosts, x));  // goes to both
  EXPECT_EQ(x[1], (rank + ranks - 1) % ranks == last ? 2 : 4);
  must(tonari_vector_free(&vector));
}

// Where a place is both, there is no one result for it.
TEST_F(VectorListErrors, PlacesThatAreOwnedAndGhostsAreNotCombined) {
  Ring ring;
  tonari_vector vector = TONARI_VECTOR_NULL;
  must(ring.create(&vector));
  const auto value = [](int of, int i) { return 100.0 * of + i; };
  double x[4], ghosts[4] = {1, 2, 3, 4};
  for (int i = 0; i < 4; ++i) x[i] = value(rank, i);
  double* const second = rank == last ? x : ghosts;
  const Words words{"owned values and ghosts have places in common"};
  expect_everywhere(tonari_vector_combine(vector, nullptr, MPI_SUM, x, second), TONARI_ERR_ARGUMENT,
                    words);
  tonari_request request = TONARI_REQUEST_NULL;
  expect_everywhere(
      tonari_vector_combine_init(vector, nullptr, MPI_SUM, x, second, MPI_INFO_NULL, &request),
      TONARI_ERR_ARGUMENT, words);
  must(tonari_vector_combine(vector, nullptr, MPI_SUM, x, ghosts));
  const int before = (rank + ranks - 1) % ranks, next = (rank + 1) % ranks;
  const double added[] = {3, 4, 1, 2};  // the ghost of each own value
  for (int i = 0; i < 4; ++i) EXPECT_EQ(x[i], value(rank, i) + added[i]);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ghosts[i], value(before, 2 + i) + added[2 + i]);
    EXPECT_EQ(ghosts[2 + i], value(next, i) + added[i]);
  }
  must(tonari_vector_free(&vector));
}

TEST_F(VectorListErrors, IdLists) {
  refuse_ids({"`owned` is -1"}, [](Ids& ids) { ids.owned = -1; });
  refuse_ids({"`needed` is -1"}, [](Ids& ids) { ids.needed = -1; });
  refuse_ids({"`owned_ids` is NULL", "`owned` is 2"}, [](Ids& ids) { ids.own_list = nullptr; });
  refuse_ids({"`needed_ids` is NULL", "`needed` is 2"}, [](Ids& ids) { ids.needs_list = nullptr; });
  refuse_ids({"`owned_places`[1] is -1"}, [](Ids& ids) { ids.owned_places[1] = -1; });
  refuse_ids({"`ghost_places`[0] is -4"}, [](Ids& ids) { ids.ghost_places[0] = -4; });
  refuse_ids({"`owned_places` has place 5 twice (positions 0 and 1)"},
             [](Ids& ids) { ids.owned_places[1] = 5; });
}

TEST_F(VectorListErrors, OwnersOfIds) {
  refuse_ids({who + " needs id -77 (position 1 of its list)", "nobody owns it"},
             [](Ids& ids) { ids.needs[1] = -77; });
  const std::string twice = std::to_string(100 * last);
  refuse_ids({"id " + twice + " is twice in `owned_ids` of " + who},
             [](Ids& ids) { ids.own[1] = ids.own[0]; });
  if (ranks == 1) return;
  refuse_ids({"id 0 has two owners", "rank 0", who}, [](Ids& ids) { ids.own[1] = 0; });
}

TEST_F(VectorListErrors, Fields) {
  Ring ring;
  tonari_vector vector = TONARI_VECTOR_NULL;
  must(ring.create(&vector));
  double x[16] = {}, ghosts[16] = {}, y[16] = {}, more[16] = {};
  tonari_request request = TONARI_REQUEST_NULL;
  const auto refused = [&](int code, Words words, auto bend) {
    tonari_vector_field two[2] = {};
    two[0].owned = x, two[0].ghosts = ghosts, two[1].owned = y, two[1].ghosts = more;
    int fields = 2;
    const tonari_vector_field* list = two;
    if (rank == last) bend(fields, two, list);
    expect_everywhere(
        tonari_vector_forward_fields_init(vector, fields, list, MPI_INFO_NULL, &request), code,
        words);
    EXPECT_EQ(request, TONARI_REQUEST_NULL);
    expect_everywhere(tonari_vector_reverse_fields(vector, fields, list, MPI_SUM), code, words);
  };
  using F = tonari_vector_field;
  refused(TONARI_ERR_ARGUMENT, {"`fields` is 0"}, [](int& n, F*, const F*&) { n = 0; });
  refused(TONARI_ERR_ARGUMENT, {"`field` is NULL"}, [](int&, F*, const F*& l) { l = nullptr; });
  refused(TONARI_ERR_ARGUMENT, {"`ghosts` is NULL"},
          [](int&, F* f, const F*&) { f[1].ghosts = nullptr; });
  refused(TONARI_ERR_ARGUMENT, {"reserved is not 0"},
          [](int&, F* f, const F*&) { f[1].reserved[3] = 1; });
  refused(TONARI_ERR_BUFFERS, {"overlap"},
          [&](int&, F* f, const F*&) { f[1].ghosts = ghosts + 3; });
  refused(TONARI_ERR_BUFFERS, {"overlap"}, [&](int&, F* f, const F*&) { f[1].owned = ghosts + 1; });
  if (ranks > 1) {
    refused(TONARI_ERR_MISMATCH, {"numbers of fields"}, [](int& n, F*, const F*&) { n = 1; });
    refused(TONARI_ERR_MISMATCH, {"same number of bytes"},
            [](int&, F* f, const F*&) { f[1].values.type = MPI_FLOAT; });
  }
  must(tonari_vector_free(&vector));
}

// Arrays that overlap, but do not begin at the same address: places tell nothing.
TEST_F(VectorListErrors, ArraysThatLieAcross) {
  Ring ring;
  tonari_vector vector = TONARI_VECTOR_NULL;
  must(ring.create(&vector));
  double x[16] = {};
  expect_everywhere(tonari_vector_forward(vector, nullptr, x, rank == last ? x + 2 : x + 8),
                    TONARI_ERR_BUFFERS, {"owned values and ghosts overlap"});
  must(tonari_vector_forward(vector, nullptr, x, x));
  must(tonari_vector_free(&vector));
}

}  // namespace
