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
  void refuse_one(int code, Words words, Bend bend) {
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
    values.type = MPI_DOUBLE, values.components = values.vectors = 1,
    values.owned_stride = values.ghost_stride = 0;
    for (int i = 0; i < 4; ++i) x[i] = 4 * rank + i;
    must(tonari_vector_forward(good, &values, x, ghosts));  // still works
    EXPECT_EQ(ghosts[1], 4 * ranks - 1);
    must(tonari_vector_free(&good));
  }
  // A call with values that are wrong on the last rank, as a request and as a single call.
  template <class Bend>
  void refuse_values(int code, Words words, Bend bend, bool reverse = false) {
    values = {};
    values.type = MPI_DOUBLE;
    const double* own = x;
    double* theirs = ghosts;
    MPI_Op op = MPI_SUM;
    if (rank == last) bend(values, own, theirs, op);
    tonari_request request = TONARI_REQUEST_NULL;
    auto* const out = const_cast<double*>(own);
    expect_everywhere(
        reverse
            ? tonari_vector_reverse_init(good, &values, op, theirs, out, MPI_INFO_NULL, &request)
            : tonari_vector_forward_init(good, &values, own, theirs, MPI_INFO_NULL, &request),
        code, words);
    EXPECT_EQ(request, TONARI_REQUEST_NULL);
    expect_everywhere(reverse ? tonari_vector_reverse(good, &values, op, theirs, out)
                              : tonari_vector_forward(good, &values, own, theirs),
                      code, words);
  }

  int rank = world_rank(), ranks = world_size(), last = ranks - 1;
  tonari_vector good = TONARI_VECTOR_NULL;
  tonari_vector_values values{};
  double x[64] = {}, ghosts[64] = {};
};

TEST_F(VectorErrors, Arguments) {
  refuse_one(TONARI_ERR_ARGUMENT, {"`owned` is -3"}, [](Create& c) { c.owned = -3; });
  refuse_one(TONARI_ERR_ARGUMENT, {"`first` is -1"}, [](Create& c) { c.first = -1; });
  refuse_one(TONARI_ERR_ARGUMENT, {"`needed` is -2"}, [](Create& c) { c.needed = -2; });
  refuse_one(TONARI_ERR_ARGUMENT, {"`indices` is NULL", "2 are needed"},
             [](Create& c) { c.list = nullptr; });
  refuse_one(TONARI_ERR_ARGUMENT, {"`first` + `owned`", "64 bits"},
             [](Create& c) { c.first = INT64_MAX - 1; });
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
  refuse_one(TONARI_ERR_ARGUMENT,
             {"nobody owns index " + at,
              "rank " + before + " owns indices " + before_begins + " to " + before_ends,
              "rank " + std::to_string(last) + " owns"},
             [](Create& c) { c.first += 1; });
  refuse_one(TONARI_ERR_ARGUMENT,
             {"index " + before_ends + " has two owners", "rank " + before + " owns indices",
              "rank " + std::to_string(last) + " owns indices " + before_ends},
             [](Create& c) { c.first -= 1; });
}

TEST_F(VectorErrors, Indices) {
  const std::string size = std::to_string(4 * ranks), top = std::to_string(4 * ranks - 1),
                    who = "rank " + std::to_string(last);
  refuse_one(TONARI_ERR_ARGUMENT, {who + " needs index " + size, "position 1", "0 to " + top},
             [&](Create& c) { c.indices[1] = 4 * ranks; });
  refuse_one(TONARI_ERR_ARGUMENT, {who + " needs index -7", "position 0"},
             [](Create& c) { c.indices[0] = -7; });
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
      TONARI_ERR_TOPOLOGY, {"intercommunicator", "one group"});
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
  using V = tonari_vector_values;
  MPI_Datatype gaps = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &gaps);
  MPI_Type_commit(&gaps);
  refuse_values(TONARI_ERR_ARGUMENT, {"16 bytes in an extent of 24", "contiguous"},
                [&](V& v, auto&, auto&, MPI_Op&) { v.type = gaps; });
  MPI_Type_free(&gaps);
  refuse_values(TONARI_ERR_ARGUMENT, {"MPI_DATATYPE_NULL"},
                [](V& v, auto&, auto&, MPI_Op&) { v.type = MPI_DATATYPE_NULL; });
  refuse_values(TONARI_ERR_ARGUMENT, {"components is -1"},
                [](V& v, auto&, auto&, MPI_Op&) { v.components = -1; });
  refuse_values(TONARI_ERR_ARGUMENT, {"vectors is -5"},
                [](V& v, auto&, auto&, MPI_Op&) { v.vectors = -5; });
  refuse_values(TONARI_ERR_ARGUMENT, {"owned_stride is 3", "each vector has 4 values"},
                [](V& v, auto&, auto&, MPI_Op&) { v.vectors = 2, v.owned_stride = 3; });
  refuse_values(TONARI_ERR_ARGUMENT, {"ghost_stride is -1"},
                [](V& v, auto&, auto&, MPI_Op&) { v.ghost_stride = -1; });
  refuse_values(TONARI_ERR_ARGUMENT, {"`owned` is NULL", "owns 4 indices"},
                [](V&, auto& own, auto&, MPI_Op&) { own = nullptr; });
  refuse_values(TONARI_ERR_ARGUMENT, {"`ghosts` is NULL", "needs 2 indices"},
                [](V&, auto&, auto& ghosts, MPI_Op&) { ghosts = nullptr; });
  refuse_values(TONARI_ERR_BUFFERS, {"owned values and ghosts overlap"},
                [&](V&, auto&, auto& ghosts, MPI_Op&) { ghosts = x + 3; });
  refuse_values(TONARI_ERR_BUFFERS, {"overlap"},
                [&](V& v, auto&, auto& ghosts, MPI_Op&) { v.vectors = 2, ghosts = x + 4; });
  refuse_values(TONARI_ERR_OVERFLOW, {"does not fit"},
                [](V& v, auto&, auto&, MPI_Op&) { v.vectors = 2, v.owned_stride = INT64_MAX / 2; });
  const WideTypes wide;
  for (MPI_Datatype type : wide.all())
    refuse_values(TONARI_ERR_OVERFLOW, {"does not fit"},
                  [&](V& v, auto&, auto&, MPI_Op&) { v.type = type; });
  tonari_request request = TONARI_REQUEST_NULL;
  expect_everywhere(tonari_vector_forward_init(good, nullptr, x, ghosts, MPI_INFO_NULL,
                                               rank == last ? nullptr : &request),
                    TONARI_ERR_ARGUMENT, {"`request` is NULL"});
  expect_everywhere(tonari_vector_forward_init(good, nullptr, x, ghosts,
                                               Info{{"tonari_channel", "pigeon"}}, &request),
                    TONARI_ERR_ARGUMENT, {"pigeon"});
}

