// SPDX-License-Identifier: BSD-3-Clause
#include "packing/pieced_copies.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <set>
#include <string>

#include "device/mutated_device.hpp"
#include "device/program.hpp"
#include "support/errors.hpp"
#include "support/random_cases.hpp"

namespace tonari::test {
namespace {

using Way = PinnedCopy::Way;

constexpr std::size_t pieces = 2;
constexpr std::size_t words = 3;  // of a piece, every other one in memory

// Two ranks that send each other all their pieces, in one process: a message goes as soon as both
// ends have begun, or later.
class PlayedMessages final : public PieceMessages {
 public:
  PlayedMessages(const PiecedCopies& mine, std::mt19937& random) : mine_(mine), random_(random) {}
  void meet(PlayedMessages& other) { other_ = &other; }

  void send(std::size_t k) override { begin(sends_[k]), other_->carry(k, *this); }
  void receive(std::size_t k) override { begin(receives_[k]), carry(k, *other_); }
  bool sent(std::size_t k) override { return over(k, other_->receives_[k], *other_, *this); }
  bool received(std::size_t k) override { return over(k, receives_[k], *this, *other_); }

 private:
  enum class End : std::uint8_t { none, begun, done };
  static void begin(End& end) { end = End::begun; }
  bool over(std::size_t k, End& end, PlayedMessages& to, PlayedMessages& from) {
    to.carry(k, from);
    return end == End::done;
  }
  void carry(std::size_t k, PlayedMessages& from) {
    if (receives_[k] != End::begun || from.sends_[k] != End::begun || random_() % 2) return;
    std::memcpy(mine_.in()[k]->host(), from.mine_.out()[k]->host(), mine_.in()[k]->bytes());
    receives_[k] = from.sends_[k] = End::done;
  }

  const PiecedCopies& mine_;
  std::mt19937& random_;
  PlayedMessages* other_ = nullptr;
  std::array<End, pieces> sends_{}, receives_{};
};

// A program of two ranks that waits for its device at the end only, or now and then.
class PiecedRanks {
 public:
  PiecedRanks(std::uint64_t seed, bool watch_order, const Mutant& mutant)
      : device_(alone(watch_order), seed), random_(static_cast<std::uint32_t>(seed)) {
    for (DeviceStream& stream : streams_) stream = device_.make_stream(0);
    event_ = device_.make_event(0);
    for (Rank& rank : ranks_) make(rank);
    ranks_[0].messages->meet(*ranks_[1].messages);
    ranks_[1].messages->meet(*ranks_[0].messages);
    mutated_.mutate(mutant);
  }

  void exchange(int round) {
    std::array<std::optional<DeviceStream>, 2> waits;
    for (std::size_t r = 0; r < 2; ++r) start(r, round);
    for (std::optional<DeviceStream>& wait : waits)
      if (random_() % 4) wait = any();
    std::array<bool, 2> over{};
    while (!over[0] || !over[1]) {
      const std::size_t r = random_() % 2;
      if (!over[r]) over[r] = proceed(ranks_[r], waits[r]);
    }
    for (std::size_t r = 0; r < 2; ++r) end(r, round, waits[r]);
  }
  void complete() {
    for (const DeviceStream stream : streams_) device_.synchronize(stream);
  }
  int wrong() const { return wrong_; }
  const std::vector<OrderingCall>& calls() const { return mutated_.calls(); }

 private:
  static constexpr Bytes side = pieces * words * 2 * sizeof(int);
  struct Rank {
    std::byte *out = nullptr, *in = nullptr;
    std::unique_ptr<PiecedCopies> copies;
    std::unique_ptr<PlayedMessages> messages;
    DeviceStream last_start, last_wait;
  };

  PiecedCopies::Pieces cut(std::byte* memory, Way way) {
    PiecedCopies::Pieces all;
    for (std::size_t k = 0; k < pieces; ++k) {
      Layout layout;
      layout.add({static_cast<std::ptrdiff_t>(k * words * 2 * sizeof(int)), sizeof(int),
                  2 * sizeof(int), words});
      const DeviceBlock block{memory, &layout, layout.bytes()};
      all.push_back(std::make_unique<PinnedCopy>(devices_, 0, std::vector{block}, way));
    }
    return all;
  }
  void make(Rank& rank) {
    rank.out = device_.allocate(MemoryKind::device, 0, side);
    rank.in = device_.allocate(MemoryKind::device, 0, side);
    rank.copies =
        std::make_unique<PiecedCopies>(cut(rank.out, Way::to_host), cut(rank.in, Way::to_device));
    rank.messages = std::make_unique<PlayedMessages>(*rank.copies, random_);
    rank.last_start = rank.last_wait = streams_[0];
  }
  DeviceStream any() { return streams_[random_() % streams_.size()]; }
  void follow(DeviceStream stream, DeviceStream behind) {
    if (stream == behind) return;
    device_.record(behind, event_);
    device_.wait_event(stream, event_);
  }
  static int sent(std::size_t rank, int round, std::size_t k) {
    return static_cast<int>(rank) * 100'000 + round * 100 + static_cast<int>(k) + 1;
  }

