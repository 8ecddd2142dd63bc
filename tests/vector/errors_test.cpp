// SPDX-License-Identifier: BSD-3-Clause
// Calls that are wrong on one rank or on all: every rank gets the same sentence, and nothing hangs.
#include "memory/held.hpp"
#include "support/same_error.hpp"
#include "support/wide_types.hpp"
#include "vector/vectors.hpp"

namespace {

using namespace tonari::test;

class VectorErrors : public testing::Test {
 protected:
  using Words = std::initializer_list<std::string>;

  // Each rank owns 4 indices in rank order, unless `bend` says otherwise.
  struct Create {
    std::int64_t first = 4 * world_rank(), owned = 4, needed = 2;
    std::vector<std::int64_t> indices{0, 4 * world_size() - 1};
    const std::int64_t* list = indices.data();
  };
  template <class Bend>
  void refuse(int code, Words words, Bend bend, MPI_Info info = MPI_INFO_NULL) {
    Create c;
    bend(c);
    auto* const unchanged = reinterpret_cast<tonari_vector>(static_cast<std::uintptr_t>(0x40));
    tonari_vector vector = unchanged;
    expect_everywhere(
        tonari_vector_create(MPI_COMM_WORLD, c.first, c.owned, c.needed, c.list, info, &vector),
        code, words);
    EXPECT_EQ(vector, unchanged);
  }
  // On the last rank only.
  template <class Bend>
  void refuse_one(Words words, Bend bend, int code = TONARI_ERR_ARGUMENT) {
    refuse(code, words, [&](Create& c) {
      if (rank == last) bend(c);
    });
  }

  void SetUp() override {
    Create c;
    must(tonari_vector_create(MPI_COMM_WORLD, c.first, c.owned, c.needed, c.list,
                              Info{{"tonari_tune", "off"}}, &good));
  }
  void TearDown() override {
    values = {};
    values.type = MPI_DOUBLE, values.components = values.vectors = 1;
    for (int i = 0; i < 4; ++i) x[i] = 4 * rank + i;
    must(tonari_vector_forward(good, &values, x, ghosts));  // still works
    EXPECT_EQ(ghosts[1], 4 * ranks - 1);
    must(tonari_vector_free(&good));
  }
  struct Values : tonari_vector_values {
    const double* own;
    double* theirs;
    MPI_Op op = MPI_SUM;
  };
  // A call with values that are wrong on the last rank, as a request and as a one-shot call.
  template <class Bend>
  void refuse_values(Words words, Bend bend, int code = TONARI_ERR_ARGUMENT, bool reverse = false) {
    Values bent{{}, x, ghosts};
    bent.type = MPI_DOUBLE;
    if (rank == last) bend(bent);
    values = bent;
    tonari_request request = TONARI_REQUEST_NULL;
    auto* const out = const_cast<double*>(bent.own);
    expect_everywhere(reverse ? tonari_vector_reverse_init(good, &values, bent.op, bent.theirs, out,
                                                           MPI_INFO_NULL, &request)
                              : tonari_vector_forward_init(good, &values, bent.own, bent.theirs,
                                                           MPI_INFO_NULL, &request),
                      code, words);
    EXPECT_EQ(request, TONARI_REQUEST_NULL);
    expect_everywhere(reverse ? tonari_vector_reverse(good, &values, bent.op, bent.theirs, out)
                              : tonari_vector_forward(good, &values, bent.own, bent.theirs),
                      code, words);
  }
  template <class Bend>
  void refuse_reverse(Words words, Bend bend, int code = TONARI_ERR_ARGUMENT) {
    refuse_values(words, bend, code, true);
  }

