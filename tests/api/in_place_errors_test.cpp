// Bad input of exchanges in place: all ranks get the same code and sentence from each kind of call, the buffer is as it was, and a correct call afterwards works.
#include <climits>
#include <cstdint>
#include <cstdlib>

#include "support/graph_exchange.hpp"
#include "support/same_error.hpp"

namespace {

using namespace tonari::test;

enum class Form { regular, v, w, general };
using Forms = std::vector<Form>;
const Forms all_forms{Form::regular, Form::v, Form::w, Form::general}, symmetric_forms{Form::regular, Form::v, Form::w};
enum class Way { persistent, started, blocking };
constexpr Way all_ways[] = {Way::persistent, Way::started, Way::blocking};

// One call; in the general form counts and displs are those of what is received.
struct Call {
  Form form = Form::regular;
  void* buf = nullptr;
  int count = 0;
  const int *counts = nullptr, *sendcounts = nullptr;
  const MPI_Aint *displs = nullptr, *senddispls = nullptr;
  MPI_Datatype type = MPI_INT;
  const MPI_Datatype* types = nullptr;
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Info info = MPI_INFO_NULL;
};

int make(const Call& c, Way way, tonari_request* request) {
  const auto choose = [&](auto persistent, auto started, auto blocking, auto... arguments) {
    if (way == Way::persistent) return persistent(arguments..., c.comm, c.info, request);
    if (way == Way::started) return started(arguments..., c.comm, c.info, request);
    return blocking(arguments..., c.comm, c.info);
  };
  switch (c.form) {
    case Form::regular: return choose(tonari_alltoall_inplace_init, tonari_ialltoall_inplace, tonari_alltoall_inplace, c.buf, c.count, c.type);
    case Form::v: return choose(tonari_alltoallv_inplace_init, tonari_ialltoallv_inplace, tonari_alltoallv_inplace, c.buf, c.counts, c.displs, c.type);
    case Form::w: return choose(tonari_alltoallw_inplace_init, tonari_ialltoallw_inplace, tonari_alltoallw_inplace, c.buf, c.counts, c.displs, c.types);
    case Form::general: break;
  }
  return choose(tonari_alltoallv_inplace_general_init, tonari_ialltoallv_inplace_general, tonari_alltoallv_inplace_general, c.buf, c.sendcounts, c.senddispls,
                c.counts, c.displs, c.type);
}

// An overlapping element, and how many of it a block has.
struct BadType {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int count = 1;
};

class InPlaceErrors : public testing::Test {
 protected:
  void SetUp() override {
    const auto n = static_cast<std::size_t>(ranks);
    data.resize(room * n + 64);
    for (std::size_t k = 0; k < data.size(); ++k) data[k] = 1'000'000 * rank + static_cast<int>(k);
    before = data;
    counts.assign(n, 2);
    types.assign(n, MPI_INT);
    for (int j = 0; j < ranks; ++j) at.push_back(3 * j), back.push_back(3 * (ranks - 1 - j)), bytes_at.push_back(12 * j);
  }

  // A correct one: two integers for every rank.
  Call good(Form form) {
    Call c;
    c.form = form;
    c.buf = data.data();
    c.count = 2;
    c.counts = c.sendcounts = counts.data();
    c.displs = form == Form::w ? bytes_at.data() : at.data();
    c.senddispls = back.data();
    c.types = types.data();
    return c;
  }

  // `bad` on the last rank only, `call` on the others.
  void expect_refused(const Call& call, const Call& bad, int code, std::initializer_list<std::string> words) {
    SCOPED_TRACE("form " + std::to_string(static_cast<int>(call.form)));
    const auto unchanged = reinterpret_cast<tonari_request>(static_cast<std::uintptr_t>(0x40));
    ++turn;
    for (Way way : all_ways) {
      if (slow() && (turn + static_cast<int>(way)) % 3 != 0) continue;  // by turns: each call takes several collective steps
      tonari_request request = unchanged;
      expect_everywhere(make(rank == last ? bad : call, way, &request), code, words);
      EXPECT_EQ(request, unchanged) << "output is written on success only";
    }
    EXPECT_TRUE(data == before) << "the buffer was changed";
  }

