// SPDX-License-Identifier: BSD-3-Clause
// The interface of Träff 2016: every function of Listings 1 to 3, the two starts, the attached
// neighborhood, and errors.
#define ISO_NONBLOCKING
#include <tonari/iso.h>
// both starts are tested by their names; octant.c uses the header without ISO_NONBLOCKING
#undef Iso_start

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/contains.hpp"
#include "support/mpi_main.hpp"
#include "support/ok.hpp"

namespace {

#define ASSERT_OK_EVERYWHERE(...) \
  ASSERT_TRUE(everywhere((__VA_ARGS__) == MPI_SUCCESS)) << tonari_last_error()

using tonari::test::everywhere, tonari::test::world_size;

// A 3-d torus or mesh of all ranks with the octant's neighborhood, a self block and a long offset
// added, and the ranks the blocks come from, worked out here from coordinates.
class Iso : public testing::TestWithParam<int> {
 protected:
  static constexpr int s = 9;
  int offsets[s * 3] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1,  0, 1, 0,
                        1, 0, 1, 1, 1, 1, 1, 0, 0, 0, -2, 0, 1};

  void SetUp() override {
    // what is chosen is not the subject here; the fixed rule combines these blocks
    setenv("TONARI_TUNE", "off", 1);
    int dims[3] = {0, 0, 0}, periods[3] = {GetParam(), GetParam(), GetParam()};
    MPI_Dims_create(world_size(), 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cart);
    MPI_Comm_set_errhandler(cart, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(cart, &me);
    for (int i = 0; i < s; ++i) sources[i] = source_of(i);
    ASSERT_OK_EVERYWHERE(Iso_neighborhood_create(cart, s, offsets, &iso));
  }

  void TearDown() override {
    unsetenv("TONARI_TUNE");
    if (iso != MPI_COMM_NULL) MPI_Comm_free(&iso);
    MPI_Comm_free(&cart);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  }

  int source_of(int i) const {
    int dims[3], periods[3], at[3], rank = MPI_PROC_NULL;
    MPI_Cart_get(cart, 3, dims, periods, at);
    for (int j = 0; j < 3; ++j) {
      at[j] -= offsets[3 * i + j];
      if (!periods[j] && (at[j] < 0 || at[j] >= dims[j])) return MPI_PROC_NULL;
    }
    MPI_Cart_rank(cart, at, &rank);
    return rank;
  }

  // Differs per rank, block, element and round.
  static int payload(int rank, int block, int element, int round) {
    return ((round * 64 + rank) * 16 + block) * 64 + element;
  }

  static constexpr int poison = -7;
  MPI_Comm cart = MPI_COMM_NULL, iso = MPI_COMM_NULL;
  int me = 0;
  std::array<int, s> sources{};
};

// Blocks of an exchange inside arrays of int: block i has count[i] elements from at[i], its
// elements `stride` apart.
struct StridedBlock {
  std::array<int, 9> count{}, at{};
  int stride = 1;
};

int words(const StridedBlock& shape) {
  int end = 0;
  for (std::size_t i = 0; i < shape.count.size(); ++i)
    end = std::max(end, shape.at[i] + shape.count[i] * shape.stride);
  return end;
}

StridedBlock equal_blocks(int count) {
  StridedBlock shape;
  for (int i = 0; i < 9; ++i) {
    shape.count[i] = count;
    shape.at[i] = i * count;
  }
  return shape;
}

// Sizes 0, 1, 2, 3, 0, 1, ..., last block first, with gaps.
StridedBlock uneven_blocks(int stride = 1) {
  StridedBlock shape;
  shape.stride = stride;
  int end = 0;
  for (int i = 8; i >= 0; --i) {
    shape.count[i] = i % 4;
    shape.at[i] = end + 2;
    end = shape.at[i] + shape.count[i] * stride;
  }
  return shape;
}

class IsoExchange : public Iso {
 protected:
  // Starts three times through `start` and compares every word of the receive buffer.
  template <class Start>
  void verify(Iso_request& request, const StridedBlock& out, const StridedBlock& in, bool gather,
              Start start) {
    for (int round = 0; round < 3; ++round) {
      fill(out, gather, round);
      received.assign(received.size(), poison);
      ASSERT_OK_EVERYWHERE(start(request));
      EXPECT_EQ(received, expected(in, gather, round)) << "round " << round;
    }
    EXPECT_EQ(Iso_request_free(&request), MPI_SUCCESS);
    EXPECT_EQ(request, ISO_REQUEST_NULL);
  }
  void verify(Iso_request& request, const StridedBlock& out, const StridedBlock& in, bool gather) {
    verify(request, out, in, gather, [](Iso_request& r) { return Iso_start(&r); });
  }