  int rank = world_rank(), ranks = world_size(), last = ranks - 1;
  tonari_vector good = TONARI_VECTOR_NULL;
  tonari_vector_values values{};
  double x[64] = {}, ghosts[64] = {};
};

TEST_F(VectorErrors, Arguments) {
  refuse_one({"`owned` is -3"}, [](Create& c) { c.owned = -3; });
  refuse_one({"`first` is -1"}, [](Create& c) { c.first = -1; });
  refuse_one({"`needed` is -2"}, [](Create& c) { c.needed = -2; });
  refuse_one({"`indices` is NULL", "2 are needed"}, [](Create& c) { c.list = nullptr; });
  refuse_one({"`first` + `owned`", "64 bits"}, [](Create& c) { c.first = INT64_MAX - 1; });
  Create c;
  expect_everywhere(tonari_vector_create(MPI_COMM_WORLD, c.first, c.owned, c.needed, c.list,
                                         MPI_INFO_NULL, nullptr),
                    TONARI_ERR_ARGUMENT, {"`vector` is NULL"});
  tonari_vector vector = TONARI_VECTOR_NULL;
  expect_everywhere(tonari_vector_create(MPI_COMM_NULL, c.first, c.owned, c.needed, c.list,
                                         MPI_INFO_NULL, &vector),
                    TONARI_ERR_ARGUMENT, {"MPI_COMM_NULL"});
  expect_everywhere(tonari_vector_forward(TONARI_VECTOR_NULL, nullptr, x, ghosts),
                    TONARI_ERR_ARGUMENT, {"`vector` is NULL"});
  expect_everywhere(tonari_vector_get_facts(good, nullptr), TONARI_ERR_ARGUMENT,
                    {"`facts` is NULL"});
  expect_everywhere(tonari_vector_free(nullptr), TONARI_ERR_ARGUMENT, {"`vector` is NULL"});
  EXPECT_EQ(tonari_vector_free(&vector), TONARI_SUCCESS) << "of nothing";
}

TEST_F(VectorErrors, Ranges) {
  const std::string end = std::to_string(4 * ranks - 1), at = std::to_string(4 * last);
  refuse(TONARI_ERR_ARGUMENT, {"nobody owns index 0", "rank 0 owns indices 1 to 4"},
         [](Create& c) { ++c.first; });
  if (ranks == 1) return;
  const std::string before = std::to_string(last - 1), before_begins = std::to_string(4 * last - 4),
                    before_ends = std::to_string(4 * last - 1);
  refuse_one({"nobody owns index " + at,
              "rank " + before + " owns indices " + before_begins + " to " + before_ends,
              "rank " + std::to_string(last) + " owns"},
             [](Create& c) { c.first += 1; });
  refuse_one({"index " + before_ends + " has two owners", "rank " + before + " owns indices",
              "rank " + std::to_string(last) + " owns indices " + before_ends},
             [](Create& c) { c.first -= 1; });
}

TEST_F(VectorErrors, Indices) {
  const std::string size = std::to_string(4 * ranks), top = std::to_string(4 * ranks - 1),
                    who = "rank " + std::to_string(last);
  refuse_one({who + " needs index " + size, "position 1", "0 to " + top},
             [&](Create& c) { c.indices[1] = 4 * ranks; });
  refuse_one({who + " needs index -7", "position 0"}, [](Create& c) { c.indices[0] = -7; });
  refuse(TONARI_ERR_ARGUMENT, {"rank 0 needs index", "nobody owns any"},
         [](Create& c) { c.owned = 0; });
}

TEST_F(VectorErrors, Intercommunicators) {
  if (ranks == 1) GTEST_SKIP() << "needs two groups";
  MPI_Comm half, between;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &between);
  Create c;
  tonari_vector vector = TONARI_VECTOR_NULL;
  expect_everywhere(
      tonari_vector_create(between, c.first, c.owned, c.needed, c.list, MPI_INFO_NULL, &vector),
      TONARI_ERR_TOPOLOGY, {"intercommunicator", "intracommunicator"});
  EXPECT_EQ(vector, TONARI_VECTOR_NULL);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

TEST_F(VectorErrors, Routes) {
  for (const char* const word :
       {"quick", "topology", "topology:", "topology:0", "topology:2x", "topology:-1"})
    refuse(
        TONARI_ERR_ARGUMENT, {"tonari_route", std::string("'") + word + "'", "direct, node, auto"},
        [](Create&) {}, Info{{"tonari_route", word}});
  refuse(
      TONARI_ERR_ARGUMENT, {"store-and-forward/9", "virtual topologies of 1 to"}, [](Create&) {},
      Info{{"tonari_route", "topology:9"}});
  if (ranks > 1)
    refuse(
        TONARI_ERR_MISMATCH, {"different info keys", "tonari_route"}, [](Create&) {},
        Info{{"tonari_route", rank == last ? "direct" : "node"}});
}

TEST_F(VectorErrors, Values) {
  MPI_Datatype gaps = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &gaps);
  MPI_Type_commit(&gaps);
  refuse_values({"16 bytes in an extent of 24", "contiguous"}, [&](Values& v) { v.type = gaps; });
  MPI_Type_free(&gaps);
  refuse_values({"MPI_DATATYPE_NULL"}, [](Values& v) { v.type = MPI_DATATYPE_NULL; });
  refuse_values({"components is -1"}, [](Values& v) { v.components = -1; });
  refuse_values({"vectors is -5"}, [](Values& v) { v.vectors = -5; });
  refuse_values({"owned_stride is 3", "each vector has 4 values"},
                [](Values& v) { v.vectors = 2, v.owned_stride = 3; });
  refuse_values({"ghost_stride is -1"}, [](Values& v) { v.ghost_stride = -1; });
  refuse_values({"`owned` is NULL", "owns 4 indices"}, [](Values& v) { v.own = nullptr; });
  refuse_values({"`ghosts` is NULL", "needs 2 indices"}, [](Values& v) { v.theirs = nullptr; });
  refuse_values(
      {"owned values and ghosts overlap"}, [&](Values& v) { v.theirs = x + 3; },
      TONARI_ERR_BUFFERS);
  refuse_values(
      {"overlap"}, [&](Values& v) { v.vectors = 2, v.theirs = x + 4; }, TONARI_ERR_BUFFERS);
  refuse_values(
      {"does not fit"}, [](Values& v) { v.vectors = 2, v.owned_stride = INT64_MAX / 2; },
      TONARI_ERR_OVERFLOW);
  const WideTypes wide;
  for (MPI_Datatype type : wide.all())
    refuse_values({"does not fit"}, [&](Values& v) { v.type = type; }, TONARI_ERR_OVERFLOW);
  tonari_request request = TONARI_REQUEST_NULL;
  expect_everywhere(tonari_vector_forward_init(good, nullptr, x, ghosts, MPI_INFO_NULL,
                                               rank == last ? nullptr : &request),
                    TONARI_ERR_ARGUMENT, {"`request` is NULL"});
  expect_everywhere(tonari_vector_forward_init(good, nullptr, x, ghosts,
                                               Info{{"tonari_channel", "pigeon"}}, &request),
                    TONARI_ERR_ARGUMENT, {"pigeon"});
}