  // The same wrong thing in each of the forms.
  template <class Change>
  void refuse_in(const Forms& forms, int code, std::initializer_list<std::string> words, Change change) {
    for (Form form : forms) {
      Call bad = good(form);
      change(bad);
      expect_refused(good(form), bad, code, words);
    }
    expect_usable();
  }

  // By another buffer, so that data stays as it is.
  void expect_usable(MPI_Comm comm = MPI_COMM_WORLD) {
    std::vector<int> mine(static_cast<std::size_t>(ranks));
    for (int j = 0; j < ranks; ++j) mine[j] = 1000 * rank + j;
    EXPECT_EQ(tonari_alltoall_inplace(mine.data(), 1, MPI_INT, comm, MPI_INFO_NULL), TONARI_SUCCESS) << tonari_last_error();
    for (int j = 0; j < ranks; ++j) EXPECT_EQ(mine[j], 1000 * j + rank);
  }

  // Runs it on all ranks; undone by running it once more, since a swap is its own inverse.
  void expect_works(const Call& call) {
    for (int twice = 0; twice < 2; ++twice) EXPECT_EQ(make(call, Way::blocking, nullptr), TONARI_SUCCESS) << tonari_last_error();
    EXPECT_TRUE(data == before);
  }

  static bool slow() { return mpi_spins() && ranks_are_slow(); }

  static constexpr int room = 16;  // integers per rank
  int rank = world_rank(), ranks = world_size(), last = ranks - 1;
  std::string who = "rank " + std::to_string(last);
  int turn = 0;
  std::vector<int> data, before, counts;
  std::vector<MPI_Aint> at, back, bytes_at;
  std::vector<MPI_Datatype> types;
};

// ---- null and negative

TEST_F(InPlaceErrors, NullCommunicator) {
  for (Form form : all_forms) {
    Call c = good(form);
    c.comm = MPI_COMM_NULL;
    expect_refused(c, c, TONARI_ERR_ARGUMENT, {"MPI_COMM_NULL"});
  }
  expect_usable();
}

TEST_F(InPlaceErrors, Intercommunicator) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  MPI_Comm half, inter;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 5, &inter);
  for (Form form : all_forms) {
    Call c = good(form);
    c.comm = inter;
    expect_refused(c, c, TONARI_ERR_ARGUMENT, {"intercommunicator", "MPI_Intercomm_merge"});
  }
  MPI_Comm_free(&inter), MPI_Comm_free(&half);
  expect_usable();
}

TEST_F(InPlaceErrors, NoPlaceForTheRequestOnOneRank) {
  for (Form form : all_forms)
    for (Way way : {Way::persistent, Way::started}) {
      tonari_request request = TONARI_REQUEST_NULL;
      expect_everywhere(make(good(form), way, rank == last ? nullptr : &request), TONARI_ERR_ARGUMENT, {"request", "null"});
      EXPECT_EQ(request, TONARI_REQUEST_NULL);
    }
  EXPECT_TRUE(data == before);
  expect_usable();
}

TEST_F(InPlaceErrors, NullBufferOnlyWithoutElements) {
  refuse_in(all_forms, TONARI_ERR_ARGUMENT, {"buf", "null"}, [](Call& c) { c.buf = nullptr; });
  const std::vector<int> none(static_cast<std::size_t>(ranks), 0);
  for (Form form : all_forms) {
    Call c = good(form);
    c.buf = nullptr, c.count = 0, c.counts = c.sendcounts = none.data();
    EXPECT_EQ(make(c, Way::blocking, nullptr), TONARI_SUCCESS) << tonari_last_error();
  }
}

TEST_F(InPlaceErrors, InPlaceIsNoBuffer) {
  refuse_in(all_forms, TONARI_ERR_ARGUMENT, {"buf is MPI_IN_PLACE", "give the buffer itself"}, [](Call& c) { c.buf = MPI_IN_PLACE; });
}

