// SPDX-License-Identifier: BSD-3-Clause
// Bad input of exchanges in place, and requests used wrongly: all ranks get the same code and
// sentence from each kind of call, the buffer is as it was, and a correct call afterwards works.
// Types, settings and budgets are in in_place_setting_errors_test.cpp.
#include <climits>
#include <cstdint>

#include "support/in_place_errors.hpp"
#include "support/wide_types.hpp"

namespace {

using namespace tonari::test;

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
      expect_everywhere(make(good(form), way, rank == last ? nullptr : &request),
                        TONARI_ERR_ARGUMENT, {"`request` is NULL"});
      EXPECT_EQ(request, TONARI_REQUEST_NULL);
    }
  EXPECT_TRUE(data == before);
  expect_usable();
}

TEST_F(InPlaceErrors, NullBufferOnlyWithoutElements) {
  refuse_in(all_forms, TONARI_ERR_ARGUMENT, {"`buf` is NULL"}, [](Call& c) { c.buf = nullptr; });
  const std::vector<int> none(static_cast<std::size_t>(ranks), 0);
  for (Form form : all_forms) {
    Call c = good(form);
    c.buf = nullptr, c.count = 0, c.counts = c.sendcounts = none.data();
    EXPECT_OK(make(c, Way::blocking, nullptr));
  }
}

TEST_F(InPlaceErrors, InPlaceIsNoBuffer) {
  refuse_in(all_forms, TONARI_ERR_ARGUMENT, {"`buf` is MPI_IN_PLACE", "give the buffer itself"},
            [](Call& c) { c.buf = MPI_IN_PLACE; });
}

TEST_F(InPlaceErrors, NullArrays) {
  refuse_in({Form::v, Form::w}, TONARI_ERR_ARGUMENT, {"`counts` is NULL"},
            [](Call& c) { c.counts = nullptr; });
  refuse_in({Form::v, Form::w}, TONARI_ERR_ARGUMENT, {"`displs` is NULL"},
            [](Call& c) { c.displs = nullptr; });
  refuse_in({Form::w}, TONARI_ERR_ARGUMENT, {"`types` is NULL"},
            [](Call& c) { c.types = nullptr; });
  refuse_in({Form::general}, TONARI_ERR_ARGUMENT, {"`recvcounts` is NULL"},
            [](Call& c) { c.counts = nullptr; });
  refuse_in({Form::general}, TONARI_ERR_ARGUMENT, {"`recvdispls` is NULL"},
            [](Call& c) { c.displs = nullptr; });
  refuse_in({Form::general}, TONARI_ERR_ARGUMENT, {"`sendcounts` is NULL"},
            [](Call& c) { c.sendcounts = nullptr; });
  refuse_in({Form::general}, TONARI_ERR_ARGUMENT, {"`senddispls` is NULL"},
            [](Call& c) { c.senddispls = nullptr; });
}

TEST_F(InPlaceErrors, NullTypes) {
  std::vector<MPI_Datatype> hole = types;
  hole[last] = MPI_DATATYPE_NULL;
  refuse_in(all_forms, TONARI_ERR_ARGUMENT, {"type", "MPI_DATATYPE_NULL"},
            [&](Call& c) { c.type = MPI_DATATYPE_NULL, c.types = hole.data(); });
}

TEST_F(InPlaceErrors, NullTypesDescribeNoElements) {
  const std::vector<MPI_Datatype> null(types.size(), MPI_DATATYPE_NULL);
  const std::vector<int> none(counts.size(), 0);
  for (Form form : {Form::regular, Form::v, Form::w}) {
    Call c = good(form);
    c.count = 0, c.counts = none.data();
    if (rank == last) c.type = MPI_DATATYPE_NULL, c.types = null.data();
    EXPECT_OK(make(c, Way::blocking, nullptr));
  }
  EXPECT_TRUE(data == before);
  expect_usable();
}

TEST_F(InPlaceErrors, NegativeCounts) {
  std::vector<int> bad = counts;
  bad[last] = -7;
  refuse_in(all_forms, TONARI_ERR_ARGUMENT, {"count", "-7", "negative"},
            [&](Call& c) { c.count = -7, c.counts = bad.data(); });
  refuse_in({Form::general}, TONARI_ERR_ARGUMENT,
            {"`sendcounts[" + std::to_string(last) + "]` is -7"},
            [&](Call& c) { c.sendcounts = bad.data(); });
}