  void start(std::size_t r, int round) {
    Rank& rank = ranks_[r];
    const DeviceStream stream = any();
    follow(stream, rank.last_start);  // which packs the last values
    follow(stream, rank.last_wait);   // whose consumer reads those that have come
    const SimulatedDevice::Touched all{rank.out, side};
    device_.launch(stream, {}, {&all, 1}, [to = words_at(rank.out), r, round] {
      for (std::size_t k = 0; k < pieces * words; ++k) to[2 * k] = sent(r, round, k);
    });
    const bool by_host = random_() % 4 == 0;
    if (by_host) device_.synchronize(stream);
    mutated_.enter("start_on");
    rank.copies->start_on(by_host ? std::nullopt : std::optional(stream));
    rank.last_start = stream;
  }
  // One look, as an exchange has it. What has come before it is said where is unpacked elsewhere.
  bool proceed(Rank& rank, std::optional<DeviceStream> waits) {
    const bool said = waits && random_() % 2;
    mutated_.enter("send_packed");
    rank.copies->send_packed(*rank.messages);
    mutated_.enter("receive_all");
    rank.copies->receive_all(*rank.messages);
    mutated_.enter("unpack_received");
    rank.copies->unpack_received(*rank.messages, said ? *waits : rank.copies->unpacks_on());
    if (!rank.copies->put(*rank.messages)) return false;
    mutated_.enter("unpacked");
    return waits || rank.copies->unpacked();
  }
  void end(std::size_t r, int round, std::optional<DeviceStream> waits) {
    Rank& rank = ranks_[r];
    const DeviceStream stream = waits ? *waits : any();
    mutated_.enter("order_behind");
    if (waits) rank.copies->order_behind(stream);
    if (random_() % 4 == 0) return;  // nobody reads it, so nothing follows the stream
    const SimulatedDevice::Touched all{rank.in, side};
    device_.launch(stream, {&all, 1}, {}, [this, at = words_at(rank.in), from = 1 - r, round] {
      for (std::size_t k = 0; k < pieces * words; ++k) wrong_ += at[2 * k] != sent(from, round, k);
    });
    rank.last_wait = stream;
  }
  int* words_at(std::byte* memory) { return reinterpret_cast<int*>(device_.on_device(memory)); }

  SimulatedDevice device_;
  MutatedDevice mutated_{device_, 0};
  std::shared_ptr<PresentDevice> devices_ =
      std::make_shared<PresentDevice>(std::shared_ptr<Device>(&mutated_, [](Device*) {}));
  std::mt19937 random_;
  std::array<DeviceStream, 3> streams_;
  DeviceEvent event_;
  int wrong_ = 0;
  std::array<Rank, 2> ranks_;
};

// Rounds of one world. Returns what is wrong.
std::string played_in_pieces(std::uint64_t seed, bool watch_order = true, const Mutant& mutant = {},
                             std::vector<OrderingCall>* calls = nullptr) {
  try {
    PiecedRanks ranks(seed, watch_order, mutant);
    for (int round = 0; round < 6; ++round) ranks.exchange(round);
    ranks.complete();
    if (calls) *calls = ranks.calls();
    return ranks.wrong() ? text(ranks.wrong(), " wrong words") : "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

TEST(PiecedCopies, EveryReaderSeesWhatWasSentWhateverTheOrder) {
  for (std::uint64_t seed = 0; seed < random_cases(std::uint64_t{1'000}); ++seed)
    ASSERT_EQ(played_in_pieces(seed), "") << "seed " << seed;
}

// Mutants that no world of so many shows to be wrong.
void expect_each_is_needed(bool watch_order) {
  std::set<std::string> all, missed;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<OrderingCall> calls;
    ASSERT_EQ(played_in_pieces(seed, watch_order, {}, &calls), "");
    for (const OrderingCall& call : calls) {
      const Mutant mutant{call.function, call.number, Mutant::Change::left_out, 0,
                          text(call.function, " ", call.number)};
      if (!all.insert(mutant.name).second) continue;
      bool caught = false;
      for (std::uint64_t world = 0; world < 500 && !caught; ++world)
        caught = !played_in_pieces(world, watch_order, mutant).empty();
      if (!caught) missed.insert(mutant.name);
    }
  }
  EXPECT_EQ(missed, std::set<std::string>{});
  EXPECT_EQ(all.size(), 14u);
}

TEST(PiecedCopies, AllThatOrdersIsNeeded) { expect_each_is_needed(true); }

// Without the clocks that find what nothing orders: some seed shows it by what arrives.
TEST(PiecedCopies, WhateverIsLeftOutSpoilsData) { expect_each_is_needed(false); }

}  // namespace
}  // namespace tonari::test