TEST_F(InPlaceErrors, NullArrays) {
  refuse_in({Form::v, Form::w}, TONARI_ERR_ARGUMENT, {"array of block counts is null"}, [](Call& c) { c.counts = nullptr; });
  refuse_in({Form::v, Form::w}, TONARI_ERR_ARGUMENT, {"array of block displacements is null"}, [](Call& c) { c.displs = nullptr; });
  refuse_in({Form::w}, TONARI_ERR_ARGUMENT, {"array of block types is null"}, [](Call& c) { c.types = nullptr; });
  refuse_in({Form::general}, TONARI_ERR_ARGUMENT, {"array of receive counts is null"}, [](Call& c) { c.counts = nullptr; });
  refuse_in({Form::general}, TONARI_ERR_ARGUMENT, {"array of receive displacements is null"}, [](Call& c) { c.displs = nullptr; });
  refuse_in({Form::general}, TONARI_ERR_ARGUMENT, {"array of send counts is null"}, [](Call& c) { c.sendcounts = nullptr; });
  refuse_in({Form::general}, TONARI_ERR_ARGUMENT, {"array of send displacements is null"}, [](Call& c) { c.senddispls = nullptr; });
}

TEST_F(InPlaceErrors, NullTypes) {
  std::vector<MPI_Datatype> hole = types;
  hole[last] = MPI_DATATYPE_NULL;
  refuse_in(all_forms, TONARI_ERR_ARGUMENT, {"type", "MPI_DATATYPE_NULL"}, [&](Call& c) { c.type = MPI_DATATYPE_NULL, c.types = hole.data(); });
}

TEST_F(InPlaceErrors, NegativeCounts) {
  std::vector<int> bad = counts;
  bad[last] = -7;
  refuse_in(all_forms, TONARI_ERR_ARGUMENT, {"count", "-7", "negative"}, [&](Call& c) { c.count = -7, c.counts = bad.data(); });
  refuse_in({Form::general}, TONARI_ERR_ARGUMENT, {"send count " + std::to_string(last), "-7"}, [&](Call& c) { c.sendcounts = bad.data(); });
}

TEST_F(InPlaceErrors, NegativeDisplacements) {
  std::vector<MPI_Aint> bad = at;
  bad[last] = -4;
  const std::string number = "displacement " + std::to_string(last);
  refuse_in({Form::v, Form::w, Form::general}, TONARI_ERR_ARGUMENT, {number, "-4", "negative"}, [&](Call& c) { c.displs = bad.data(); });
  refuse_in({Form::general}, TONARI_ERR_ARGUMENT, {"send " + number, "-4", "negative"}, [&](Call& c) { c.senddispls = bad.data(); });
}

TEST_F(InPlaceErrors, WhatDoesNotFit) {
  std::vector<MPI_Aint> far = at;
  far[last] = PTRDIFF_MAX / 2;
  refuse_in({Form::v, Form::general}, TONARI_ERR_OVERFLOW, {"does not fit"}, [&](Call& c) { c.displs = far.data(); });
  refuse_in({Form::general}, TONARI_ERR_OVERFLOW, {"does not fit"}, [&](Call& c) { c.senddispls = far.data(); });
  // In bytes the displacement alone fits, its end does not.
  std::vector<MPI_Aint> end = at;
  end[last] = PTRDIFF_MAX;
  refuse_in({Form::general}, TONARI_ERR_OVERFLOW, {"does not fit"}, [&](Call& c) { c.displs = end.data(), c.type = MPI_BYTE; });
}

// ---- ranks that disagree

TEST_F(InPlaceErrors, SizesThatDoNotMatchNameThePairAndBothSizes) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  std::vector<int> three = counts;
  three[0] = 3;
  // Rank 0 hears that the last one has 12 bytes for it, and has 8 itself; it is the lowest rank that knows.
  refuse_in({Form::v, Form::w}, TONARI_ERR_MISMATCH, {who + " ", "rank 0", "12 bytes", "8 bytes"}, [&](Call& c) { c.counts = three.data(); });
  refuse_in({Form::regular}, TONARI_ERR_MISMATCH, {who + " ", "rank 0", "12 bytes", "8 bytes"}, [](Call& c) { c.count = 3; });
  refuse_in({Form::general}, TONARI_ERR_MISMATCH, {who + " sends 12 bytes to rank 0", "8 bytes"}, [&](Call& c) { c.sendcounts = three.data(); });
  refuse_in({Form::general}, TONARI_ERR_MISMATCH, {"rank 0 sends 8 bytes to " + who, "12 bytes"}, [&](Call& c) { c.counts = three.data(); });
}

