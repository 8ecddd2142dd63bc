// SPDX-License-Identifier: BSD-3-Clause
// How a symmetric in-place exchange is chosen: once by measuring, then from wisdom, and without a
// trace in the program's buffer.
#include "support/counting.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/in_place_errors.hpp"

namespace {

using namespace tonari::test;

struct Chosen {
  std::string algorithm, channel, reason, text;
  double measured = 0;
};

// Blocks of `count` integers with one between them, of which each rank and element has its own.
class InPlaceChoice : public testing::Test {
 protected:
  int value(int owner, int to, int k) const { return (100 * owner + to) * 10'000 + k; }
  std::vector<int> content(int count, bool after) const {
    std::vector<int> data;
    for (int j = 0; j < ranks; ++j) {
      for (int k = 0; k < count; ++k) data.push_back(after ? value(j, rank, k) : value(rank, j, k));
      data.push_back(-1);
    }
    return data;
  }

  static int init(Form form, int count, void* data, const Info& info, tonari_request* request) {
    const auto n = static_cast<std::size_t>(world_size());
    const std::vector<int> counts(n, count);
    std::vector<MPI_Aint> elements, bytes;
    for (int j = 0; j < world_size(); ++j) {
      elements.push_back(j * (count + 1));
      bytes.push_back(elements.back() * static_cast<MPI_Aint>(sizeof(int)));
    }
    MPI_Datatype padded;  // of a block and what is behind it; not committed
    MPI_Type_contiguous(count, MPI_INT, &padded);
    MPI_Datatype resized;
    MPI_Type_create_resized(padded, 0, static_cast<MPI_Aint>(sizeof(int)) * (count + 1), &resized);
    const std::vector<MPI_Datatype> types(n, MPI_INT);
    Call call{.form = form, .buf = data, .count = 1, .counts = counts.data()};
    call.displs = form == Form::w ? bytes.data() : elements.data();
    call.type = form == Form::regular ? resized : MPI_INT;
    call.types = types.data(), call.info = info;
    const int code = make(call, Way::persistent, request);
    MPI_Type_free(&padded), MPI_Type_free(&resized);
    return code;
  }

  // The same on all ranks; init leaves the buffer as it was, and the request swaps it.
  Chosen choose(Form form, int count, const Info& info) {
    std::vector<int> data = content(count, false);
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(init(form, count, data.data(), info, &request));
    EXPECT_TRUE(data == content(count, false)) << "init has changed the buffer";
    tonari_request_info about{};
    EXPECT_OK(tonari_request_get_info(request, &about));
    const Chosen chosen{about.algorithm, about.channel, about.reason,
                        tonari_request_describe(request), about.measured_seconds};
    for (const bool after : {true, false}) {
      EXPECT_OK(tonari_start(request));
      EXPECT_OK(tonari_wait(request));
      EXPECT_TRUE(data == content(count, after)) << chosen.text;
    }
    EXPECT_OK(tonari_request_free(&request));
    char first[96] = "";
    const std::string mine = chosen.algorithm + " " + chosen.reason;
    mine.copy(first, sizeof first - 1);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    EXPECT_EQ(mine, first);
    return chosen;
  }

  static bool says(const Chosen& chosen, const char* words) {
    return chosen.text.find(words) != std::string::npos;
  }

  int rank = world_rank(), ranks = world_size();
  const FreshWisdom wisdom{"0.004"};
  const Info automatic{{"tonari_tune", "auto"}}, measure{{"tonari_tune", "measure"}};
};

class InPlaceWisdom : public InPlaceChoice {
 protected:
  void SetUp() override {
    if (ranks_are_slow() || ranks == 1) GTEST_SKIP() << "for ranks that are fast";
  }