// Also in a call that comes again but for them.
TEST_F(VectorErrors, ReservedMembers) {
  values.type = MPI_DOUBLE;
  must(tonari_vector_forward(good, &values, x, ghosts));
  refuse_values({"reserved is not 0"}, [](Values& v) { v.reserved[7] = 1; });
}

TEST_F(VectorErrors, Reductions) {
  refuse_reverse({"MPI_SUM, MPI_MIN or MPI_MAX"}, [](Values& v) { v.op = MPI_PROD; });
  refuse_reverse({"predefined one of C numbers", "MPI_DOUBLE"},
                 [](Values& v) { v.type = MPI_CHAR; });
  refuse_reverse({"complex numbers have no minimum"},
                 [](Values& v) { v.type = MPI_C_DOUBLE_COMPLEX, v.op = MPI_MIN; });
}

TEST_F(VectorErrors, RanksThatDisagree) {
  if (ranks == 1) GTEST_SKIP() << "one rank agrees with itself";
  refuse_values(
      {"same number of bytes"}, [](Values& v) { v.type = MPI_FLOAT; }, TONARI_ERR_MISMATCH);
  refuse_values({"same number of bytes"}, [](Values& v) { v.components = 2; }, TONARI_ERR_MISMATCH);
  refuse_values({"numbers of vectors"}, [](Values& v) { v.vectors = 2; }, TONARI_ERR_MISMATCH);
  refuse_reverse({"different operations"}, [](Values& v) { v.op = MPI_MAX; }, TONARI_ERR_MISMATCH);
  refuse_reverse(
      {"different operations or types"}, [](Values& v) { v.type = MPI_INT64_T; },
      TONARI_ERR_MISMATCH);
  tonari_request request = TONARI_REQUEST_NULL;
  expect_everywhere(tonari_vector_forward_init(
                        good, nullptr, x, ghosts,
                        Info{{"tonari_channel", rank == last ? "shared" : "auto"}}, &request),
                    TONARI_ERR_MISMATCH, {"different info keys"});
  const int code = rank == last ? tonari_vector_forward(good, nullptr, x, ghosts)
                                : tonari_vector_reverse(good, nullptr, MPI_SUM, ghosts, x);
  expect_everywhere(code, TONARI_ERR_MISMATCH,
                    {"forward exchange where others call a reverse one"});
  double y[4] = {}, z[4] = {};
  expect_everywhere(rank == last ? tonari_vector_combine(good, nullptr, MPI_SUM, y, z)
                                 : tonari_vector_reverse(good, nullptr, MPI_SUM, z, y),
                    TONARI_ERR_MISMATCH, {"or one that combines"});
}

}  // namespace