TEST_F(InPlaceErrors, SizesAreComparedInBytes) {
  Call c = good(Form::regular);
  if (rank == last) c.count = 8, c.type = MPI_BYTE;
  expect_works(c);
}

TEST_F(InPlaceErrors, TheGeneralExchangeToItselfMustMatchToo) {
  std::vector<int> three = counts;
  three[last] = 3;
  refuse_in({Form::general}, TONARI_ERR_MISMATCH, {who + " sends 12 bytes to " + who, "8 bytes"}, [&](Call& c) { c.sendcounts = three.data(), c.senddispls = at.data(); });
}

TEST_F(InPlaceErrors, SomeCallTheGeneralExchangeOthersASymmetricOne) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  for (Form form : symmetric_forms) expect_refused(good(form), good(Form::general), TONARI_ERR_MISMATCH, {"symmetric", "general"});
  expect_usable();
}

TEST_F(InPlaceErrors, SettingsThatDiffer) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  const Info shift{{"tonari_algorithm", "linear-shift"}}, packed{{"tonari_channel", "p2p-packed"}};
  refuse_in(symmetric_forms, TONARI_ERR_MISMATCH, {"info keys", "TONARI_"}, [&](Call& c) { c.info = shift; });
  refuse_in(all_forms, TONARI_ERR_MISMATCH, {"info keys", "TONARI_"}, [&](Call& c) { c.info = packed; });
}

TEST_F(InPlaceErrors, TimeoutsAndMemoryMayDiffer) {
  const Info own{{"tonari_timeout", std::to_string(5 + rank)}, {"tonari_inplace_memory", std::to_string(100 + rank)}};
  for (Form form : symmetric_forms) {
    Call c = good(form);
    c.info = own;
    expect_works(c);
  }
}

// ---- blocks and elements that overlap

TEST_F(InPlaceErrors, BlocksThatOverlap) {
  if (ranks == 1) GTEST_SKIP() << "needs two blocks";
  std::vector<MPI_Aint> elements = at, bytes = bytes_at;
  elements[0] = 3 * last + 1;  // its second integer is that of the last block
  bytes[0] = 12 * last + 7;    // one byte is enough
  refuse_in({Form::v, Form::w}, TONARI_ERR_BUFFERS, {"on " + who, "blocks", " 0", std::to_string(last), "overlap"},
            [&](Call& c) { c.displs = c.form == Form::w ? bytes.data() : elements.data(); });
  refuse_in({Form::general}, TONARI_ERR_BUFFERS, {"on " + who, "receive blocks", "overlap"}, [&](Call& c) { c.displs = elements.data(); });
  refuse_in({Form::general}, TONARI_ERR_BUFFERS, {"on " + who, "send blocks", "overlap"}, [&](Call& c) { c.senddispls = elements.data(); });
}

TEST_F(InPlaceErrors, EmptyBlocksOverlapNothing) {
  std::vector<int> own(static_cast<std::size_t>(ranks), 0);
  own[rank] = 2;
  const std::vector<MPI_Aint> same(static_cast<std::size_t>(ranks), 1);
  for (Form form : {Form::v, Form::w, Form::general}) {
    Call c = good(form);
    c.counts = c.sendcounts = own.data();
    c.displs = c.senddispls = same.data();
    expect_works(c);
  }
}

TEST_F(InPlaceErrors, GeneralSendBlocksMayOverlapReceiveBlocks) {
  // Everything one integer further on, then back: every receive block overlaps one or two send blocks.
  std::vector<MPI_Aint> here, further;
  for (int j = 0; j < ranks; ++j) here.push_back(2 * j), further.push_back(2 * j + 1);
  Call on = good(Form::general), back_again = on;
  on.senddispls = here.data(), on.displs = further.data();
  back_again.senddispls = further.data(), back_again.displs = here.data();
  EXPECT_EQ(make(on, Way::blocking, nullptr), TONARI_SUCCESS) << tonari_last_error();
  for (int j = 0; j < ranks; ++j)
    for (int k = 0; k < 2; ++k) EXPECT_EQ(data[2 * j + 1 + k], 1'000'000 * j + 2 * rank + k);
  EXPECT_EQ(make(back_again, Way::blocking, nullptr), TONARI_SUCCESS) << tonari_last_error();
  for (int k = 0; k < 2 * ranks; ++k) EXPECT_EQ(data[k], before[k]);
}

