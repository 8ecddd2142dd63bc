// SPDX-License-Identifier: BSD-3-Clause
// Planning with one rank per process: every message arrives, in order, in its own exchange.
#include "engine/comm/mpi_bsp_comm.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <thread>

#include "engine/wait/agree.hpp"
#include "mpi/owned_comm.hpp"
#include "planners/graphs/graphs.hpp"
#include "planners/graphs/isomorphic.hpp"
#include "planners/graphs/mirror.hpp"
#include "support/counting.hpp"
#include "support/errors.hpp"
#include "support/grids.hpp"
#include "support/oracle.hpp"

namespace tonari {
namespace {

using test::world_rank, test::world_size;

MPI_Comm duplicate() {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  return copy;
}

struct Post {
  std::int32_t from, to;
  std::vector<Word> words;
  friend bool operator==(const Post&, const Post&) = default;
};

// What a rank posts in an exchange; every rank can tell for every rank. Some have nothing to say,
// some a lot.
std::vector<Post> posts_of(int rank, unsigned exchange) {
  std::mt19937 random(static_cast<unsigned>(Hash().word(exchange).word(rank).value()));
  std::vector<Post> posts;
  const unsigned kind = random() % 4;
  const std::size_t count = kind == 0 ? 0 : kind == 1 ? random() % 20 : random() % 4;
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t length = random() % 50 == 0  ? random() % 100'000
                               : random() % 3 == 0 ? 0
                                                   : random() % 40;
    Post post{rank, static_cast<std::int32_t>(random() % world_size()), std::vector<Word>(length)};
    for (Word& word : post.words) word = static_cast<Word>(Hash().word(random()).value());
    posts.push_back(std::move(post));
  }
  return posts;
}

std::vector<Post> expected_mail(unsigned exchange) {
  std::vector<Post> inbox;
  for (int rank = 0; rank < world_size(); ++rank)
    for (Post& post : posts_of(rank, exchange))
      if (post.to == world_rank()) inbox.push_back(std::move(post));
  return inbox;
}

std::vector<Post> mail_of(const MpiBspComm& bsp) {
  std::vector<Post> inbox;
  for (const BspMessage& message : bsp.inbox(0))
    inbox.push_back({message.from, world_rank(), {message.words.begin(), message.words.end()}});
  return inbox;
}

void run_exchanges(MpiBspComm& bsp, int many) {
  for (int exchange = 0; exchange < many; ++exchange) {
    for (const Post& post : posts_of(world_rank(), exchange)) bsp.send(0, post.to, post.words);
    bsp.exchange();
    const std::vector<Post> expected = expected_mail(exchange);
    ASSERT_TRUE(mail_of(bsp) == expected) << "exchange " << exchange;
    ASSERT_EQ(bsp.receivers().size(), expected.empty() ? 0u : 1u);
  }
}

TEST(MpiBspComm, EveryMessageArrivesInOrderAndInItsExchange) {
  const OwnedComm comm(duplicate());
  MpiBspComm bsp(comm.get());
  EXPECT_EQ(bsp.ranks(), world_size());
  ASSERT_EQ(bsp.here().size(), 1u);
  EXPECT_EQ(bsp.here()[0], world_rank());
  run_exchanges(bsp, test::cases(2000) + 30);
}

TEST(MpiBspComm, LongMailIsCut) {
  const OwnedComm comm(duplicate());
  for (int longest : {1, 7, 1000}) {
    MpiBspComm bsp(comm.get(), longest);
    const std::vector<Word> words(longest == 1000 ? 50'000 : 100, 5);
    for (int to = 0; to < world_size(); ++to)
      bsp.send(0, to, words), bsp.send(0, to, {world_rank(), to});
    bsp.exchange();
    ASSERT_EQ(bsp.inbox(0).size(), 2u * world_size());
    for (int from = 0; from < world_size(); ++from) {
      const BspMessage& first = bsp.inbox(0)[2 * from];
      EXPECT_EQ(first.from, from);
      EXPECT_TRUE(std::equal(first.words.begin(), first.words.end(), words.begin(), words.end()));
      EXPECT_EQ(bsp.inbox(0)[2 * from + 1].words[0], from);
    }
    if (longest == 1000) run_exchanges(bsp, test::cases(200) + 10);
  }
}

// What was sent before is exchanged as if the message had not been tried.
TEST(MpiBspComm, AMessageWithoutMemoryIsNotHalfSent) {
  const OwnedComm comm(duplicate());
  MpiBspComm bsp(comm.get());
  const std::vector<Word> words(1000, 7);
  int failures = 0;
  for (long k = 1; k <= 4; ++k) {
    const int to = (world_rank() + 1) % world_size();
    bsp.send(0, to, {k, world_rank()});
    test::fail_allocation(k);
    try {
      for (int more = 0; more < 8; ++more) bsp.send(0, to, words);
    } catch (const std::bad_alloc&) {
      ++failures;
    }
    test::fail_allocation(0);
    bsp.exchange();
    ASSERT_GE(bsp.inbox(0).size(), 1u);
    EXPECT_EQ(bsp.inbox(0)[0].words[0], k);
    for (const BspMessage& message : bsp.inbox(0).subspan(1)) {
      ASSERT_EQ(message.words.size(), words.size());
      EXPECT_EQ(message.words.back(), 7);
    }
  }
  EXPECT_GT(failures, 2);
}

// Some ranks are much faster than others: their messages for the next exchange come while others
// are still in this one.
TEST(MpiBspComm, FastRanksDoNotDisturbSlowOnes) {
  const OwnedComm comm(duplicate());
  MpiBspComm bsp(comm.get());
  for (int exchange = 0; exchange < test::cases(400) + 20; ++exchange) {
    if ((exchange + world_rank()) % 3 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    for (int to = 0; to < world_size(); ++to) bsp.send(0, to, {exchange});
    bsp.exchange();
    ASSERT_EQ(bsp.inbox(0).size(), static_cast<std::size_t>(world_size())) << exchange;
    for (const BspMessage& message : bsp.inbox(0))
      ASSERT_EQ(message.words[0], exchange) << "from rank " << message.from;
  }
}

// Every communicator counts its exchanges anew.
TEST(MpiBspComm, WorldsOneAfterTheOtherShareACommunicator) {
  const OwnedComm comm(duplicate());
  for (int number = 0; number < test::cases(400) + 20; ++number) {
    MpiBspComm bsp(comm.get());
    if ((number + world_rank()) % 3 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    for (int to = 0; to < world_size(); ++to) bsp.send(0, to, {number});
    bsp.exchange();
    ASSERT_EQ(bsp.inbox(0).size(), static_cast<std::size_t>(world_size())) << number;
    for (const BspMessage& message : bsp.inbox(0))
      ASSERT_EQ(message.words[0], number) << "from rank " << message.from;
  }
}

TEST(MpiBspComm, NobodyWritesAnything) {
  const OwnedComm comm(duplicate());
  MpiBspComm bsp(comm.get());
  for (int exchange = 0; exchange < 5; ++exchange) {
    bsp.exchange();
    EXPECT_TRUE(bsp.inbox(0).empty());
    EXPECT_TRUE(bsp.receivers().empty());
  }
}

TEST(MpiBspComm, MessagesToOneselfAreNoMessages) {
  const OwnedComm comm(duplicate());
  MpiBspComm bsp(comm.get());
  test::arm();
  bsp.send(0, world_rank(), {1, 2, 3});
  bsp.send(0, world_rank(), {});
  bsp.exchange();
  EXPECT_EQ(test::disarm().sends, 0);
  ASSERT_EQ(bsp.inbox(0).size(), 2u);
  EXPECT_EQ(bsp.inbox(0)[0].words[2], 3);
  EXPECT_TRUE(bsp.inbox(0)[1].words.empty());
}

TEST(MpiBspComm, SumsAndExtremes) {
  const OwnedComm comm(duplicate());
  MpiBspComm bsp(comm.get(), 3);  // in pieces
  const Word n = world_size(), me = world_rank(), large = Word{1} << 60;
  std::vector<Word> words(10), expected(10);
  for (Word k = 0; k < 10; ++k)
    words[k] = me + 100 * k, expected[k] = n * (n - 1) / 2 + 100 * k * n;
  bsp.sum(words);
  EXPECT_EQ(words, expected);
  EXPECT_EQ(bsp.sum(Word{1}), n);
  EXPECT_EQ(bsp.max(large + me), large + n - 1);
  EXPECT_EQ(bsp.min(-large - me), -large - (n - 1));
  EXPECT_EQ(bsp.max(-me), 0);
  bsp.sum(std::span<Word>());
}

TEST(MpiBspComm, MessagesForNobodyAreRefused) {
  const OwnedComm comm(duplicate());
  MpiBspComm bsp(comm.get());
  EXPECT_EQ(test::error_of([&] { bsp.send(0, world_size(), {1}); }).code(), Errc::internal);
  EXPECT_EQ(test::error_of([&] { bsp.send(0, -1, {1}); }).code(), Errc::internal);
  bsp.exchange();
  EXPECT_TRUE(bsp.inbox(0).empty());
}

// ---- What is worked out together is the same as in one process

TEST(MpiBspComm, OriginsAsInOneProcess) {
  const OwnedComm comm(duplicate());
  MpiBspComm bsp(comm.get());
  for (unsigned seed = 0; seed < static_cast<unsigned>(test::cases(200)) + 10; ++seed) {
    std::mt19937 random(seed);
    std::vector<Vertex> all = graphs::make(
        world_size(), graphs::random_targets(world_size(), static_cast<int>(seed % 9), random));
    graphs::disturb(all, random);
    Vertex mine = all[world_rank()];
    mine.origins.clear();
    const std::optional<Error> error = mirror(bsp, std::span(&mine, 1));
    ASSERT_FALSE(error) << error->what();
    ASSERT_EQ(mine.origins, all[world_rank()].origins) << seed;
  }
}

TEST(MpiBspComm, IsomorphismsAsInOneProcess) {
  const OwnedComm comm(duplicate());
  MpiBspComm bsp(comm.get());
  const Grid line = test::mesh({world_size()}), ring = test::torus({world_size()});
  const Neighborhood patterns[] = {{line, {Vec{-1}, Vec{1}, Vec{2}, Vec{0}}},
                                   {ring, {Vec{2}, Vec{-1}, Vec{0}, Vec{2}}}};
  for (const Neighborhood& near : patterns)
    for (const bool spoilt : {false, true}) {
      graphs::Edges edges;
      for (int r = 0; r < world_size(); ++r)
        for (std::size_t i = 0; i < near.offsets.size(); ++i)
          if (near.target(r, i) >= 0) edges.emplace_back(r, near.target(r, i));
      if (spoilt) edges.emplace_back(world_size() / 2, world_size() / 2);
      const std::vector<Vertex> all = graphs::make(world_size(), edges);
      LocalBspComm local(world_size());
      const std::vector<Isomorphism> expected = find_isomorphism(local, near.grid, all),
                                     found = find_isomorphism(bsp, near.grid,
                                                              std::span(&all[world_rank()], 1));
      ASSERT_EQ(found.empty(), expected.empty());
      EXPECT_EQ(found.empty(), spoilt && world_size() > 1);
      if (found.empty()) continue;
      EXPECT_EQ(found[0].offsets, expected[0].offsets);
      EXPECT_EQ(found[0].send_blocks, expected[world_rank()].send_blocks);
      EXPECT_EQ(found[0].recv_blocks, expected[world_rank()].recv_blocks);
    }
}

TEST(MpiBspComm, AllRanksGetTheSentenceOfTheLowest) {
  const OwnedComm comm(duplicate());
  MpiBspComm bsp(comm.get());
  const int last = world_size() - 1;
  std::vector<Vertex> all = graphs::make(world_size(), {{last, 0}, {last, 0}, {0, last}});
  all[0].sources.pop_back();
  all[last].sources.clear();
  for (Vertex& v : all) v.origins.clear();
  const Error error =
      test::error_of([&] { agree(comm.get(), mirror(bsp, std::span(&all[world_rank()], 1))); });
  EXPECT_EQ(error.code(), Errc::mismatch);
  const std::string start =
      last == 0 ? "rank 0 sends 3 blocks to rank 0, but rank 0 expects none"
                : text("rank ", last, " sends 2 blocks to rank 0, but rank 0 expects 1");
  EXPECT_EQ(std::string(error.what()).substr(0, start.size()), start);
}

// ---- A rank that fails

// Exchanges with everybody, in messages of a few words, and reductions; before(step) comes before
// each step and after the last one.
constexpr int steps_of_plan = 8;
template <class Before>
void plan_something(BspComm& bsp, Before before) {
  const int rank = world_rank();
  for (int step = 0; step < steps_of_plan; ++step) {
    before(step);
    if (step % 3 == 2) {
      ASSERT_EQ(bsp.sum(Word{step}), Word{step} * world_size());
      continue;
    }
    for (int to = 0; to < world_size(); ++to) bsp.send(0, to, {step, rank, to, 4, 5, 6, 7, 8});
    bsp.exchange();
    ASSERT_EQ(bsp.inbox(0).size(), static_cast<std::size_t>(world_size()));
    for (const BspMessage& message : bsp.inbox(0))
      ASSERT_EQ(message.words[0], step) << "from rank " << message.from;
  }
  before(steps_of_plan);
}

TEST(MpiBspComm, AllLeaveWithTheErrorOfTheOneThatFails) {
  const OwnedComm comm(duplicate());
  MpiBspComm bsp(comm.get(), 3);
  for (int victim = 0; victim < world_size(); ++victim)
    for (int at = 0; at <= steps_of_plan; ++at) {
      SCOPED_TRACE(testing::Message() << "rank " << victim << " at step " << at);
      const Error error = test::error_of([&] {
        bsp.run_collectively([&] {
          plan_something(bsp, [&](int step) {
            if (step == at && world_rank() == victim)
              fail(Errc::topology, "rank ", victim, " has had enough");
          });
        });
      });
      EXPECT_EQ(error.code(), Errc::topology);
      EXPECT_EQ(std::string(error.what()), text("rank ", victim, " has had enough"));
      bsp.run_collectively(
          [&] { plan_something(bsp, [](int) {}); });  // the communicator can still be used
    }
}

TEST(MpiBspComm, TheLowestOfSeveralThatFailIsHeard) {
  const OwnedComm comm(duplicate());
  MpiBspComm bsp(comm.get());
  for (int at = 0; at <= steps_of_plan; ++at) {
    const Error error = test::error_of([&] {
      bsp.run_collectively([&] {
        plan_something(bsp, [&](int step) {
          if (step == at && world_rank() > 0)
            fail(Errc::topology, "rank ", world_rank(), " has had enough");
          if (step == at && world_size() == 1) fail(Errc::topology, "rank 1 has had enough");
        });
      });
    });
    EXPECT_EQ(std::string(error.what()), "rank 1 has had enough");
  }
}

// Each of its allocations fails, also while messages come: once alone, and once with all that
// follow. So leaving needs no memory either.
TEST(MpiBspComm, ARankWithoutMemoryLeavesNobodyWaiting) {
  if (!test::counts_allocations()) GTEST_SKIP() << "this program's memory is not ours to give";
  const OwnedComm comm(duplicate());
  MpiBspComm bsp(comm.get(), 3);
  const bool many = world_size() > 4;  // then each step takes long
  for (const bool once : {true, false})
    for (int victim = many ? 1 : 0; victim < (many ? 2 : std::min(world_size(), 3)); ++victim)
      for (long k = 1, failed = 1; failed; ++k) {
        SCOPED_TRACE(testing::Message()
                     << "rank " << victim << ", allocation " << k << (once ? "" : " and later"));
        const std::function<void()> work = [&] { plan_something(bsp, [](int) {}); };
        test::fail_allocation(world_rank() == victim ? k : 0, once);
        const std::optional<Error> error = error_of([&] { bsp.run_collectively(work); });
        test::fail_allocation(0);
        EXPECT_EQ(error ? error->code() : Errc::memory, Errc::memory);
        failed = error.has_value();
        MPI_Bcast(&failed, 1, MPI_LONG, victim, MPI_COMM_WORLD);
        EXPECT_EQ(error.has_value(), failed != 0);
        bsp.run_collectively(work);
      }
}

TEST(MpiBspComm, AgreementsCostACollectivePerReduction) {
  const OwnedComm comm(duplicate());
  MpiBspComm bsp(comm.get());
  const auto collectives_of = [&](const std::function<void()>& work) {
    test::arm();
    work();
    return test::disarm().collectives;
  };
  EXPECT_EQ(collectives_of([&] { bsp.exchange(); }), 1);
  EXPECT_EQ(collectives_of([&] { bsp.sum(Word{1}); }), 2);
  EXPECT_EQ(collectives_of([&] { bsp.run_collectively([] {}); }), 2);
}

// ---- Errors of MPI

// On all ranks, with messages under way that nobody will receive.
TEST(MpiBspComm, AFailureBecomesAnErrorAndKeepsNothing) {
  const auto fail_once = [] {
    const OwnedComm comm(duplicate());
    MpiBspComm bsp(comm.get());
    bsp.send(0, (world_rank() + 1) % world_size(), {1, 2, 3});
    test::fail_improbe(1);
    const Error error = test::error_of([&] { bsp.exchange(); });
    EXPECT_EQ(error.code(), Errc::mpi);
    EXPECT_EQ(std::string(error.what()).substr(0, 19), "MPI_Improbe failed:");
  };
  for (int k = 0; k < 3; ++k) fail_once();
  const test::Live before = test::live();
  for (int k = 0; k < 20; ++k) fail_once();
  const test::Live after = test::live();
  EXPECT_EQ(after.requests, before.requests);
  EXPECT_EQ(after.communicators, before.communicators);
  EXPECT_LT(after.pieces - before.pieces, 10);
}

}  // namespace
}  // namespace tonari
