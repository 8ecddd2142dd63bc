// SPDX-License-Identifier: BSD-3-Clause
// What exchanges have in common that look again and again: pauses, progress of the MPI, and what
// happens when a rank that is waited for dies. And those that hold another one: nothing is lost.
#include "engine/wait/polled_exchange.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <type_traits>

#include "engine/wait/wrapped_exchange.hpp"

namespace {

using tonari::Pause;

// Goes through looks, each of which moves something or does not.
class Looks final : public tonari::PolledExchange<Looks> {
 public:
  explicit Looks(std::function<bool(int)> moves, int moves_needed, double look_after = 0)
      : PolledExchange(nullptr, {.look_after = look_after}),
        moves_(std::move(moves)),
        needed_(moves_needed) {}
  void start() override { left_ = needed_, looks = 0; }
  int messages() const override { return 0; }
  tonari::Bytes bytes() const override { return 0; }
  std::size_t scratch_bytes() const override { return 0; }

  int looks = 0, progressed = 0, checked = 0;
  bool dead = false;

 private:
  friend PolledExchange;
  bool finished() const { return left_ == 0; }
  bool advance() {
    const bool moved = moves_(looks++);
    left_ -= moved;
    return moved;
  }
  void progress() { ++progressed; }
  void check_peers() {
    ++checked;
    if (dead) tonari::fail(tonari::Errc::peer, "it is dead");
  }

  std::function<bool(int)> moves_;
  int needed_, left_ = 0;
};

constexpr auto nothing_moves = [](int) { return false; };

TEST(PolledExchange, EachTestIsOneLookAndSaysWhatPauseItBears) {
  Looks looks([](int look) { return look % 3 == 2; }, 2);
  for (int round = 0; round < 2; ++round) {
    looks.start();
    for (const bool moves : {false, false, true, false, false}) {
      EXPECT_FALSE(looks.test());
      EXPECT_EQ(looks.pause(), moves ? Pause::none : Pause::sleep);
    }
    EXPECT_TRUE(looks.test());
    EXPECT_TRUE(looks.test());
    EXPECT_EQ(looks.looks, 6) << "none when it is complete";
  }
}

TEST(PolledExchange, WaitingLetsTheMpiProceedAndChecksThatOthersLive) {
  Looks looks([](int look) { return look == 5000; }, 1);
  looks.start();
  looks.wait();
  EXPECT_EQ(looks.looks, 5001);
  EXPECT_GT(looks.progressed, 10);
  EXPECT_GT(looks.checked, 10);
}

TEST(PolledExchange, ADeadPeerIsAnErrorInTestAndInWait) {
  for (const bool by_test : {false, true}) {
    Looks looks(nothing_moves, 1);
    looks.dead = true;
    looks.start();
    try {
      if (!by_test) looks.wait();
      for (int k = 0; k < 100'000; ++k) EXPECT_FALSE(looks.test());
      ADD_FAILURE() << "no error";
    } catch (const tonari::Error& error) {
      EXPECT_EQ(error.code(), tonari::Errc::peer);
    }
  }
}

// Who ended right after it had done its part has done it.
TEST(PolledExchange, APeerThatDiedAfterItsPartIsNoError) {
  Looks* all = nullptr;
  Looks looks([&](int) { return all->checked > 0; }, 1);
  all = &looks;
  looks.dead = true;
  looks.start();
  looks.wait();
  EXPECT_EQ(looks.checked, 1);
}

TEST(PolledExchange, NobodyIsCheckedBeforeTheTimeOut) {
  Looks looks([](int look) { return look == 20'000; }, 1, 1000);
  looks.dead = true;
  looks.start();
  while (!looks.test()) {
  }
  EXPECT_EQ(looks.checked, 0);
}

// ---- those that hold another one

// Answers everything in a way that no default does.
class Marked final : public tonari::Exchange {
 public:
  void check_start() const override { calls += "check_start "; }
  void start() override { calls += "start "; }
  bool test() override { return calls += "test ", true; }
  void wait() override { calls += "wait "; }
  Pause pause() const override { return Pause::none; }
  void rebind(std::span<const std::ptrdiff_t> shifts) override { shift = shifts[0]; }
  bool proceeds_by_itself() const override { return true; }
  bool nothing() const override { return true; }
  int messages() const override { return 11; }
  std::string channel_mix() const override { return "12"; }
  tonari::Bytes bytes() const override { return 13; }
  std::size_t scratch_bytes() const override { return 14; }
  void give_up() override { calls += "give_up"; }
  const std::byte* view(std::size_t block) const override { return &bytes_[block]; }
  void awaits(tonari::Awaited& awaited) const override { awaited.note("16"); }
  const std::string* call() const { return call_; }

  mutable std::string calls;
  std::ptrdiff_t shift = 0;
  std::byte bytes_[4] = {};
};

// A function of the interface that somebody forgets is an error of the compiler.
static_assert(std::is_abstract_v<tonari::Exchange>);
static_assert(!std::is_base_of_v<tonari::LeafExchange, tonari::WrappedExchange>);

TEST(WrappedExchange, ForwardsEverything) {
  const auto marked = std::make_shared<Marked>();
  tonari::WrappedExchange wrapped(marked);
  wrapped.check_start(), wrapped.start(), wrapped.wait(), wrapped.give_up();
  EXPECT_EQ(marked->calls, "check_start start wait give_up");
  EXPECT_TRUE(wrapped.test());
  EXPECT_EQ(wrapped.pause(), Pause::none);
  EXPECT_TRUE(wrapped.proceeds_by_itself());
  EXPECT_TRUE(wrapped.nothing());
  EXPECT_EQ(wrapped.messages(), 11);
  EXPECT_EQ(wrapped.channel_mix(), "12");
  EXPECT_EQ(wrapped.bytes(), 13u);
  EXPECT_EQ(wrapped.scratch_bytes(), 14u);
  EXPECT_EQ(wrapped.view(3), &marked->bytes_[3]);
  const std::ptrdiff_t shifts[] = {15};
  wrapped.rebind(shifts);
  EXPECT_EQ(marked->shift, 15);
  tonari::Awaited awaited;
  wrapped.awaits(awaited);
  EXPECT_STREQ(awaited.note(), "16");
  const std::string call = "17";
  wrapped.belongs_to(call);
  EXPECT_EQ(marked->call(), &call);
}

}  // namespace