class TypeInPlaceErrors : public InPlaceErrors {
 protected:
  void SetUp() override {
    InPlaceErrors::SetUp();
    MPI_Datatype type;
    MPI_Type_vector(3, 2, 1, MPI_INT, &type);  // three times two integers, one apart
    add(type, 1);
    MPI_Type_create_hvector(2, 1, 3, MPI_INT, &type);  // one byte in common
    add(type, 1);
    MPI_Type_create_hvector(3, 2, -4, MPI_INT, &type);
    add(type, 1);
    const int places[] = {4, 0, 4};
    MPI_Type_create_indexed_block(3, 1, places, MPI_INT, &type);
    add(type, 1);
    MPI_Type_create_resized(MPI_INT, 0, 2, &type);  // fine alone
    add(type, 2);
  }
  void TearDown() override {
    for (BadType& bad : bad_types) MPI_Type_free(&bad.type);
  }
  void add(MPI_Datatype type, int count) {
    MPI_Type_commit(&type);
    bad_types.push_back({type, count});
  }

  std::vector<BadType> bad_types;
};

TEST_F(TypeInPlaceErrors, ElementsThatOverlap) {
  for (std::size_t k = 0; k < bad_types.size(); ++k) {
    SCOPED_TRACE("type " + std::to_string(k));
    const BadType& bad = bad_types[k];
    const std::vector<int> some(static_cast<std::size_t>(ranks), bad.count);
    std::vector<MPI_Datatype> one = types;
    one[last] = bad.type;
    // From the middle, since one of them goes backwards; far enough apart that no two blocks meet.
    std::vector<MPI_Aint> places;
    for (int j = 0; j < ranks; ++j) places.push_back(8 * j);
    for (Form form : all_forms) {
      Call wrong = good(form);
      wrong.buf = data.data() + 16;
      wrong.type = bad.type, wrong.count = bad.count, wrong.counts = wrong.sendcounts = some.data();
      wrong.types = one.data();
      if (form != Form::w) wrong.displs = wrong.senddispls = places.data();
      expect_refused(good(form), wrong, TONARI_ERR_BUFFERS, {"on " + who, "datatype", "overlap"});
    }
  }
  expect_usable();
}

TEST_F(TypeInPlaceErrors, AnExtentTooSmallMattersFromTwoElementsOn) {
  const MPI_Datatype narrow = bad_types.back().type;
  const std::vector<MPI_Datatype> all(static_cast<std::size_t>(ranks), narrow);
  const std::vector<int> one(static_cast<std::size_t>(ranks), 1), two(static_cast<std::size_t>(ranks), 2);
  Call w = good(Form::w), wrong = w;
  w.types = wrong.types = all.data();
  w.counts = one.data(), wrong.counts = two.data();
  expect_works(w);
  expect_refused(w, wrong, TONARI_ERR_BUFFERS, {"on " + who, "block 0", "datatype", "overlap"});
  // In the general exchange places are counted in extents: two neighbours share bytes, whether they are of one block or not.
  if (ranks == 1) return;
  Call general = good(Form::general), tight = general;
  std::vector<MPI_Aint> next;
  for (int j = 0; j < ranks; ++j) next.push_back(j);
  general.counts = general.sendcounts = tight.counts = tight.sendcounts = one.data();
  tight.type = narrow, tight.displs = tight.senddispls = next.data();
  expect_refused(general, tight, TONARI_ERR_BUFFERS, {"on " + who, "datatype", "overlap"});
  expect_usable();
}

TEST_F(TypeInPlaceErrors, ElementsWithoutExtent) {
  MPI_Datatype flat;
  MPI_Type_create_resized(MPI_INT, 0, 0, &flat);
  MPI_Type_commit(&flat);
  refuse_in({Form::general}, TONARI_ERR_ARGUMENT, {"extent", "0", "positive"}, [&](Call& c) { c.type = flat; });
  MPI_Type_free(&flat);
}

// ---- settings