 private:
  const EvenClock clock_;
};

TEST_F(InPlaceChoice, LeavesTheBufferAsItWas) {
  const Info itself{{"tonari_tune", "measure"}, {"tonari_inplace_memory", "1000"}};
  for (const Form form : ranks_are_slow() ? Forms{Form::v} : symmetric_forms)
    for (const Info* info : {&measure, &itself}) {
      const Chosen chosen = choose(form, 300, *info);
      // one rank swaps nothing; two have one order and, with so little memory, one channel
      const bool single = ranks == 1 || (ranks == 2 && info == &itself);
      EXPECT_EQ(chosen.reason, single ? "fixed rule" : "measured") << chosen.text;
    }
}

TEST_F(InPlaceWisdom, IsMeasuredOnceAndThenRemembered) {
  for (const Form form : symmetric_forms) {
    SCOPED_TRACE("form " + std::to_string(static_cast<int>(form)));
    const int count = 8 << static_cast<int>(form);  // another question
    const Chosen first = choose(form, count, automatic);
    EXPECT_EQ(first.reason, "measured");
    EXPECT_GT(first.measured, 0);
    EXPECT_TRUE(says(first, "native")) << first.text;
    const Chosen second = choose(form, count, automatic);
    EXPECT_EQ(second.reason, "wisdom");
    EXPECT_EQ(choose(form, count, automatic).algorithm, second.algorithm);
    EXPECT_EQ(choose(form, count, measure).reason, "measured") << "measure measures again";
    EXPECT_EQ(choose(form, count, Info{{"tonari_tune", "model"}}).reason, "fixed rule");
    EXPECT_EQ(choose(form, count, Info{{"tonari_tune", "off"}}).reason, "fixed rule");
  }
  EXPECT_EQ(choose(Form::v, 3000, automatic).reason, "measured") << "another size";
}

TEST_F(InPlaceWisdom, SaysItsBreakEven) {
  const Chosen first = choose(Form::v, 8, measure);
  EXPECT_TRUE(says(first, "break-even: ")) << first.text;
  EXPECT_FALSE(says(first, "break-even: unknown") && !says(first, "native does not apply"))
      << first.text;
  const Chosen second = choose(Form::v, 8, automatic);
  EXPECT_EQ(says(second, "break-even: unknown"), says(first, "break-even: unknown"))
      << "wisdom holds both times\n"
      << second.text;
}

// What has no copy is measured only where the program says so, and without the MPI's own.
TEST_F(InPlaceWisdom, LargeBuffersAreMeasuredThemselves) {
  const Info small{{"tonari_tune", "auto"}, {"tonari_inplace_memory", "70000"}},
      itself{{"tonari_tune", "measure"}, {"tonari_inplace_memory", "70000"}};
  for (const Form form : symmetric_forms) {
    const int count = 20'000 << static_cast<int>(form);  // another question
    const Chosen before = choose(form, count, small);
    EXPECT_EQ(before.reason, "fixed rule");
    EXPECT_TRUE(says(before, "copies of the buffer do not fit")) << before.text;
    const Chosen chosen = choose(form, count, itself);
    EXPECT_EQ(chosen.reason, "measured");
    EXPECT_NE(chosen.algorithm, "native");
    EXPECT_TRUE(says(chosen, "break-even: unknown")) << chosen.text;
    EXPECT_EQ(choose(form, count, small).reason, "wisdom") << "what was measured there is known";
  }
}

TEST_F(InPlaceChoice, WhatIsAskedForIsTaken) {
  const Chosen order = choose(Form::v, 8, Info{{"tonari_algorithm", "linear-shift"}});
  EXPECT_EQ(order.algorithm, "linear-shift");
  const Chosen channel = choose(Form::v, 8, Info{{"tonari_channel", "p2p-packed"}});
  EXPECT_EQ(channel.channel, "p2p-packed");
  EXPECT_NE(channel.algorithm, "native");
  const Chosen both = choose(Form::v, 8,
                             Info{{"tonari_algorithm", "mpich-order"},
                                  {"tonari_channel", "p2p-packed"},
                                  {"tonari_tune", "measure"}});
  EXPECT_EQ(both.algorithm + " " + both.channel + " " + both.reason,
            "mpich-order p2p-packed forced");
  EXPECT_FALSE(says(both, "break-even")) << both.text;
}

TEST_F(InPlaceChoice, OneShotCallsMeasureNothing) {
  std::vector<int> data(static_cast<std::size_t>(ranks));
  for (int j = 0; j < ranks; ++j) data[j] = value(rank, j, 0);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_ialltoall_inplace(data.data(), 1, MPI_INT, MPI_COMM_WORLD, measure, &request));
  tonari_request_info about{};
  EXPECT_OK(tonari_request_get_info(request, &about));
  EXPECT_STREQ(about.reason, "fixed rule");
  EXPECT_OK(tonari_wait(request));
  for (int j = 0; j < ranks; ++j) EXPECT_EQ(data[j], value(j, rank, 0));
  EXPECT_OK(tonari_request_free(&request));
}

TEST_F(InPlaceChoice, RanksMustTuneAlike) {
  if (ranks == 1) GTEST_SKIP() << "needs two ranks";
  std::vector<int> data = content(1, false);
  tonari_request request = TONARI_REQUEST_NULL;
  expect_everywhere(init(Form::v, 1, data.data(), rank == 0 ? automatic : measure, &request),
                    TONARI_ERR_MISMATCH, {"tonari_tune", "'auto' on rank 0", "'measure'"});
}

}  // namespace