TEST_F(InPlaceErrors, NegativeDisplacements) {
  std::vector<MPI_Aint> bad = at;
  bad[last] = -4;
  const std::string number = "displs[" + std::to_string(last) + "]` is";
  refuse_in({Form::v, Form::w, Form::general}, TONARI_ERR_ARGUMENT, {number, "-4", "negative"},
            [&](Call& c) { c.displs = bad.data(); });
  refuse_in({Form::general}, TONARI_ERR_ARGUMENT, {"`send" + number, "-4", "negative"},
            [&](Call& c) { c.senddispls = bad.data(); });
}

TEST_F(InPlaceErrors, WhatDoesNotFit) {
  std::vector<MPI_Aint> far = at;
  far[last] = PTRDIFF_MAX / 2;
  refuse_in({Form::v, Form::general}, TONARI_ERR_OVERFLOW, {"does not fit"},
            [&](Call& c) { c.displs = far.data(); });
  refuse_in({Form::general}, TONARI_ERR_OVERFLOW, {"does not fit"},
            [&](Call& c) { c.senddispls = far.data(); });
  // In bytes the displacement alone fits, its end does not.
  std::vector<MPI_Aint> end = at;
  end[last] = PTRDIFF_MAX;
  refuse_in({Form::general}, TONARI_ERR_OVERFLOW, {"does not fit"},
            [&](Call& c) { c.displs = end.data(), c.type = MPI_BYTE; });
}

TEST_F(InPlaceErrors, TypesThatAreTooWide) {
  const WideTypes wide;
  for (MPI_Datatype type : wide.all()) {
    std::vector<MPI_Datatype> one = types;
    one[last] = type;
    refuse_in(all_forms, TONARI_ERR_OVERFLOW, {"does not fit"},
              [&](Call& c) { c.type = type, c.types = one.data(); });
  }
  std::vector<MPI_Aint> far = bytes_at;
  far[last] = PTRDIFF_MAX - 2;
  refuse_in({Form::w}, TONARI_ERR_OVERFLOW, {"address of", "does not fit"},
            [&](Call& c) { c.displs = far.data(); });
}

TEST_F(InPlaceErrors, TypesThatAreTooWideOnAllRanks) {
  const WideTypes wide;
  for (MPI_Datatype type : wide.all())
    for (Form form : all_forms) {
      Call c = good(form);
      std::vector<MPI_Datatype> same(static_cast<std::size_t>(ranks), type);
      c.type = type, c.types = same.data();
      expect_refused(c, c, TONARI_ERR_OVERFLOW, {"does not fit"});
    }
  expect_usable();
}

// ---- ranks that disagree

TEST_F(InPlaceErrors, SizesThatDoNotMatchNameThePairAndBothSizes) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  std::vector<int> three = counts;
  three[0] = 3;
  // Rank 0 hears that the last one has 12 bytes for it, and has 8 itself; it is the lowest rank
  // that knows.
  refuse_in({Form::v, Form::w}, TONARI_ERR_MISMATCH, {who + " ", "rank 0", "12 bytes", "8 bytes"},
            [&](Call& c) { c.counts = three.data(); });
  refuse_in({Form::regular}, TONARI_ERR_MISMATCH, {who + " ", "rank 0", "12 bytes", "8 bytes"},
            [](Call& c) { c.count = 3; });
  refuse_in({Form::general}, TONARI_ERR_MISMATCH, {who + " sends 12 bytes to rank 0", "8 bytes"},
            [&](Call& c) { c.sendcounts = three.data(); });
  refuse_in({Form::general}, TONARI_ERR_MISMATCH, {"rank 0 sends 8 bytes to " + who, "12 bytes"},
            [&](Call& c) { c.counts = three.data(); });
}

TEST_F(InPlaceErrors, SizesAreComparedInBytes) {
  Call c = good(Form::regular);
  if (rank == last) c.count = 8, c.type = MPI_BYTE;
  expect_works(c);
}

TEST_F(InPlaceErrors, TheGeneralExchangeToItselfMustMatchToo) {
  std::vector<int> three = counts;
  three[last] = 3;
  refuse_in({Form::general}, TONARI_ERR_MISMATCH, {who + " sends 12 bytes to " + who, "8 bytes"},
            [&](Call& c) { c.sendcounts = three.data(), c.senddispls = at.data(); });
}