class SettingInPlaceErrors : public InPlaceErrors {
 protected:
  // The same wrong value as info key and as environment variable, on the last rank only.
  void refuse_value(const char* key, const char* variable, const char* value, int code, std::initializer_list<std::string> words) {
    SCOPED_TRACE(std::string(key) + " " + value);
    const Info wrong{{key, value}};
    refuse_in(slow() ? Forms{all_forms[static_cast<std::size_t>(turn) % 4]} : all_forms, code, words, [&](Call& c) { c.info = wrong; });
    if (rank == last) setenv(variable, value, 1);
    const int result = make(good(Form::v), Way::blocking, nullptr);
    unsetenv(variable);
    expect_everywhere(result, code, words);
    EXPECT_TRUE(data == before);
  }
};

TEST_F(SettingInPlaceErrors, ValuesThatMeanNothing) {
  for (const char* value : {"-1", "1M", "lots", " 1", "99999999999999999999999"})
    refuse_value("tonari_inplace_memory", "TONARI_INPLACE_MEMORY", value, TONARI_ERR_ARGUMENT, {"tonari_inplace_memory", "TONARI_INPLACE_MEMORY", value, "bytes"});
  for (const char* value : {"torus", "general"})
    refuse_value("tonari_algorithm", "TONARI_INPLACE_ALGORITHM", value, TONARI_ERR_ALGORITHM,
                 {"tonari_algorithm", "TONARI_INPLACE_ALGORITHM", value, "auto", "mpich-order", "linear-shift", "hierarchical-sets"});
  refuse_value("tonari_channel", "TONARI_CHANNEL", "pigeon", TONARI_ERR_ARGUMENT, {"tonari_channel", "TONARI_CHANNEL", "pigeon", "shared", "p2p-packed"});
  for (const char* value : {"0", "-3", "soon", "nan"})
    refuse_value("tonari_timeout", "TONARI_TIMEOUT", value, TONARI_ERR_ARGUMENT, {"tonari_timeout", "TONARI_TIMEOUT", value, "positive"});
  refuse_value("tonari_progress", "TONARI_PROGRESS", "sometimes", TONARI_ERR_ARGUMENT, {"tonari_progress", "sometimes", "calls", "thread"});
}

TEST_F(SettingInPlaceErrors, TheGeneralExchangeHasNoOrder) {
  const Info shift{{"tonari_algorithm", "linear-shift"}}, any{{"tonari_algorithm", "auto"}};
  refuse_in({Form::general}, TONARI_ERR_ALGORITHM, {"tonari_algorithm", "TONARI_INPLACE_ALGORITHM", "linear-shift", "general"}, [&](Call& c) { c.info = shift; });
  Call c = good(Form::general);
  c.info = any, c.displs = c.senddispls = at.data();
  expect_works(c);
}

TEST_F(SettingInPlaceErrors, OtherChannelsAreTakenAsTheNearest) {
  for (const char* channel : {"p2p-typed", "onesided", "shared+onesided"}) {
    const Info info{{"tonari_channel", channel}};
    for (Form form : symmetric_forms) {
      Call c = good(form);
      c.info = info;
      expect_works(c);
    }
  }
}

// ---- budgets: used as they are

class BudgetInPlaceErrors : public InPlaceErrors {
 protected:
  Nodes nodes;
};

