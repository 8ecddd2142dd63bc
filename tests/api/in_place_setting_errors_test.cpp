// SPDX-License-Identifier: BSD-3-Clause
// Exchanges in place with types whose elements overlap, with settings that mean nothing, and with
// budgets however small: the same error everywhere, or a correct result.
#include <cstdint>
#include <cstdlib>

#include "support/in_place_errors.hpp"

namespace {

using namespace tonari::test;

// An overlapping element, and how many of it a block has.
struct BadType {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int count = 1;
};

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
  const std::vector<int> one(static_cast<std::size_t>(ranks), 1),
      two(static_cast<std::size_t>(ranks), 2);
  Call w = good(Form::w), wrong = w;
  w.types = wrong.types = all.data();
  w.counts = one.data(), wrong.counts = two.data();
  expect_works(w);
  expect_refused(w, wrong, TONARI_ERR_BUFFERS, {"on " + who, "block 0", "datatype", "overlap"});
  // In the general exchange places are counted in extents: two neighbors share bytes, whether they
  // are of one block or not.
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
  refuse_in({Form::general}, TONARI_ERR_ARGUMENT, {"extent", "0", "positive"},
            [&](Call& c) { c.type = flat; });
  MPI_Type_free(&flat);
}

// ---- settings

class SettingInPlaceErrors : public InPlaceErrors {
 protected:
  // The same wrong value as info key and as environment variable, on the last rank only.
  void refuse_value(const char* key, const char* variable, const char* value, int code,
                    std::initializer_list<std::string> words) {
    SCOPED_TRACE(std::string(key) + " " + value);
    const Info wrong{{key, value}};
    refuse_in(slow() ? Forms{all_forms[static_cast<std::size_t>(turn) % 4]} : all_forms, code,
              words, [&](Call& c) { c.info = wrong; });
    if (rank == last) setenv(variable, value, 1);
    const int result = make(good(Form::v), Way::blocking, nullptr);
    unsetenv(variable);
    expect_everywhere(result, code, words);
    EXPECT_TRUE(data == before);
  }
};

TEST_F(SettingInPlaceErrors, ValuesThatMeanNothing) {
  for (const char* value : {"-1", "1MB", "lots", " 1", "99999999999999999999999"})
    refuse_value("tonari_inplace_memory", "TONARI_INPLACE_MEMORY", value, TONARI_ERR_ARGUMENT,
                 {"tonari_inplace_memory", "TONARI_INPLACE_MEMORY", value, "bytes"});
  for (const char* value : {"torus", "general"})
    refuse_value("tonari_algorithm", "TONARI_INPLACE_ALGORITHM", value, TONARI_ERR_ALGORITHM,
                 {"tonari_algorithm", "TONARI_INPLACE_ALGORITHM", value, "auto", "mpich-order",
                  "linear-shift", "hierarchical-sets"});
  refuse_value("tonari_channel", "TONARI_CHANNEL", "pigeon", TONARI_ERR_ARGUMENT,
               {"tonari_channel", "TONARI_CHANNEL", "pigeon", "shared", "p2p-packed"});
  for (const char* value : {"0", "-3", "soon", "nan"})
    refuse_value("tonari_timeout", "TONARI_TIMEOUT", value, TONARI_ERR_ARGUMENT,
                 {"tonari_timeout", "TONARI_TIMEOUT", value, "positive"});
  refuse_value("tonari_progress", "TONARI_PROGRESS", "sometimes", TONARI_ERR_ARGUMENT,
               {"tonari_progress", "sometimes", "calls", "thread"});
}

// As info key and as environment variable, seen by what the request may hold.
TEST_F(SettingInPlaceErrors, MemoryMayHaveAUnit) {
  const auto scratch = [&](const char* memory, bool by_variable) {
    const Info info{{"tonari_inplace_memory", memory}};
    Call c = good(Form::general);
    if (by_variable)
      setenv("TONARI_INPLACE_MEMORY", memory, 1);
    else
      c.info = info;
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(make(c, Way::persistent, &request));
    unsetenv("TONARI_INPLACE_MEMORY");
    tonari_request_info about{};
    EXPECT_OK(tonari_request_get_info(request, &about));
    EXPECT_OK(tonari_request_free(&request));
    return about.scratch_bytes;
  };
  for (const bool by_variable : {false, true}) {
    const MPI_Count bytes = scratch("1024", by_variable);
    for (const char* memory : {"1K", "1KiB", "1k"})
      EXPECT_EQ(scratch(memory, by_variable), bytes) << memory;
    if (ranks > 1) {
      EXPECT_GT(bytes, scratch("1", by_variable));
    }
  }
}

TEST_F(SettingInPlaceErrors, TheGeneralExchangeHasNoOrder) {
  const Info shift{{"tonari_algorithm", "linear-shift"}}, any{{"tonari_algorithm", "auto"}};
  refuse_in({Form::general}, TONARI_ERR_ALGORITHM,
            {"tonari_algorithm", "TONARI_INPLACE_ALGORITHM", "linear-shift", "general"},
            [&](Call& c) { c.info = shift; });
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
    for (const char* memory :
         {"0", "1", "7", "15", "16", "17", "31", "9223372036854775807", "18446744073709551615"})
      for (Form form : {Form::w, Form::general}) {
        if (slow() && ++turn % 5 != 0) continue;  // both forms in turn
        SCOPED_TRACE(std::string("nodes ") + split + ", memory " + memory + ", form " +
                     std::to_string(static_cast<int>(form)));
        const Info info{{"tonari_inplace_memory", memory}};
        Call c = good(form);
        c.info = info, c.comm = comm, c.type = spread, c.types = all.data(),
        c.counts = c.sendcounts = one.data();
        c.displs = c.senddispls = form == Form::w ? bytes.data() : elements.data();
        tonari_request request = TONARI_REQUEST_NULL;
        ASSERT_OK(make(c, Way::persistent, &request));
        tonari_request_info about;
        EXPECT_OK(tonari_request_get_info(request, &about));
        EXPECT_LE(static_cast<std::uint64_t>(about.scratch_bytes),
                  std::max<std::uint64_t>(std::strtoull(memory, nullptr, 10), 1));
        for (int twice = 0; twice < 2; ++twice) {
          EXPECT_OK(tonari_start(request));
          EXPECT_OK(tonari_wait(request));
          if (twice == 0) {
            const std::size_t step = form == Form::w ? 5 : 6;
            for (int j = 0; j < ranks; ++j)
              EXPECT_EQ(data[step * j + 2], 1'000'000 * j + static_cast<int>(step) * rank + 2) << j;
          }
        }
        EXPECT_TRUE(data == before);
        EXPECT_OK(tonari_request_free(&request));
      }
    MPI_Comm_free(&comm);
  }
  MPI_Type_free(&spread);
}

}  // namespace
