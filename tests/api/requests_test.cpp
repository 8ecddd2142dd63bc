// SPDX-License-Identifier: BSD-3-Clause
// Requests in use: halos of one array, absolute addresses, several at once in any order, lives of
// handles, settings, and wisdom.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/counting.hpp"
#include "support/fresh_wisdom.hpp"
#include "support/oracle.hpp"
#include "support/reserved.hpp"

namespace {

using namespace tonari::test;

constexpr const char* algorithms[] = {"linear", "torus", "torus-direct", "joint-basis", "irecv"};

class Requests : public testing::Test {
 protected:
  void SetUp() override {
    t = torus_of_all(2);
    t.periods = {1, 0};
    t.offsets = box(2, -1, 1);
    open();
  }
  void TearDown() override { close(); }

  void open(MPI_Info info = MPI_INFO_NULL) {
    cart = make_cart(t);
    MPI_Comm_rank(cart, &rank);
    ASSERT_OK(tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), info, &near));
  }
  void close() {
    tonari_neighborhood_free(&near);
    if (cart != MPI_COMM_NULL) MPI_Comm_free(&cart);
  }

  Buffers plain(Operation op, int bytes) const {
    Random random(1);
    return {op,
            regular_side(random, Style::plain, gathers(op) ? 1 : t.count(), bytes),
            regular_side(random, Style::plain, t.count(), bytes),
            {}};
  }
  tonari_request make(Buffers& b, MPI_Info info) {
    tonari_request request = TONARI_REQUEST_NULL;
    EXPECT_OK(init(b.op, b.out, b.in, near, info, &request));
    return request;
  }

  void exchange(tonari_request request, Buffers& b, int round) {
    b.prepare(rank, round);
    EXPECT_OK(start_and_wait(request));
    EXPECT_EQ(b.wrong(t, rank, round), "") << "round " << round << "\n"
                                           << tonari_request_describe(request);
  }

  int rank = 0;
  Topology t;
  MPI_Comm cart = MPI_COMM_NULL;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  Info off{{"tonari_tune", "off"}};
};

// ---- A halo of width two around n x m cells: send and receive blocks are subarrays of the same
// array.

class Halo : public Requests {
 protected:
  static constexpr int width = 2, n = 6, m = 9, rows = n + 2 * width, columns = m + 2 * width;

  // What goes towards direction c (-1, 0, 1) along an axis of `cells` cells, and where that from
  // direction -c arrives.
  static int first(int c, int cells, bool sends) {
    if (c == 0) return width;
    if (sends) return c < 0 ? width : cells;
    return c < 0 ? cells + width : 0;
  }
  static int length(int c, int cells) { return c == 0 ? cells : width; }