TEST_F(BudgetInPlaceErrors, AreNotExceededHoweverSmall) {
  MPI_Datatype spread;  // two integers, one apart
  MPI_Type_vector(2, 1, 2, MPI_INT, &spread);
  MPI_Type_commit(&spread);
  const std::vector<MPI_Datatype> all(static_cast<std::size_t>(ranks), spread);
  const std::vector<int> one(static_cast<std::size_t>(ranks), 1);
  std::vector<MPI_Aint> bytes, elements;
  for (int j = 0; j < ranks; ++j) bytes.push_back(20 * j), elements.push_back(2 * j);
  for (const char* split : {"", "1", "2,1"}) {
    Nodes::set(split);
    MPI_Comm comm;  // nodes are looked at once per communicator
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (const char* memory : {"0", "1", "7", "15", "16", "17", "31", "9223372036854775807", "18446744073709551615"})
      for (Form form : {Form::w, Form::general}) {
        if (slow() && ++turn % 5 != 0) continue;  // both forms in turn
        SCOPED_TRACE(std::string("nodes ") + split + ", memory " + memory + ", form " + std::to_string(static_cast<int>(form)));
        const Info info{{"tonari_inplace_memory", memory}};
        Call c = good(form);
        c.info = info, c.comm = comm, c.type = spread, c.types = all.data(), c.counts = c.sendcounts = one.data();
        c.displs = c.senddispls = form == Form::w ? bytes.data() : elements.data();
        tonari_request request = TONARI_REQUEST_NULL;
        ASSERT_EQ(make(c, Way::persistent, &request), TONARI_SUCCESS) << tonari_last_error();
        tonari_request_info about;
        EXPECT_EQ(tonari_request_get_info(request, &about), TONARI_SUCCESS);
        EXPECT_LE(static_cast<std::uint64_t>(about.scratch_bytes), std::max<std::uint64_t>(std::strtoull(memory, nullptr, 10), 1));
        for (int twice = 0; twice < 2; ++twice) {
          EXPECT_EQ(tonari_start(request), TONARI_SUCCESS);
          EXPECT_EQ(tonari_wait(request), TONARI_SUCCESS) << tonari_last_error();
          if (twice == 0) {
            const std::size_t step = form == Form::w ? 5 : 6;
            for (int j = 0; j < ranks; ++j) EXPECT_EQ(data[step * j + 2], 1'000'000 * j + static_cast<int>(step) * rank + 2) << j;
          }
        }
        EXPECT_TRUE(data == before);
        EXPECT_EQ(tonari_request_free(&request), TONARI_SUCCESS);
      }
    MPI_Comm_free(&comm);
  }
  MPI_Type_free(&spread);
}

// ---- requests

TEST_F(InPlaceErrors, OneShotRequestsCannotBeStartedAgain) {
  for (Form form : all_forms) {
    Call c = good(form);
    c.senddispls = c.displs;
    for (int twice = 0; twice < 2; ++twice) {  // the second one undoes the first
      tonari_request request = TONARI_REQUEST_NULL;
      ASSERT_EQ(make(c, Way::started, &request), TONARI_SUCCESS) << tonari_last_error();
      EXPECT_EQ(tonari_start(request), TONARI_ERR_ARGUMENT);
      EXPECT_NE(std::string(tonari_last_error()).find("one-shot"), std::string::npos) << tonari_last_error();
      EXPECT_EQ(tonari_request_free(&request), TONARI_ERR_ACTIVE);
      EXPECT_NE(request, TONARI_REQUEST_NULL);
      EXPECT_EQ(tonari_wait(request), TONARI_SUCCESS) << tonari_last_error();
      EXPECT_EQ(tonari_start(request), TONARI_ERR_ARGUMENT) << "also when it is complete";
      EXPECT_EQ(tonari_request_free(&request), TONARI_SUCCESS);
      EXPECT_EQ(request, TONARI_REQUEST_NULL);
    }
    EXPECT_TRUE(data == before);
  }
}

TEST_F(InPlaceErrors, ActiveRequestsAreNeitherStartedNorFreed) {
  for (Form form : all_forms) {
    Call c = good(form);
    c.senddispls = c.displs;
    tonari_request request = TONARI_REQUEST_NULL;
    ASSERT_EQ(make(c, Way::persistent, &request), TONARI_SUCCESS) << tonari_last_error();
    for (int twice = 0; twice < 2; ++twice) {
      EXPECT_EQ(tonari_start(request), TONARI_SUCCESS);
      EXPECT_EQ(tonari_start(request), TONARI_ERR_ACTIVE);
      EXPECT_EQ(tonari_request_free(&request), TONARI_ERR_ACTIVE);
      EXPECT_NE(request, TONARI_REQUEST_NULL);
      EXPECT_EQ(tonari_wait(request), TONARI_SUCCESS) << tonari_last_error();
    }
    EXPECT_TRUE(data == before);
    const void* address = nullptr;
    EXPECT_EQ(tonari_request_recv_view(request, 0, &address, nullptr), TONARI_ERR_ARGUMENT) << "blocks are where they are";
    EXPECT_EQ(tonari_request_free(&request), TONARI_SUCCESS);
  }
}

}  // namespace