  void allocate(const StridedBlock& out, const StridedBlock& in) {
    sent.assign(words(out) + 1, poison);
    received.assign(words(in) + 1, poison);
  }

  void fill(const StridedBlock& out, bool gather, int round) {
    for (int i = 0; i < (gather ? 1 : s); ++i)
      for (int e = 0; e < out.count[i]; ++e)
        sent[out.at[i] + e * out.stride] = payload(me, i, e, round);
  }

  std::vector<int> expected(const StridedBlock& in, bool gather, int round) const {
    std::vector<int> want(received.size(), poison);
    for (int i = 0; i < s; ++i) {
      if (sources[i] == MPI_PROC_NULL) continue;
      for (int e = 0; e < in.count[i]; ++e)
        want[in.at[i] + e * in.stride] = payload(sources[i], gather ? 0 : i, e, round);
    }
    return want;
  }

  static std::vector<MPI_Aint> displacements(const StridedBlock& shape, int unit) {
    std::vector<MPI_Aint> displacements;
    for (int at : shape.at) displacements.push_back(static_cast<MPI_Aint>(at) * unit);
    return displacements;
  }

  std::vector<int> sent, received;
};

MPI_Datatype strided_type(int count, int stride) {
  MPI_Datatype type;
  MPI_Type_vector(count, 1, stride, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

TEST_P(IsoExchange, Alltoall) {
  const StridedBlock shape = equal_blocks(5);
  allocate(shape, shape);
  Iso_request request = ISO_REQUEST_NULL;
  ASSERT_OK_EVERYWHERE(Iso_neighbor_alltoall_init(sent.data(), 5, MPI_INT, received.data(), 5,
                                                  MPI_INT, iso, &request));
  verify(request, shape, shape, false);
}

TEST_P(IsoExchange, Allgather) {
  const StridedBlock shape = equal_blocks(5);
  allocate(shape, shape);
  Iso_request request = ISO_REQUEST_NULL;
  ASSERT_OK_EVERYWHERE(Iso_neighbor_allgather_init(sent.data(), 5, MPI_INT, received.data(), 20,
                                                   MPI_BYTE, iso, &request));
  verify(request, shape, shape, true);
}

TEST_P(IsoExchange, AlltoallvCountsDisplacementsInExtents) {
  StridedBlock out = uneven_blocks(), in = uneven_blocks();
  allocate(out, in);
  auto at = displacements(out, 1);
  Iso_request request = ISO_REQUEST_NULL;
  ASSERT_OK_EVERYWHERE(Iso_neighbor_alltoallv_init(sent.data(), out.count.data(), at.data(),
                                                   MPI_INT, received.data(), in.count.data(),
                                                   at.data(), MPI_INT, iso, &request));
  const StridedBlock kept = out;
  std::fill(at.begin(), at.end(), -1000);  // the arrays belong to the caller again
  out.count.fill(1 << 20);
  verify(request, kept, in, false);
}

TEST_P(IsoExchange, AllgathervOfEqualBlocksAtAnyPlace) {
  const StridedBlock out = equal_blocks(3);
  StridedBlock in = equal_blocks(3);
  for (int i = 0; i < s; ++i) in.at[i] = 4 * (s - i);
  allocate(out, in);
  auto at = displacements(in, 1);
  Iso_request request = ISO_REQUEST_NULL;
  ASSERT_OK_EVERYWHERE(Iso_neighbor_allgatherv_init(sent.data(), 3, MPI_INT, received.data(),
                                                    in.count.data(), at.data(), MPI_INT, iso,
                                                    &request));
  verify(request, out, in, true);
}

TEST_P(IsoExchange, AlltoallwTypesDifferOnBothSides) {
  const StridedBlock out = uneven_blocks(), in = uneven_blocks(2);
  allocate(out, in);
  auto from = displacements(out, sizeof(int)), to = displacements(in, sizeof(int));
  std::vector<int> ones(s, 1), counts(out.count.begin(), out.count.end());
  std::vector<MPI_Datatype> plain(s, MPI_INT), strided;
  for (int count : in.count) strided.push_back(strided_type(count, 2));
  Iso_request request = ISO_REQUEST_NULL;
  const int code = Iso_neighbor_alltoallw_init(sent.data(), counts.data(), from.data(),
                                               plain.data(), received.data(), ones.data(),
                                               to.data(), strided.data(), iso, &request);
  for (MPI_Datatype& type : strided) MPI_Type_free(&type);
  ASSERT_OK_EVERYWHERE(code);
  verify(request, out, in, false);
}

TEST_P(IsoExchange, AllgatherwOneSendTypeManyReceiveTypes) {
  const StridedBlock out = equal_blocks(3);
  StridedBlock in = equal_blocks(3);
  in.stride = 2;
  for (int i = 0; i < s; ++i) in.at[i] = 7 * (s - 1 - i);
  allocate(out, in);
  auto to = displacements(in, sizeof(int));
  std::vector<int> ones(s, 1);
  std::vector<MPI_Datatype> strided;
  for (int i = 0; i < s; ++i) strided.push_back(strided_type(3, 2));
  Iso_request request = ISO_REQUEST_NULL;
  const int code =
      Iso_neighbor_allgatherw_init(sent.data(), 3, MPI_INT, received.data(), ones.data(), to.data(),
                                   strided.data(), iso, &request);
  for (MPI_Datatype& type : strided) MPI_Type_free(&type);
  ASSERT_OK_EVERYWHERE(code);
  verify(request, out, in, true);
}

// §7: the start that returns at once, completed by wait, by test, and in a mix where ranks differ.
TEST_P(IsoExchange, NonblockingStart) {
  const StridedBlock shape = equal_blocks(2);
  const auto wait = [](Iso_request& r) {
    const int code = Iso_istart(&r);
    return code == MPI_SUCCESS ? Iso_wait(&r) : code;
  };
  const auto test = [](Iso_request& r) {
    int done = 0, code = Iso_istart(&r);
    while (code == MPI_SUCCESS && !done) code = Iso_test(&r, &done);
    return code;
  };
  const auto start = [](Iso_request& r) { return Iso_start(&r); };
  for (int kind = 0; kind < 3; ++kind) {
    allocate(shape, shape);
    Iso_request request = ISO_REQUEST_NULL;
    ASSERT_OK_EVERYWHERE(Iso_neighbor_alltoall_init(sent.data(), 2, MPI_INT, received.data(), 2,
                                                    MPI_INT, iso, &request));
    if (kind == 0) verify(request, shape, shape, false, wait);
    if (kind == 1) verify(request, shape, shape, false, test);
    if (kind == 2)
      verify(request, shape, shape, false,
             [&](Iso_request& r) { return me % 2 ? wait(r) : start(r); });
  }
}

TEST_P(IsoExchange, WaitAndTestAfterACompletingStartSucceedAtOnce) {
  const StridedBlock shape = equal_blocks(1);
  allocate(shape, shape);
  Iso_request request = ISO_REQUEST_NULL;
  ASSERT_OK_EVERYWHERE(Iso_neighbor_alltoall_init(sent.data(), 1, MPI_INT, received.data(), 1,
                                                  MPI_INT, iso, &request));
  int flag = 0;
  EXPECT_EQ(Iso_start(&request), MPI_SUCCESS);
  EXPECT_EQ(Iso_wait(&request), MPI_SUCCESS);
  EXPECT_EQ(Iso_test(&request, &flag), MPI_SUCCESS);
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(Iso_request_free(&request), MPI_SUCCESS);
}

// The neighborhood is an attribute: isocomm keeps the topology, duplicates share, requests outlive,
// and freeing again is safe.
TEST_P(IsoExchange, IsocommKeepsTheTopology) {
  int topology = MPI_UNDEFINED, result = MPI_UNEQUAL;
  MPI_Topo_test(iso, &topology);
  MPI_Comm_compare(cart, iso, &result);
  EXPECT_EQ(topology, MPI_CART);
  EXPECT_EQ(result, MPI_CONGRUENT);
}

TEST_P(IsoExchange, DuplicateServesAfterTheOriginalWasFreed) {
  MPI_Comm twin = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Comm_dup(iso, &twin), MPI_SUCCESS);
  ASSERT_EQ(MPI_Comm_free(&iso), MPI_SUCCESS);
  const StridedBlock shape = equal_blocks(4);
  allocate(shape, shape);
  Iso_request request = ISO_REQUEST_NULL;
  ASSERT_OK_EVERYWHERE(Iso_neighbor_alltoall_init(sent.data(), 4, MPI_INT, received.data(), 4,
                                                  MPI_INT, twin, &request));
  ASSERT_EQ(MPI_Comm_free(&twin), MPI_SUCCESS);
  verify(request, shape, shape, false);  // the request needs neither
}

TEST_P(IsoExchange, NeighborhoodOnAnIsocommReplacesTheCopiedOne) {
  MPI_Comm second = MPI_COMM_NULL;
  int along[] = {1, 0, 0};
  ASSERT_OK_EVERYWHERE(Iso_neighborhood_create(iso, 1, along, &second));
  int mine = payload(me, 0, 0, 0), theirs[2] = {poison, poison};
  Iso_request request = ISO_REQUEST_NULL;
  ASSERT_OK_EVERYWHERE(
      Iso_neighbor_allgather_init(&mine, 1, MPI_INT, theirs, 1, MPI_INT, second, &request));
  EXPECT_EQ(Iso_start(&request), MPI_SUCCESS);
  EXPECT_EQ(theirs[0], sources[0] == MPI_PROC_NULL ? poison : payload(sources[0], 0, 0, 0));
  EXPECT_EQ(theirs[1], poison);  // one block, not nine
  EXPECT_EQ(Iso_request_free(&request), MPI_SUCCESS);
  EXPECT_EQ(MPI_Comm_free(&second), MPI_SUCCESS);
}

TEST_P(IsoExchange, EmptyNeighborhood) {
  MPI_Comm empty = MPI_COMM_NULL;
  ASSERT_OK_EVERYWHERE(Iso_neighborhood_create(cart, 0, offsets, &empty));
  int nothing[1] = {poison};
  Iso_request request = ISO_REQUEST_NULL;
  ASSERT_OK_EVERYWHERE(
      Iso_neighbor_alltoall_init(nothing, 1, MPI_INT, nothing, 1, MPI_INT, empty, &request));
  EXPECT_EQ(Iso_start(&request), MPI_SUCCESS);
  EXPECT_EQ(nothing[0], poison);
  EXPECT_EQ(Iso_request_free(&request), MPI_SUCCESS);
  EXPECT_EQ(MPI_Comm_free(&empty), MPI_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(Torus, IsoExchange, testing::Values(1));
INSTANTIATE_TEST_SUITE_P(Mesh, IsoExchange, testing::Values(0));

// An info object with one key.
class OneKey {
 public:
  OneKey(const char* key, const char* value) {
    MPI_Info_create(&info_);
    MPI_Info_set(info_, key, value);
  }
  ~OneKey() { MPI_Info_free(&info_); }
  OneKey(const OneKey&) = delete;
  OneKey& operator=(const OneKey&) = delete;
  MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

std::string described(Iso_request request) { return tonari_request_describe(request); }

// A neighborhood whose own requests are forced to be linear: no rule or measurement of the library
// would choose torus-direct here.
class IsoDirect : public IsoExchange {
 protected:
  void SetUp() override {
    IsoExchange::SetUp();
    if (HasFatalFailure()) return;
    MPI_Comm_free(&iso);
    const OneKey linear("tonari_algorithm", "linear");
    ASSERT_OK_EVERYWHERE(Iso_neighborhood_create_with_info(cart, s, offsets, linear.get(), &iso));
  }
  void verify_direct(Iso_request& request, const StridedBlock& out, const StridedBlock& in,
                     bool gather) {
    EXPECT_CONTAINS(described(request), "chosen: torus-direct/");
    verify(request, out, in, gather);
  }
};

TEST_P(IsoDirect, InfoOfTheNeighborhoodHoldsForItsRequests) {
  const StridedBlock shape = equal_blocks(5);
  allocate(shape, shape);
  Iso_request request = ISO_REQUEST_NULL;
  ASSERT_OK_EVERYWHERE(Iso_neighbor_alltoall_init(sent.data(), 5, MPI_INT, received.data(), 5,
                                                  MPI_INT, iso, &request));
  EXPECT_CONTAINS(described(request), "chosen: linear/");
  verify(request, shape, shape, false);
}

TEST_P(IsoDirect, RegularBlocks) {
  const StridedBlock shape = equal_blocks(5);
  allocate(shape, shape);
  Iso_request request = ISO_REQUEST_NULL;
  ASSERT_OK_EVERYWHERE(Iso_neighbor_alltoall_direct_init(sent.data(), 5, MPI_INT, received.data(),
                                                         5, MPI_INT, iso, &request));
  verify_direct(request, shape, shape, false);
  ASSERT_OK_EVERYWHERE(Iso_neighbor_allgather_direct_init(sent.data(), 5, MPI_INT, received.data(),
                                                          5, MPI_INT, iso, &request));
  verify_direct(request, shape, shape, true);
}

TEST_P(IsoDirect, CountsAndDisplacements) {
  StridedBlock out = uneven_blocks(), in = uneven_blocks();
  allocate(out, in);
  auto at = displacements(out, 1);
  Iso_request request = ISO_REQUEST_NULL;
  ASSERT_OK_EVERYWHERE(Iso_neighbor_alltoallv_direct_init(sent.data(), out.count.data(), at.data(),
                                                          MPI_INT, received.data(), in.count.data(),
                                                          at.data(), MPI_INT, iso, &request));
  verify_direct(request, out, in, false);

  StridedBlock one = equal_blocks(3), many = equal_blocks(3);
  for (int i = 0; i < s; ++i) many.at[i] = 4 * (s - i);
  allocate(one, many);
  at = displacements(many, 1);
  ASSERT_OK_EVERYWHERE(Iso_neighbor_allgatherv_direct_init(sent.data(), 3, MPI_INT, received.data(),
                                                           many.count.data(), at.data(), MPI_INT,
                                                           iso, &request));
  verify_direct(request, one, many, true);
}

TEST_P(IsoDirect, TypesOfEveryBlock) {
  StridedBlock out = uneven_blocks(), in = uneven_blocks();
  allocate(out, in);
  auto at = displacements(out, sizeof(int));
  std::vector<MPI_Datatype> types(s, MPI_INT);
  Iso_request request = ISO_REQUEST_NULL;
  ASSERT_OK_EVERYWHERE(Iso_neighbor_alltoallw_direct_init(
      sent.data(), out.count.data(), at.data(), types.data(), received.data(), in.count.data(),
      at.data(), types.data(), iso, &request));
  verify_direct(request, out, in, false);

  StridedBlock one = equal_blocks(3), many = equal_blocks(3);
  for (int i = 0; i < s; ++i) many.at[i] = 4 * (s - i);
  allocate(one, many);
  at = displacements(many, sizeof(int));
  ASSERT_OK_EVERYWHERE(Iso_neighbor_allgatherw_direct_init(sent.data(), 3, MPI_INT, received.data(),
                                                           many.count.data(), at.data(),
                                                           types.data(), iso, &request));
  verify_direct(request, one, many, true);
}

INSTANTIATE_TEST_SUITE_P(Torus, IsoDirect, testing::Values(1));
INSTANTIATE_TEST_SUITE_P(Mesh, IsoDirect, testing::Values(0));

using IsoErrors = Iso;

TEST_P(IsoErrors, ListsThatDiffer) {
  MPI_Comm none = MPI_COMM_NULL;
  if (me == 0) offsets[4] += 1;
  const bool differ = world_size() > 1;
  EXPECT_EQ(Iso_neighborhood_create(cart, s, offsets, &none),
            differ ? TONARI_ERR_MISMATCH : TONARI_SUCCESS);
  EXPECT_EQ(none == MPI_COMM_NULL, differ);
  if (none != MPI_COMM_NULL) MPI_Comm_free(&none);
}

TEST_P(IsoErrors, WrongInfo) {
  MPI_Comm none = MPI_COMM_NULL;
  const OneKey unknown("tonari_algorythm", "linear"),
      of_rank("tonari_algorithm", me == 0 ? "linear" : "torus");
  EXPECT_EQ(Iso_neighborhood_create_with_info(cart, s, offsets, unknown.get(), &none),
            TONARI_ERR_ARGUMENT);
  EXPECT_SAID("tonari_algorithm");
  EXPECT_EQ(none, MPI_COMM_NULL);
  const bool differ = world_size() > 1;
  EXPECT_EQ(Iso_neighborhood_create_with_info(cart, s, offsets, of_rank.get(), &none),
            differ ? TONARI_ERR_MISMATCH : TONARI_SUCCESS);
  EXPECT_EQ(none == MPI_COMM_NULL, differ);
  if (none != MPI_COMM_NULL) MPI_Comm_free(&none);
}

TEST_P(IsoErrors, DirectInitFailsOnAllRanksAlike) {
  int words[2 * s] = {0};
  Iso_request request = ISO_REQUEST_NULL;
  EXPECT_EQ(Iso_neighbor_alltoall_direct_init(words, me == 0 ? -1 : 1, MPI_INT, words + s, 1,
                                              MPI_INT, iso, &request),
            TONARI_ERR_ARGUMENT);
  EXPECT_EQ(
      Iso_neighbor_alltoall_direct_init(words, 1, MPI_INT, words + s, 1, MPI_INT, cart, &request),
      TONARI_ERR_TOPOLOGY);
  EXPECT_EQ(request, ISO_REQUEST_NULL);
}

TEST_P(IsoErrors, WrongArgumentsOfCreateOnOneRankFailOnAll) {
  MPI_Comm none = MPI_COMM_NULL;
  EXPECT_EQ(Iso_neighborhood_create(cart, me == 0 ? -1 : s, offsets, &none), TONARI_ERR_ARGUMENT);
  EXPECT_EQ(Iso_neighborhood_create(cart, s, offsets, me == 0 ? nullptr : &none),
            TONARI_ERR_ARGUMENT);
  EXPECT_SAID("`isocomm` is NULL; pass the address of an MPI_Comm");
  EXPECT_EQ(Iso_neighborhood_create(cart, s, me == 0 ? nullptr : offsets, &none),
            TONARI_ERR_ARGUMENT);
  EXPECT_EQ(none, MPI_COMM_NULL);
}

TEST_P(IsoErrors, CommunicatorsWithoutTopologyOrNeighborhood) {
  MPI_Comm none = MPI_COMM_NULL;
  EXPECT_EQ(Iso_neighborhood_create(MPI_COMM_WORLD, s, offsets, &none), TONARI_ERR_TOPOLOGY);
  EXPECT_EQ(Iso_neighborhood_create(MPI_COMM_NULL, s, offsets, &none), TONARI_ERR_ARGUMENT);
  int words[2 * s] = {0};
  Iso_request request = ISO_REQUEST_NULL;
  EXPECT_EQ(Iso_neighbor_alltoall_init(words, 1, MPI_INT, words + s, 1, MPI_INT, cart, &request),
            TONARI_ERR_TOPOLOGY);
  EXPECT_SAID("Iso_neighborhood_create");
  EXPECT_EQ(
      Iso_neighbor_alltoall_init(words, 1, MPI_INT, words + s, 1, MPI_INT, MPI_COMM_NULL, &request),
      TONARI_ERR_TOPOLOGY);
  EXPECT_EQ(request, ISO_REQUEST_NULL);
}

TEST_P(IsoErrors, InitFailsOnAllRanksAlike) {
  int words[2 * s] = {0};
  Iso_request request = ISO_REQUEST_NULL;
  EXPECT_EQ(Iso_neighbor_alltoall_init(words, me == 0 ? -1 : 1, MPI_INT, words + s, 1, MPI_INT, iso,
                                       &request),
            TONARI_ERR_ARGUMENT);
  EXPECT_EQ(Iso_neighbor_alltoall_init(words, 1, MPI_INT, words + s, 1, MPI_INT, iso, nullptr),
            TONARI_ERR_ARGUMENT);
  EXPECT_EQ(request, ISO_REQUEST_NULL);
}

TEST_P(IsoErrors, NullAndActiveRequests) {
  Iso_request request = ISO_REQUEST_NULL;
  int flag = 0;
  EXPECT_EQ(Iso_start(nullptr), TONARI_ERR_ARGUMENT);
  EXPECT_EQ(Iso_wait(nullptr), TONARI_ERR_ARGUMENT);
  EXPECT_EQ(Iso_test(nullptr, &flag), TONARI_ERR_ARGUMENT);
  EXPECT_EQ(Iso_test(&request, nullptr), TONARI_ERR_ARGUMENT);
  EXPECT_EQ(Iso_request_free(nullptr), TONARI_ERR_ARGUMENT);
  EXPECT_EQ(Iso_start(&request), TONARI_ERR_ARGUMENT);

  int words[2 * s] = {0};
  ASSERT_OK_EVERYWHERE(
      Iso_neighbor_alltoall_init(words, 1, MPI_INT, words + s, 1, MPI_INT, iso, &request));
  EXPECT_EQ(Iso_istart(&request), MPI_SUCCESS);
  EXPECT_EQ(Iso_istart(&request), TONARI_ERR_ACTIVE);
  EXPECT_EQ(Iso_start(&request), TONARI_ERR_ACTIVE);
  EXPECT_EQ(Iso_request_free(&request), TONARI_ERR_ACTIVE);
  EXPECT_NE(request, ISO_REQUEST_NULL);
  EXPECT_EQ(Iso_wait(&request), MPI_SUCCESS);
  EXPECT_EQ(Iso_request_free(&request), MPI_SUCCESS);
}

// The handler of the communicator is called with an MPI error code whose string is the sentence.
std::string heard;
void listen(MPI_Comm*, int* code, ...) {
  char sentence[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(*code, sentence, &length);
  heard.assign(sentence, static_cast<std::size_t>(length));
}

TEST_P(IsoErrors, ErrorHandlerHearsTheSentence) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(listen, &handler);
  MPI_Comm_set_errhandler(cart, handler);
  heard.clear();
  MPI_Comm none = MPI_COMM_NULL;
  EXPECT_EQ(Iso_neighborhood_create(cart, -1, offsets, &none), TONARI_ERR_ARGUMENT);
  EXPECT_FALSE(heard.empty());
  EXPECT_EQ(std::string(tonari_last_error()).find(heard), 0u) << heard;

  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  heard.clear();
  EXPECT_EQ(Iso_start(nullptr), TONARI_ERR_ARGUMENT);
  EXPECT_CONTAINS(heard, "Iso_request");
  MPI_Comm_set_errhandler(cart, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&handler);
}

INSTANTIATE_TEST_SUITE_P(Torus, IsoErrors, testing::Values(1));

}  // namespace
