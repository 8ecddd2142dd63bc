// SPDX-License-Identifier: BSD-3-Clause
// A new channel is a row and what it connects: this one is in no list of the library's, yet
// exchanges run over it, alone and beside shared memory, and contests try it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "channels/connect.hpp"
#include "channels/table.hpp"
#include "engine/run/build.hpp"
#include "engine/run/forwarded_sizes.hpp"
#include "engine/tune/selector.hpp"
#include "engine/wait/agree.hpp"
#include "mpi/mpi_error.hpp"
#include "support/counting.hpp"
#include "support/graph_exchange.hpp"
#include "support/grids.hpp"
#include "support/tune_seconds.hpp"

namespace tonari {
namespace {

// ---- The channel: what is sent waits in a buffer, and what came is delivered some looks later.

constexpr const char* late_by = "late by ";
// By a clock that is told so, later messages take less time.
double time_now = 0;
double seconds_of_message(std::size_t looks) { return 20e-6 / static_cast<double>(looks + 1); }
constexpr int first_tag = 20'000;  // on MPI_COMM_WORLD; rows of the library use ConnectComm::comm

bool complete(MPI_Request& request) {
  int flag = 0;
  check_mpi(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
  return flag != 0;
}

// A message with a buffer for either parity.
struct Buffers {
  explicit Buffers(const EdgeMessage& m)
      : message(m), memory{std::vector<std::byte>(m.bytes), std::vector<std::byte>(m.bytes)} {
    slots.push_back({0, m.bytes, {memory[0].data(), memory[1].data()}});
  }
  int count() const { return static_cast<int>(message.bytes); }
  EdgeMessage message;
  std::array<std::vector<std::byte>, 2> memory;
  std::vector<MessageSlot> slots;
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

class LateOut final : public OutEdge {
 public:
  explicit LateOut(const EdgeMessage& m) : to_(m) {}
  const std::vector<MessageSlot>& slots() const override { return to_.slots; }
  bool may_write(std::size_t, int parity) override { return complete(to_.requests[parity]); }
  void written(std::size_t, int parity) override {
    check_mpi(MPI_Isend(to_.memory[parity].data(), to_.count(), MPI_BYTE, to_.message.peer,
                        first_tag + to_.message.tag, MPI_COMM_WORLD, &to_.requests[parity]),
              "MPI_Isend");
  }
  bool sent(int parity) override { return complete(to_.requests[parity]); }

 private:
  Buffers to_;
};

class LateIn final : public InEdge {
 public:
  LateIn(const EdgeMessage& m, std::size_t looks) : from_(m), looks_(looks) {}
  const std::vector<MessageSlot>& slots() const override { return from_.slots; }
  bool arrived(std::size_t, int parity) override {
    if (left_ == 0) {
      check_mpi(MPI_Irecv(from_.memory[parity].data(), from_.count(), MPI_BYTE, from_.message.peer,
                          first_tag + from_.message.tag, MPI_COMM_WORLD, &from_.requests[parity]),
                "MPI_Irecv");
      left_ = looks_ + 1;
    }
    return complete(from_.requests[parity]) && (left_ == 1 || --left_ == 1);
  }
  void taken(std::size_t, int) override {
    left_ = 0;
    time_now += seconds_of_message(looks_);
  }

 private:
  Buffers from_;
  std::size_t looks_, left_ = 0;
};

class LateLink final : public Link {
 public:
  LateLink(const Connecting& given, std::size_t looks) {
    for (const EdgeMessage& m : given.out) outs_.push_back(std::make_unique<LateOut>(m));
    for (const EdgeMessage& m : given.in) ins_.push_back(std::make_unique<LateIn>(m, looks));
  }
  OutEdge& out(std::size_t k) override { return *outs_[k]; }
  InEdge& in(std::size_t k) override { return *ins_[k]; }
  std::size_t messages() const override { return outs_.size(); }

 private:
  std::vector<std::unique_ptr<OutEdge>> outs_;
  std::vector<std::unique_ptr<InEdge>> ins_;
};

// ---- Its row

constexpr Channel late{
    .name = "late",
    .help = "MPI messages that are delivered late",
    .carries = Carries::messages,
    .details = [](const Offer&,
                  bool) { return std::vector<std::string>{"late by 4", "late by 2"}; },
    .understands = [](const std::string& word) { return number_after(word, late_by) > 0; },
    .price = [](const Offer& offer,
                const std::string&) { return price(*offer.variant, offer.problem.sizes, {}, {}); },
    .connect =
        [](std::span<Connecting> plans) {
          for (Connecting& given : plans)
            given.link = std::make_shared<LateLink>(given, number_after(given.detail, late_by));
        }};

// ---- Exchanges over it

std::vector<const Channel*> with_late() {
  std::vector<const Channel*> table(all_channels().begin(), all_channels().end());
  table.push_back(&late);
  return table;
}

class AddedChannel : public testing::Test {
 protected:
  // nodes: for TONARI_NODES
  explicit AddedChannel(const char* nodes = "") {
    const test::Nodes before;
    test::Nodes::set(nodes);
    const std::shared_ptr<SharedComm> shared = SharedComm::of(MPI_COMM_WORLD);
    run_collectively(shared->comm(), [&] {
      shared->update_nodes();
      const std::vector<int> offsets{1, -1, 2, 0, 1};
      context_ = std::make_unique<Context>(
          shared,
          std::make_shared<const PackedNeighborhood>(
              PackedNeighborhood{test::torus({test::world_size()}), PackedOffsets(offsets, 1)}),
          std::make_shared<const Settings>());
      near_ = context_->topology().near;
    });
  }

  Problem problem(Bytes bytes) {
    return {context_->planners(),
            context_->topology().fingerprint,
            near_->offsets.size(),
            Collective::alltoall,
            {std::vector<Bytes>(near_->offsets.size(), bytes), static_cast<double>(bytes)},
            true,
            context_->shares_memory(),
            context_->reads_memory(),
            context_->several_nodes(),
            table_};
  }

  // Makes an exchange of blocks of so many bytes and runs it some times.
  Choice run(Bytes bytes, const Settings& settings) {
    const std::size_t blocks = near_->offsets.size();
    send_.assign(blocks * bytes, 0), recv_.assign(blocks * bytes, 0);
    Arguments arguments{Collective::alltoall, Form::regular, send_.data(), recv_.data()};
    for (std::size_t k = 0; k < blocks; ++k)
      arguments.send.push_back({static_cast<MPI_Aint>(k * bytes), static_cast<int>(bytes)});
    arguments.recv = arguments.send;
    arguments.bind();
    const Problem given = problem(bytes);
    arguments.binding.uniform = given.sizes.bytes;
    Choice choice = choose(*context_, given, settings, arguments);
    std::vector<Candidate> chosen{choice.candidate};
    exchange_forwarded_sizes(*context_, chosen, given, settings, arguments.binding);
    context_->reserve_tags(chosen[0].tags());
    Wiring wiring = wire(*context_, chosen[0], settings, arguments.binding, Purpose::request);
    EXPECT_EQ(wiring.refusal, "");
    const auto exchange =
        build(*context_, chosen[0], settings, arguments, context_->first_tag(), std::move(wiring));
    for (unsigned round = 0; round < 7; ++round) deliver(*exchange, bytes, round);
    mix_ = exchange->channel_mix();
    return choice;
  }

  static unsigned char content(int rank, std::size_t k, unsigned round) {
    return static_cast<unsigned char>(31 * rank + 7 * static_cast<int>(k) + 3 * round + 1);
  }

  void deliver(Exchange& exchange, Bytes bytes, unsigned round) {
    const int me = test::world_rank();
    for (std::size_t at = 0; at < send_.size(); ++at) send_[at] = content(me, at / bytes, round);
    exchange.start();
    exchange.wait();
    for (std::size_t at = 0; at < recv_.size(); ++at)
      ASSERT_EQ(recv_[at], content(near_->source(me, at / bytes), at / bytes, round)) << at;
  }

  const std::vector<const Channel*> table_ = with_late();
  std::shared_ptr<const Neighborhood> near_;
  std::unique_ptr<Context> context_;
  std::vector<unsigned char> send_, recv_;
  std::string mix_;  // of the last exchange
};

TEST_F(AddedChannel, DeliversWithoutBeingInAnyList) {
  for (const char* algorithm : {"linear", "torus", "torus-direct"})
    for (const char* channel : {"late", "shared+late"})
      for (Bytes bytes : {8, 3000, 70'000}) {
        SCOPED_TRACE(text(algorithm, "/", channel, ", ", bytes, " bytes"));
        Settings settings;
        settings.algorithm = algorithm, settings.channel = channel, settings.tune = Tune::off;
        const Choice choice = run(bytes, settings);
        EXPECT_EQ(choice.candidate.label(), text(algorithm, "/", channel));
        if (test::world_size() == 1) continue;
        EXPECT_EQ(mix_.find("p2p"), std::string::npos) << mix_;
        const bool both = std::string_view(channel) == "shared+late";
        EXPECT_EQ(mix_.find(" late") != mix_.npos, !both || context_->several_nodes()) << mix_;
      }
}

class AddedChannelBetweenNodes : public AddedChannel {
 protected:
  AddedChannelBetweenNodes() : AddedChannel("2") {}
};

TEST_F(AddedChannelBetweenNodes, TakesWhatSharedMemoryLeaves) {
  Settings settings;
  settings.algorithm = "linear", settings.channel = "shared+late", settings.tune = Tune::off;
  run(300, settings);
  if (test::world_size() == 3) {
    EXPECT_EQ(mix_, test::world_rank() < 2 ? "1 shared, 1 late" : "2 late");
  }
}

// The model takes all of them for equally fast, and lists them in another order.
TEST_F(AddedChannel, WinsInTheFormThatIsTheFastest) {
  if (test::world_size() == 1) GTEST_SKIP() << "nothing is measured on one rank";
  const test::TuneSeconds little("0.002");
  const test::OtherClock clock([] { return time_now; });
  Settings settings;
  settings.algorithm = "linear", settings.channel = "late", settings.tune = Tune::measure;
  const Choice choice = run(64, settings);
  EXPECT_EQ(choice.candidate.label(), "linear/late/late by 4") << choice.details;
  EXPECT_EQ(choice.reason, "measured");
  EXPECT_TRUE(choice.steady);
  const double messages = std::min(test::world_size() - 1, 3);  // one from each other neighbor
  EXPECT_NEAR(choice.measured, messages * seconds_of_message(4), 1e-9) << choice.details;
  std::size_t before = 0;
  for (const char* label : {"late/late by 4 (", "late/late by 2 (", "late ("}) {
    const std::size_t at = choice.details.find(text("linear/", label));
    ASSERT_NE(at, std::string::npos) << choice.details;
    EXPECT_GT(at, before) << choice.details;
    before = at;
  }
}

TEST_F(AddedChannel, IsTriedAndFoundAgain) {
  if (test::world_size() == 1) GTEST_SKIP() << "nothing is measured on one rank";
  Settings settings;
  settings.algorithm = "linear", settings.tune = Tune::measure;
  const Choice choice = run(64, settings);
  for (const char* label : {"linear/late", "linear/late/late by 2", "linear/shared+late/late by 2"})
    EXPECT_NE(choice.details.find(text(label, " (predicted")), std::string::npos) << choice.details;
  settings.tune = Tune::model;
  for (const Candidate& c : enumerate(problem(64), settings, {})) {
    const auto found = find_candidate(c.label(), problem(64), settings);
    ASSERT_TRUE(found) << c.label();
    EXPECT_EQ(found->channel, c.channel) << c.label();
  }
}

}  // namespace
}  // namespace tonari
