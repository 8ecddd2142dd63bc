// SPDX-License-Identifier: BSD-3-Clause
// Boxes that are wrong on one rank, or that do not fit together: every rank gets the same sentence.
#include <functional>

#include "support/same_error.hpp"
#include "vector/vectors.hpp"

namespace {

using namespace tonari::test;

using Words = std::initializer_list<std::string>;

struct BoxCall {
  MPI_Comm cart = MPI_COMM_NULL;
  bool nodes = false;
  std::vector<int> cells{4, 4};
  const int* list = cells.data();
  int width = 2, along = 0;
  bool nowhere = false;  // no place for the result
  tonari_vector made = TONARI_VECTOR_NULL;

  BoxCall() = default;
  BoxCall(const BoxCall&) = delete;
  BoxCall& operator=(const BoxCall&) = delete;
  int create() {
    tonari_vector* const place = nowhere ? nullptr : &made;
    return nodes ? tonari_vector_create_box_nodes(cart, list, MPI_INFO_NULL, place)
                 : tonari_vector_create_box_cells(cart, list, width, along, MPI_INFO_NULL, place);
  }
};

class VectorBoxErrors : public testing::Test {
 protected:
  // Boxes in two dimensions, four of them in a square if there are as many.
  void SetUp() override {
    int dims[2] = {0, 0};
    const int periodic[2] = {0, 0};
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &cart);
  }
  void TearDown() override { MPI_Comm_free(&cart); }

  using Bend = std::function<void(BoxCall&)>;
  // Bends the call of the last rank, and all calls by `everywhere`.
  void refuse(int code, Words words, const Bend& bend, const Bend& everywhere = {}) {
    BoxCall call;
    call.cart = cart;
    if (everywhere) everywhere(call);
    if (rank == ranks - 1) bend(call);
    expect_everywhere(call.create(), code, words);
    EXPECT_EQ(call.made, TONARI_VECTOR_NULL);
  }
  void refuse_cart(MPI_Comm comm, int code, Words words) {
    for (const bool nodes : {false, true})
      refuse(code, words, [](BoxCall&) {}, [&](BoxCall& c) { c.cart = comm, c.nodes = nodes; });
  }

  int rank = world_rank(), ranks = world_size();
  MPI_Comm cart = MPI_COMM_NULL;
};

TEST_F(VectorBoxErrors, Communicators) {
  refuse_cart(MPI_COMM_NULL, TONARI_ERR_ARGUMENT, {"`cart` is MPI_COMM_NULL"});
  refuse_cart(MPI_COMM_WORLD, TONARI_ERR_TOPOLOGY, {"no Cartesian topology", "MPI_Cart_create"});
  const int dims[6] = {ranks, 1, 1, 1, 1, 1}, periodic[6] = {};
  MPI_Comm six = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 6, dims, periodic, 0, &six);
  refuse_cart(six, TONARI_ERR_TOPOLOGY, {"has 6 dimensions", "1 to 5 dimensions"});
  MPI_Comm_free(&six);
}

TEST_F(VectorBoxErrors, Arguments) {
  constexpr int wrong = TONARI_ERR_ARGUMENT;
  refuse(wrong, {"`cells` is NULL"}, [](BoxCall& c) { c.list = nullptr; });
  refuse(wrong, {"`vector` is NULL"}, [](BoxCall& c) { c.nowhere = true; });
  for (const bool nodes : {false, true})
    refuse(
        wrong, {"`cells`[1] is 0", "at least one cell"}, [](BoxCall& c) { c.cells[1] = 0; },
        [&](BoxCall& c) { c.nodes = nodes; });
  refuse(wrong, {"`cells`[0] is -3"}, [](BoxCall& c) { c.cells[0] = -3; });
  refuse(wrong, {"`width` is 0"}, [](BoxCall& c) { c.width = 0; });
  refuse(wrong, {"`along` is -1", "1 to 2"}, [](BoxCall& c) { c.along = -1; });
  refuse(wrong, {"`along` is 3", "1 to 2"}, [](BoxCall& c) { c.along = 3; });
  if (ranks == 1) return;
  refuse(wrong, {"dimension 0 has 4 own cells but a halo of 5"}, [](BoxCall& c) { c.width = 5; });
}

TEST_F(VectorBoxErrors, BoxesThatDoNotFitTogether) {
  if (ranks == 1) return;
  constexpr int differ = TONARI_ERR_MISMATCH;
  for (const bool nodes : {false, true}) {
    const auto kind = [&](BoxCall& c) { c.nodes = nodes; };
    refuse(
        differ, {"`cells`[1] is ", " 5 on rank ", " 4 on rank ", "boxes that touch"},
        [](BoxCall& c) { c.cells[1] = 5; }, kind);
  }
  refuse(differ, {"`width` is ", " 1 on rank ", " 2 on rank "}, [](BoxCall& c) { c.width = 1; });
  for (const int most : {1, 2})
    refuse(differ, {"`along` is ", "same on all ranks"}, [&](BoxCall& c) { c.along = most; });
  refuse(
      differ, {"`along` is ", "same on all ranks"}, [&](BoxCall& c) { c.along = 0; },
      [](BoxCall& c) { c.along = 1; });
  refuse(differ, {"rank " + std::to_string(ranks - 1) + " makes a vector of nodes", "of cells"},
         [](BoxCall& c) { c.nodes = true; });
}

// Sides that no box touches may be as thin as they like, and differ.
TEST_F(VectorBoxErrors, OnlyWhatTouchesIsCompared) {
  const int dims[2] = {ranks, 1}, periodic[2] = {0, 0};
  MPI_Comm row = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &row);
  BoxCall call;
  call.cart = row, call.cells[0] = 2 + rank, call.cells[1] = 1;
  must(call.create());
  tonari_vector_facts facts;
  must(tonari_vector_get_facts(call.made, &facts));
  EXPECT_EQ(facts.owned_length, 2 + rank);
  EXPECT_EQ(facts.ghost_length, 2 * ((rank > 0) + (rank < ranks - 1)));
  must(tonari_vector_free(&call.made));
  MPI_Comm_free(&row);
}

}  // namespace