TEST_F(VectorErrors, Reductions) {
  using V = tonari_vector_values;
  refuse_values(
      TONARI_ERR_ARGUMENT, {"MPI_SUM, MPI_MIN or MPI_MAX"},
      [](V&, auto&, auto&, MPI_Op& op) { op = MPI_PROD; }, true);
  refuse_values(
      TONARI_ERR_ARGUMENT, {"predefined one of C numbers", "MPI_DOUBLE"},
      [](V& v, auto&, auto&, MPI_Op&) { v.type = MPI_CHAR; }, true);
  refuse_values(
      TONARI_ERR_ARGUMENT, {"complex numbers have no minimum"},
      [](V& v, auto&, auto&, MPI_Op& op) { v.type = MPI_C_DOUBLE_COMPLEX, op = MPI_MIN; }, true);
}

TEST_F(VectorErrors, RanksThatDisagree) {
  if (ranks == 1) GTEST_SKIP() << "one rank agrees with itself";
  using V = tonari_vector_values;
  refuse_values(TONARI_ERR_MISMATCH, {"same number of bytes"},
                [](V& v, auto&, auto&, MPI_Op&) { v.type = MPI_FLOAT; });
  refuse_values(TONARI_ERR_MISMATCH, {"same number of bytes"},
                [](V& v, auto&, auto&, MPI_Op&) { v.components = 2; });
  refuse_values(TONARI_ERR_MISMATCH, {"numbers of vectors"},
                [](V& v, auto&, auto&, MPI_Op&) { v.vectors = 2; });
  refuse_values(
      TONARI_ERR_MISMATCH, {"different operations"},
      [](V&, auto&, auto&, MPI_Op& op) { op = MPI_MAX; }, true);
  refuse_values(
      TONARI_ERR_MISMATCH, {"different operations or types"},
      [](V& v, auto&, auto&, MPI_Op&) { v.type = MPI_INT64_T; }, true);
  tonari_request request = TONARI_REQUEST_NULL;
  expect_everywhere(tonari_vector_forward_init(
                        good, nullptr, x, ghosts,
                        Info{{"tonari_channel", rank == last ? "shared" : "auto"}}, &request),
                    TONARI_ERR_MISMATCH, {"different info keys"});
  const int code = rank == last ? tonari_vector_forward(good, nullptr, x, ghosts)
                                : tonari_vector_reverse(good, nullptr, MPI_SUM, ghosts, x);
  expect_everywhere(code, TONARI_ERR_MISMATCH,
                    {"forward exchange where others call a reverse one"});
}

// More than 2 GiB from one rank to another cannot be one message; the memory is only promised,
// never touched.
TEST_F(VectorErrors, MoreThanAMessageTakes) {
  if (ranks == 1 || sanitized) GTEST_SKIP();
  values = {};
  values.type = MPI_DOUBLE, values.components = 1 << 28;
  auto* const far = reinterpret_cast<double*>(static_cast<std::uintptr_t>(1) << 44);
  tonari_request request = TONARI_REQUEST_NULL;
  const int code = tonari_vector_forward_init(good, &values, far, far + (std::int64_t{1} << 34),
                                              MPI_INFO_NULL, &request);
  expect_everywhere(code, TONARI_ERR_OVERFLOW,
                    {"have 2147483648 bytes", "fewer vectors or components"});
}

}  // namespace
