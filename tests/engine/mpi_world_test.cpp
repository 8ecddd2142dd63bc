// Planning with one rank per process: every letter arrives, in order, in its own exchange.
#include "engine/mpi_world.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <thread>

#include "channels/owned_comm.hpp"
#include "engine/agree.hpp"
#include "planners/graphs/graphs.hpp"
#include "planners/graphs/isomorphic.hpp"
#include "planners/graphs/mirror.hpp"
#include "support/counting.hpp"
#include "support/errors.hpp"
#include "support/oracle.hpp"

namespace tonari {
namespace {

using test::world_rank;
using test::world_size;

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
  std::vector<Post> mail;
  for (int rank = 0; rank < world_size(); ++rank)
    for (Post& post : posts_of(rank, exchange))
      if (post.to == world_rank()) mail.push_back(std::move(post));
  return mail;
}

std::vector<Post> mail_of(const MpiWorld& world) {
  std::vector<Post> mail;
  for (const Letter& letter : world.mail(0))
    mail.push_back({letter.from, world_rank(), {letter.words.begin(), letter.words.end()}});
  return mail;
}

void run_exchanges(MpiWorld& world, int many) {
  for (int exchange = 0; exchange < many; ++exchange) {
    for (const Post& post : posts_of(world_rank(), exchange)) world.put(0, post.to, post.words);
    world.exchange();
    const std::vector<Post> expected = expected_mail(exchange);
    ASSERT_TRUE(mail_of(world) == expected) << "exchange " << exchange;
    ASSERT_EQ(world.receivers().size(), expected.empty() ? 0u : 1u);
  }
}

TEST(MpiWorld, EveryLetterArrivesInOrderAndInItsExchange) {
  const OwnedComm comm(duplicate());
  MpiWorld world(comm.get());
  EXPECT_EQ(world.ranks(), world_size());
  ASSERT_EQ(world.here().size(), 1u);
  EXPECT_EQ(world.here()[0], world_rank());
  run_exchanges(world, test::cases(2000) + 30);
}

TEST(MpiWorld, LongMailIsCut) {
  const OwnedComm comm(duplicate());
  for (int longest : {1, 7, 1000}) {
    MpiWorld world(comm.get(), longest);
    const std::vector<Word> words(longest == 1000 ? 50'000 : 100, 5);
    for (int to = 0; to < world_size(); ++to)
      world.put(0, to, words), world.put(0, to, {world_rank(), to});
    world.exchange();
    ASSERT_EQ(world.mail(0).size(), 2u * world_size());
    for (int from = 0; from < world_size(); ++from) {
      const Letter& first = world.mail(0)[2 * from];
      EXPECT_EQ(first.from, from);
      EXPECT_TRUE(std::equal(first.words.begin(), first.words.end(), words.begin(), words.end()));
      EXPECT_EQ(world.mail(0)[2 * from + 1].words[0], from);
    }
    if (longest == 1000) run_exchanges(world, test::cases(200) + 10);
  }
}

// Some are much faster than others: their letters for the next exchange come while others are still
// in this one.
TEST(MpiWorld, FastRanksDoNotDisturbSlowOnes) {
  const OwnedComm comm(duplicate());
  MpiWorld world(comm.get());
  for (int exchange = 0; exchange < test::cases(400) + 20; ++exchange) {
    if ((exchange + world_rank()) % 3 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    for (int to = 0; to < world_size(); ++to) world.put(0, to, {exchange});
    world.exchange();
    ASSERT_EQ(world.mail(0).size(), static_cast<std::size_t>(world_size())) << exchange;
    for (const Letter& letter : world.mail(0))
      ASSERT_EQ(letter.words[0], exchange) << "from rank " << letter.from;
  }
}

// Every world counts its exchanges anew.
TEST(MpiWorld, WorldsOneAfterTheOtherShareACommunicator) {
  const OwnedComm comm(duplicate());
  for (int number = 0; number < test::cases(400) + 20; ++number) {
    MpiWorld world(comm.get());
    if ((number + world_rank()) % 3 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    for (int to = 0; to < world_size(); ++to) world.put(0, to, {number});
    world.exchange();
    ASSERT_EQ(world.mail(0).size(), static_cast<std::size_t>(world_size())) << number;
    for (const Letter& letter : world.mail(0))
      ASSERT_EQ(letter.words[0], number) << "from rank " << letter.from;
  }
}

TEST(MpiWorld, NobodyWritesAnything) {
  const OwnedComm comm(duplicate());
  MpiWorld world(comm.get());
  for (int exchange = 0; exchange < 5; ++exchange) {
    world.exchange();
    EXPECT_TRUE(world.mail(0).empty());
    EXPECT_TRUE(world.receivers().empty());
  }
}

TEST(MpiWorld, LettersToOneselfAreNoMessages) {
  const OwnedComm comm(duplicate());
  MpiWorld world(comm.get());
  test::arm();
  world.put(0, world_rank(), {1, 2, 3});
  world.put(0, world_rank(), {});
  world.exchange();
  EXPECT_EQ(test::disarm().sends, 0);
  ASSERT_EQ(world.mail(0).size(), 2u);
  EXPECT_EQ(world.mail(0)[0].words[2], 3);
  EXPECT_TRUE(world.mail(0)[1].words.empty());
}

TEST(MpiWorld, SumsAndExtremes) {
  const OwnedComm comm(duplicate());
  MpiWorld world(comm.get(), 3);  // in pieces
  const Word n = world_size(), me = world_rank(), large = Word{1} << 60;
  std::vector<Word> words(10), expected(10);
  for (Word k = 0; k < 10; ++k)
    words[k] = me + 100 * k, expected[k] = n * (n - 1) / 2 + 100 * k * n;
  world.sum(words);
  EXPECT_EQ(words, expected);
  EXPECT_EQ(world.sum(Word{1}), n);
  EXPECT_EQ(world.max(large + me), large + n - 1);
  EXPECT_EQ(world.min(-large - me), -large - (n - 1));
  EXPECT_EQ(world.max(-me), 0);
  world.sum(std::span<Word>());
}

TEST(MpiWorld, LettersForNobodyAreRefused) {
  const OwnedComm comm(duplicate());
  MpiWorld world(comm.get());
  EXPECT_EQ(test::error_of([&] { world.put(0, world_size(), {1}); }).code(), Errc::internal);
  EXPECT_EQ(test::error_of([&] { world.put(0, -1, {1}); }).code(), Errc::internal);
  world.exchange();
  EXPECT_TRUE(world.mail(0).empty());
}

// ---- What is worked out together is the same as in one process

TEST(MpiWorld, OriginsAsInOneProcess) {
  const OwnedComm comm(duplicate());
  MpiWorld world(comm.get());
  for (unsigned seed = 0; seed < static_cast<unsigned>(test::cases(200)) + 10; ++seed) {
    std::mt19937 random(seed);
    std::vector<Vertex> all = graphs::make(
        world_size(), graphs::random_targets(world_size(), static_cast<int>(seed % 9), random));
    graphs::disturb(all, random);
    Vertex mine = all[world_rank()];
    mine.origins.clear();
    const std::optional<Error> error = mirror(world, std::span(&mine, 1));
    ASSERT_FALSE(error) << error->what();
    ASSERT_EQ(mine.origins, all[world_rank()].origins) << seed;
  }
}

TEST(MpiWorld, IsomorphismsAsInOneProcess) {
  const OwnedComm comm(duplicate());
  MpiWorld world(comm.get());
  const Grid line = Grid::mesh({world_size()}), ring = Grid::torus({world_size()});
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
      LocalWorld local(world_size());
      const std::vector<Isomorphism> expected = find_isomorphism(local, near.grid, all),
                                     found = find_isomorphism(world, near.grid,
                                                              std::span(&all[world_rank()], 1));
      ASSERT_EQ(found.empty(), expected.empty());
      EXPECT_EQ(found.empty(), spoilt && world_size() > 1);
      if (found.empty()) continue;
      EXPECT_EQ(found[0].offsets, expected[0].offsets);
      EXPECT_EQ(found[0].send_blocks, expected[world_rank()].send_blocks);
      EXPECT_EQ(found[0].recv_blocks, expected[world_rank()].recv_blocks);
    }
}

TEST(MpiWorld, AllRanksGetTheSentenceOfTheLowest) {
  const OwnedComm comm(duplicate());
  MpiWorld world(comm.get());
  const int last = world_size() - 1;
  std::vector<Vertex> all = graphs::make(world_size(), {{last, 0}, {last, 0}, {0, last}});
  all[0].sources.pop_back();
  all[last].sources.clear();
  for (Vertex& v : all) v.origins.clear();
  const Error error =
      test::error_of([&] { agree(comm.get(), mirror(world, std::span(&all[world_rank()], 1))); });
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
void plan_something(World& world, Before before) {
  const int rank = world_rank();
  for (int step = 0; step < steps_of_plan; ++step) {
    before(step);
    if (step % 3 == 2) {
      ASSERT_EQ(world.sum(Word{step}), Word{step} * world_size());
      continue;
    }
    for (int to = 0; to < world_size(); ++to) world.put(0, to, {step, rank, to, 4, 5, 6, 7, 8});
    world.exchange();
    ASSERT_EQ(world.mail(0).size(), static_cast<std::size_t>(world_size()));
    for (const Letter& letter : world.mail(0))
      ASSERT_EQ(letter.words[0], step) << "from rank " << letter.from;
  }
  before(steps_of_plan);
}

TEST(MpiWorld, AllLeaveWithTheErrorOfTheOneThatFails) {
  const OwnedComm comm(duplicate());
  MpiWorld world(comm.get(), 3);
  for (int victim = 0; victim < world_size(); ++victim)
    for (int at = 0; at <= steps_of_plan; ++at) {
      SCOPED_TRACE(testing::Message() << "rank " << victim << " at step " << at);
      const Error error = test::error_of([&] {
        world.together([&] {
          plan_something(world, [&](int step) {
            if (step == at && world_rank() == victim)
              fail(Errc::topology, "rank ", victim, " has had enough");
          });
        });
      });
      EXPECT_EQ(error.code(), Errc::topology);
      EXPECT_EQ(std::string(error.what()), text("rank ", victim, " has had enough"));
      world.together([&] { plan_something(world, [](int) {}); });  // the world can still be used
    }
}

TEST(MpiWorld, TheLowestOfSeveralThatFailIsHeard) {
  const OwnedComm comm(duplicate());
  MpiWorld world(comm.get());
  for (int at = 0; at <= steps_of_plan; ++at) {
    const Error error = test::error_of([&] {
      world.together([&] {
        plan_something(world, [&](int step) {
          if (step == at && world_rank() > 0)
            fail(Errc::topology, "rank ", world_rank(), " has had enough");
          if (step == at && world_size() == 1) fail(Errc::topology, "rank 1 has had enough");
        });
      });
    });
    EXPECT_EQ(std::string(error.what()), "rank 1 has had enough");
  }
}

// Each of its allocations once, also while letters come, and all that follow, so that leaving needs
// no memory either.
TEST(MpiWorld, ARankWithoutMemoryLeavesNobodyWaiting) {
  if (!test::counts_allocations()) GTEST_SKIP() << "this program's memory is not ours to give";
  const OwnedComm comm(duplicate());
  MpiWorld world(comm.get(), 3);
  for (const bool once : {true, false})
    for (int victim = 0; victim < std::min(world_size(), 3); ++victim)
      for (long k = 1, failed = 1; failed; ++k) {
        SCOPED_TRACE(testing::Message()
                     << "rank " << victim << ", allocation " << k << (once ? "" : " and later"));
        const std::function<void()> work = [&] { plan_something(world, [](int) {}); };
        test::fail_allocation(world_rank() == victim ? k : 0, once);
        const std::optional<Error> error = caught([&] { world.together(work); });
        test::fail_allocation(0);
        EXPECT_EQ(error ? error->code() : Errc::memory, Errc::memory);
        failed = error.has_value();
        MPI_Bcast(&failed, 1, MPI_LONG, victim, MPI_COMM_WORLD);
        EXPECT_EQ(error.has_value(), failed != 0);
        world.together(work);
      }
}

TEST(MpiWorld, AgreementsCostACollectivePerReduction) {
  const OwnedComm comm(duplicate());
  MpiWorld world(comm.get());
  const auto collectives_of = [&](const std::function<void()>& work) {
    test::arm();
    work();
    return test::disarm().collectives;
  };
  EXPECT_EQ(collectives_of([&] { world.exchange(); }), 1);
  EXPECT_EQ(collectives_of([&] { world.sum(Word{1}); }), 2);
  EXPECT_EQ(collectives_of([&] { world.together([] {}); }), 2);
}

// ---- Errors of MPI

// On all ranks, with messages under way that nobody will receive.
TEST(MpiWorld, AFailureBecomesAnErrorAndKeepsNothing) {
  const auto fail_once = [] {
    const OwnedComm comm(duplicate());
    MpiWorld world(comm.get());
    world.put(0, (world_rank() + 1) % world_size(), {1, 2, 3});
    test::fail_improbe(1);
    const Error error = test::error_of([&] { world.exchange(); });
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