TEST_F(InPlaceErrors, SomeCallTheGeneralExchangeOthersASymmetricOne) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  for (Form form : symmetric_forms)
    expect_refused(good(form), good(Form::general), TONARI_ERR_MISMATCH, {"symmetric", "general"});
  expect_usable();
}

TEST_F(InPlaceErrors, SettingsThatDiffer) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  const Info shift{{"tonari_algorithm", "linear-shift"}}, packed{{"tonari_channel", "p2p-packed"}};
  refuse_in(symmetric_forms, TONARI_ERR_MISMATCH, {"info keys", "TONARI_"},
            [&](Call& c) { c.info = shift; });
  refuse_in(all_forms, TONARI_ERR_MISMATCH, {"info keys", "TONARI_"},
            [&](Call& c) { c.info = packed; });
}

TEST_F(InPlaceErrors, TimeoutsAndMemoryMayDiffer) {
  const Info own{{"tonari_timeout", std::to_string(5 + rank)},
                 {"tonari_inplace_memory", std::to_string(100 + rank)}};
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
  refuse_in({Form::v, Form::w}, TONARI_ERR_BUFFERS,
            {"on " + who, "blocks", " 0", std::to_string(last), "overlap"},
            [&](Call& c) { c.displs = c.form == Form::w ? bytes.data() : elements.data(); });
  refuse_in({Form::general}, TONARI_ERR_BUFFERS, {"on " + who, "receive blocks", "overlap"},
            [&](Call& c) { c.displs = elements.data(); });
  refuse_in({Form::general}, TONARI_ERR_BUFFERS, {"on " + who, "send blocks", "overlap"},
            [&](Call& c) { c.senddispls = elements.data(); });
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
  // Everything one integer further on, then back: every receive block overlaps one or two send
  // blocks.
  std::vector<MPI_Aint> here, further;
  for (int j = 0; j < ranks; ++j) here.push_back(2 * j), further.push_back(2 * j + 1);
  Call on = good(Form::general), back_again = on;
  on.senddispls = here.data(), on.displs = further.data();
  back_again.senddispls = further.data(), back_again.displs = here.data();
  EXPECT_OK(make(on, Way::blocking, nullptr));
  for (int j = 0; j < ranks; ++j)
    for (int k = 0; k < 2; ++k) EXPECT_EQ(data[2 * j + 1 + k], 1'000'000 * j + 2 * rank + k);
  EXPECT_OK(make(back_again, Way::blocking, nullptr));
  for (int k = 0; k < 2 * ranks; ++k) EXPECT_EQ(data[k], before[k]);
}

// ---- requests

TEST_F(InPlaceErrors, OneShotRequestsCannotBeStartedAgain) {
  for (Form form : all_forms) {
    Call c = good(form);
    c.senddispls = c.displs;
    for (int twice = 0; twice < 2; ++twice) {  // the second one undoes the first
      tonari_request request = TONARI_REQUEST_NULL;
      ASSERT_OK(make(c, Way::started, &request));
      EXPECT_EQ(tonari_start(request), TONARI_ERR_ARGUMENT);
      EXPECT_NE(std::string(tonari_last_error()).find("one-shot"), std::string::npos)
          << tonari_last_error();
      EXPECT_EQ(tonari_request_free(&request), TONARI_ERR_ACTIVE);
      EXPECT_NE(request, TONARI_REQUEST_NULL);
      EXPECT_OK(tonari_wait(request));
      EXPECT_EQ(tonari_start(request), TONARI_ERR_ARGUMENT) << "also when it is complete";
      EXPECT_OK(tonari_request_free(&request));
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
    ASSERT_OK(make(c, Way::persistent, &request));
    for (int twice = 0; twice < 2; ++twice) {
      EXPECT_OK(tonari_start(request));
      EXPECT_EQ(tonari_start(request), TONARI_ERR_ACTIVE);
      EXPECT_EQ(tonari_request_free(&request), TONARI_ERR_ACTIVE);
      EXPECT_NE(request, TONARI_REQUEST_NULL);
      EXPECT_OK(tonari_wait(request));
    }
    EXPECT_TRUE(data == before);
    const void* address = nullptr;
    EXPECT_EQ(tonari_request_recv_view(request, 0, &address, nullptr), TONARI_ERR_ARGUMENT)
        << "blocks are where they are";
    EXPECT_OK(tonari_request_free(&request));
  }
}

}  // namespace