  MPI_Datatype face(int i, bool sends) const {
    const int c0 = t.offsets[2 * i], c1 = t.offsets[2 * i + 1];
    const int sizes[] = {rows, columns}, sub[] = {length(c0, n), length(c1, m)},
              start[] = {first(c0, n, sends), first(c1, m, sends)};
    MPI_Datatype type;
    MPI_Type_create_subarray(2, sizes, sub, start, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
  }
  static int cell(int rank, int r, int c, int round) {
    return ((round * 64 + rank) * 32 + r) * 32 + c;
  }

  void fill(std::vector<int>& field, int round) const {
    std::fill(field.begin(), field.end(), -1);
    for (int r = width; r < n + width; ++r)
      for (int c = width; c < m + width; ++c) field[r * columns + c] = cell(rank, r, c, round);
  }
  std::vector<int> expected(int round) const {
    std::vector<int> field(rows * columns);
    fill(field, round);
    for (int i = 0; i < t.count(); ++i) {
      const int source = t.source(rank, i), c0 = t.offsets[2 * i], c1 = t.offsets[2 * i + 1];
      if (source < 0) continue;
      for (int r = 0; r < length(c0, n); ++r)
        for (int c = 0; c < length(c1, m); ++c)
          field[(first(c0, n, false) + r) * columns + first(c1, m, false) + c] =
              cell(source, first(c0, n, true) + r, first(c1, m, true) + c, round);
    }
    return field;
  }
};

TEST_F(Halo, OfOneArray) {
  const int count = t.count();
  std::vector<int> field(rows * columns), ones(count, 1);
  const std::vector<MPI_Aint> zeros(count, 0);
  for (const char* algorithm : algorithms)
    for (const char* channel : channel_names) {
      SCOPED_TRACE(std::string(algorithm) + " " + channel);
      std::vector<MPI_Datatype> out, in;
      for (int i = 0; i < count; ++i) out.push_back(face(i, true)), in.push_back(face(i, false));
      const Info info{
          {"tonari_algorithm", algorithm}, {"tonari_channel", channel}, {"tonari_tune", "off"}};
      tonari_request request = TONARI_REQUEST_NULL;
      const int code =
          tonari_alltoallw_init(field.data(), ones.data(), zeros.data(), out.data(), field.data(),
                                ones.data(), zeros.data(), in.data(), near, info, &request);
      for (int i = 0; i < count; ++i) MPI_Type_free(&out[i]), MPI_Type_free(&in[i]);
      ASSERT_OK(code);
      for (int round = 0; round < 2; ++round) {
        fill(field, round);
        EXPECT_OK(start_and_wait(request));
        EXPECT_TRUE(field == expected(round)) << "round " << round;
      }
      EXPECT_OK(tonari_request_free(&request));
    }
}

// ---- MPI_BOTTOM

TEST_F(Requests, AbsoluteAddresses) {
  const int count = t.count();
  for (const char* algorithm : algorithms)
    for (const char* channel : channel_names) {
      SCOPED_TRACE(std::string(algorithm) + " " + channel);
      Random random(17);
      const std::vector<int> sizes(count, 24);
      Buffers b{Operation::alltoallw, w_side(random, sizes), w_side(random, sizes), {}};
      for (Side* side : {&b.out, &b.in})
        for (MPI_Aint& at : side->displacements) {
          MPI_Aint base;
          MPI_Get_address(side->buffer(), &base);
          at = MPI_Aint_add(base, at);
        }
      const Info info{
          {"tonari_algorithm", algorithm}, {"tonari_channel", channel}, {"tonari_tune", "off"}};
      tonari_request request = TONARI_REQUEST_NULL;
      ASSERT_OK(tonari_alltoallw_init(MPI_BOTTOM, b.out.counts.data(), b.out.displacements.data(),
                                      b.out.types.data(), MPI_BOTTOM, b.in.counts.data(),
                                      b.in.displacements.data(), b.in.types.data(), near, info,
                                      &request));
      exchange(request, b, 0);
      EXPECT_OK(tonari_request_free(&request));
    }
}

// Long ones are put from where they lie, if they lie in few pieces, else they are packed; those
// that are passed on lie in windows.
TEST_F(Requests, LongOneSidedMessages) {
  for (const char* algorithm : {"linear", "torus", "torus-direct"})
    for (const Style style : {Style::plain, Style::vector, Style::indexed})
      for (const Operation op : {Operation::alltoall, Operation::allgather}) {
        SCOPED_TRACE(std::string(algorithm) + ", " + name(op) + ", style " +
                     std::to_string(static_cast<int>(style)));
        Random random(5);
        Buffers b{op,
                  regular_side(random, style, gathers(op) ? 1 : t.count(), 24'000),
                  regular_side(random, Style::plain, t.count(), 24'000),
                  {}};
        tonari_request request = make(b, Info{{"tonari_algorithm", algorithm},
                                              {"tonari_channel", "onesided"},
                                              {"tonari_tune", "off"}});
        for (int round = 0; round < 4; ++round) exchange(request, b, round);
        EXPECT_OK(tonari_request_free(&request));
      }
}

// A terabyte, of buffers that are only promised: no window is made for it, and it goes another way,
// from where it lies.
TEST_F(Requests, OneSidedMessagesForWhichThereIsNoMemory) {
  if (world_size() == 1) GTEST_SKIP() << "needs a message to another rank";
  close();
  t.offsets = {1, 0};
  open();
  MPI_Datatype gib, tib;
  MPI_Type_contiguous(1 << 30, MPI_BYTE, &gib);
  MPI_Type_contiguous(1 << 10, gib, &tib);
  MPI_Type_commit(&tib);
  auto* const far = reinterpret_cast<char*>(std::uintptr_t{1} << 50);
  tonari_request request = TONARI_REQUEST_NULL;
  ASSERT_OK(tonari_alltoall_init(far, 1, tib, far + (std::ptrdiff_t{1} << 50), 1, tib, near,
                                 Info{{"tonari_channel", "onesided"}, {"tonari_tune", "off"}},
                                 &request));
  const std::string described = tonari_request_describe(request);
  EXPECT_CONTAINS(described, "bytes that are left");
  EXPECT_OK(tonari_request_free(&request));
  MPI_Type_free(&tib), MPI_Type_free(&gib);
}

// ---- The same blocks, described in the regular, the v and the w form on different ranks

TEST_F(Requests, RanksMayUseDifferentForms) {
  for (const char* algorithm : {"torus", "native"}) {
    t.periods = {1, 1};
    t.offsets = {0, 1, 1, 0, 1, 1};
    if (world_size() < 4) t.offsets = {0, 1};  // no repeated edges, see MPICH
    close();
    open();
    Buffers b = plain(static_cast<Operation>(rank % 3), 12);
    for (Side* side : {&b.out, &b.in})
      for (int i = 0; i < t.count(); ++i)
        side->displacements[i] = b.op == Operation::alltoallw ? 12 * i : i * side->counts[i];
    tonari_request request = make(b, Info{{"tonari_algorithm", algorithm}, {"tonari_tune", "off"}});
    exchange(request, b, 0);
    EXPECT_OK(tonari_request_free(&request));
  }
}

// ---- Several at once

class Several : public Requests {
 protected:
  void SetUp() override {
    Requests::SetUp();
    const Operation ops[] = {Operation::alltoall, Operation::allgather, Operation::alltoall,
                             Operation::allgather};
    const char* const names[] = {"torus", "torus-direct", "linear", "torus"};
    const int bytes[] = {8, 20000, 400, 28};
    for (int k = 0; k < 4; ++k) {
      buffers.push_back(plain(ops[k], bytes[k]));
      const Info info{{"tonari_algorithm", names[k]},
                      {"tonari_channel", channel_names[k % 2]},
                      {"tonari_tune", "off"}};
      requests.push_back(make(buffers[k], info));
      ASSERT_NE(requests[k], TONARI_REQUEST_NULL);
    }
  }
  void TearDown() override {
    for (tonari_request& request : requests) EXPECT_OK(tonari_request_free(&request));
    Requests::TearDown();
  }
  void prepare(int round) {
    for (Buffers& b : buffers) b.prepare(rank, round);
  }
  void check(int round) {
    for (std::size_t k = 0; k < buffers.size(); ++k)
      EXPECT_EQ(buffers[k].wrong(t, rank, round), "") << "request " << k << ", round " << round;
  }
  // Every rank has its own order.
  std::vector<int> order(int round) const {
    std::vector<int> all{0, 1, 2, 3};
    Random random(static_cast<unsigned>(100 * rank + round));
    std::shuffle(all.begin(), all.end(), random);
    return all;
  }

  std::vector<Buffers> buffers;
  std::vector<tonari_request> requests;
};

TEST_F(Several, WaitallAfterStartsInAnyOrder) {
  for (int round = 0; round < 3; ++round) {
    prepare(round);
    std::vector<tonari_request> list;
    for (int k : order(round)) {
      EXPECT_OK(tonari_start(requests[k]));
      list.insert(list.begin(), requests[k]);
    }
    list.push_back(TONARI_REQUEST_NULL);
    EXPECT_OK(tonari_waitall(static_cast<int>(list.size()), list.data()));
    check(round);
  }
}

TEST_F(Several, StartallThenTestsInAnyOrder) {
  for (int round = 0; round < 3; ++round) {
    prepare(round);
    EXPECT_OK(tonari_startall(4, requests.data()));
    const std::vector<int> mine = order(round);
    for (int done = 0; done < 4;) {
      done = 0;
      for (int k : mine) {
        int flag = 0;
        EXPECT_OK(tonari_test(requests[k], &flag));
        done += flag;
      }
    }
    check(round);
  }
}

// A rank that only tests one request until it is complete must be able to: the others' forwarding
// goes on as they do the same.
TEST_F(Several, OneAfterTheOtherInOneOrderForAll) {
  for (int round = 0; round < 2; ++round) {
    prepare(round);
    EXPECT_OK(tonari_startall(4, requests.data()));
    for (int k : {2, 0, 3, 1}) EXPECT_OK(tonari_wait(requests[k]));
    check(round);
  }
}

TEST_F(Several, OutliveTheirNeighborhoodAndAreFreedInAnyOrder) {
  EXPECT_OK(tonari_neighborhood_free(&near));
  MPI_Comm_free(&cart);
  prepare(5);
  EXPECT_OK(tonari_startall(4, requests.data()));
  EXPECT_OK(tonari_waitall(4, requests.data()));
  check(5);
  for (int k : order(0)) EXPECT_OK(tonari_request_free(&requests[k]));
}

TEST_F(Requests, OnTwoNeighborhoodsAtOnceFreedInDifferentOrders) {
  tonari_neighborhood other = TONARI_NEIGHBORHOOD_NULL;
  ASSERT_OK(tonari_neighborhood_create_cart(cart, t.count(), t.offsets.data(), off, &other));
  Buffers first = plain(Operation::alltoall, 100), second = plain(Operation::alltoall, 100);
  tonari_request one = make(first, off);
  std::swap(near, other);
  tonari_request two = make(second, off);
  first.prepare(rank, 1), second.prepare(rank, 2);
  tonari_request both[] = {one, two};
  if (rank % 2) std::swap(both[0], both[1]);
  EXPECT_OK(tonari_startall(2, both));
  EXPECT_OK(tonari_waitall(2, both));
  EXPECT_EQ(first.wrong(t, rank, 1), "");
  EXPECT_EQ(second.wrong(t, rank, 2), "");
  tonari_neighborhood_free(&near);
  tonari_neighborhood_free(&other);
  // in a different order on odd ranks
  for (tonari_request& request : both) EXPECT_OK(tonari_request_free(&request));
}

// ---- Settings

TEST_F(Requests, InfoOverridesTheNeighborhoodAndTheEnvironmentOverridesBoth) {
  close();
  const Info keys{
      {"tonari_algorithm", "torus"}, {"tonari_channel", "p2p-typed"}, {"tonari_tune", "off"}};
  open(keys);
  const auto chosen = [&](MPI_Info info) {
    Buffers b = plain(Operation::alltoall, 8);
    tonari_request request = make(b, info);
    tonari_request_info about;
    EXPECT_OK(tonari_request_get_info(request, &about));
    const std::string text =
        std::string(about.algorithm) + " " + about.channel + " " + about.reason;
    tonari_request_free(&request);
    return text;
  };
  EXPECT_EQ(chosen(MPI_INFO_NULL), "torus p2p-typed forced");
  EXPECT_EQ(chosen(Info{{"tonari_algorithm", "linear"}}), "linear p2p-typed forced");
  setenv("TONARI_ALGORITHM", "torus-direct", 1);
  setenv("TONARI_CHANNEL", "p2p-packed", 1);
  EXPECT_EQ(chosen(Info{{"tonari_algorithm", "linear"}}), "torus-direct p2p-packed forced");
  unsetenv("TONARI_ALGORITHM");
  unsetenv("TONARI_CHANNEL");
  EXPECT_EQ(chosen(Info{{"tonari_algorithm", "auto"}, {"tonari_channel", "auto"}}),
            "torus-direct p2p-packed fixed rule");
}

TEST_F(Requests, InfoCountsWhatIsSent) {
  Buffers b = plain(Operation::alltoall, 8);
  const Info info{{"tonari_algorithm", "irecv"}, {"tonari_tune", "off"}};
  tonari_request request = make(b, info);
  auto about = with_all_bits_set<tonari_request_info>();
  ASSERT_OK(tonari_request_get_info(request, &about));
  EXPECT_TRUE(reserved_is_zero(about));
  int away = 0;
  for (int i = 0; i < t.count(); ++i) away += t.target(rank, i) >= 0 && t.target(rank, i) != rank;
  int sent = 0;  // blocks for the rank itself are copied unless they wrap around
  for (int i = 0; i < t.count(); ++i) sent += t.target(rank, i) >= 0;
  EXPECT_GE(about.messages, away);
  EXPECT_LE(about.messages, sent);
  EXPECT_EQ(about.bytes, 8 * about.messages);
  tonari_request_free(&request);
}

// By a clock that only tells how often it was asked: at the beginning of init, and at its end.
TEST_F(Requests, InfoSaysHowLongInitTook) {
  static double asked;
  asked = 0;
  Buffers b = plain(Operation::alltoall, 8);
  const Info info{{"tonari_algorithm", "irecv"}, {"tonari_tune", "off"}};
  tonari_request request = TONARI_REQUEST_NULL;
  {
    const OtherClock clock([] { return asked += 1; });
    request = make(b, info);
  }
  tonari_request_info about{};
  EXPECT_OK(tonari_request_get_info(request, &about));
  EXPECT_EQ(about.init_seconds, 1);
  tonari_request_free(&request);
}

// ---- Measuring and remembering

class Wisdom : public Requests {
 protected:
  struct Outcome {
    std::string algorithm, reason;
    double measured;
  };
  // One exchange with an outcome that must be the same on all ranks.
  Outcome exchange(MPI_Info info, int bytes) {
    Buffers b = plain(Operation::alltoall, bytes);
    tonari_request request = make(b, info);
    for (int round = 0; round < 2; ++round) Requests::exchange(request, b, round);
    tonari_request_info about;
    EXPECT_OK(tonari_request_get_info(request, &about));
    const Outcome mine{about.algorithm, about.reason, about.measured_seconds};
    // who was decided by a contest says when that has paid
    const std::string words = tonari_request_describe(request);
    const bool contest = mine.reason == "measured" || mine.reason == "wisdom";
    EXPECT_EQ(words.find("\nbreak-even: ") != words.npos, contest) << words;
    const bool unknown = words.find("break-even: unknown") != words.npos,
               native = words.find("us  native (predicted") != words.npos;
    EXPECT_FALSE(native && unknown) << words;
    char both[128] = "";
    const std::string text = mine.algorithm + about.variant + about.channel + mine.reason;
    text.copy(both, sizeof both - 1);
    MPI_Bcast(both, sizeof both, MPI_CHAR, 0, MPI_COMM_WORLD);
    EXPECT_EQ(text.substr(0, sizeof both - 1), both);
    tonari_request_free(&request);
    return mine;
  }

  const FreshWisdom wisdom{"0.005"};
  const std::string& directory = wisdom.directory();
};

TEST_F(Wisdom, IsMeasuredOnceAndThenRemembered) {
  if (world_size() == 1 || ranks_are_slow())
    GTEST_SKIP() << "for 2 to 4 ranks, where they are fast";
  const Info automatic{{"tonari_tune", "auto"}};
  const EvenClock clock;
  const Outcome first = exchange(automatic, 8);
  EXPECT_EQ(first.reason, "measured");
  const Outcome second = exchange(automatic, 8);
  EXPECT_GT(first.measured, 0);
  EXPECT_EQ(second.reason, "wisdom");
  EXPECT_EQ(exchange(automatic, 8).algorithm, second.algorithm);
  EXPECT_TRUE(rank != 0 || std::filesystem::exists(directory + "/wisdom"));
  EXPECT_EQ(exchange(automatic, 4096).reason, "measured") << "another size is another question";
  EXPECT_EQ(exchange(Info{{"tonari_tune", "measure"}}, 8).reason, "measured")
      << "measure measures again";
  EXPECT_EQ(exchange(Info{{"tonari_tune", "off"}}, 8).reason, "fixed rule");
  EXPECT_EQ(exchange(Info{{"tonari_tune", "model"}}, 8).reason, "model");
}

TEST_F(Wisdom, NonsenseInTheFileIsNotBelieved) {
  if (world_size() == 1 || world_size() > 3 || ranks_are_slow())
    GTEST_SKIP() << "for 2 and 3 ranks, where they are fast";
  const Info automatic{{"tonari_tune", "auto"}};
  const EvenClock clock;
  exchange(automatic, 8);
  if (rank == 0) {  // every entry gets a value that names nothing
    std::ifstream in(directory + "/wisdom");
    std::string lines, line;
    while (std::getline(in, line))
      lines += line.substr(0, line.find('\t')) +
               (line.find('\t') == std::string::npos ? "" : "\tquantum/p2p-packed") + "\n";
    in.close();
    std::ofstream(directory + "/wisdom") << lines;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(exchange(automatic, 8).reason, "measured");
  EXPECT_EQ(exchange(automatic, 8).reason, "wisdom");
}

}  // namespace
