// SPDX-License-Identifier: BSD-3-Clause
// Sparse exchanges whose limits are so low that few messages take what otherwise takes gigabytes:
// pieces that are full, long messages in parts, and more than what is kept ready.
#include "sparse/sparse_exchange.hpp"

#include <random>

#include "base/hash.hpp"
#include "engine/comm/mpi_bsp_comm.hpp"
#include "engine/comm/shared_comm.hpp"
#include "mpi/owned_comm.hpp"
#include "support/counting.hpp"
#include "support/oracle.hpp"

namespace tonari {
namespace {

using test::world_rank;
using test::world_size;
using Kind = SparseMethod::Kind;

struct Sent {
  std::int32_t to;
  std::vector<std::byte> bytes;
};

// What a rank sends in an exchange; every rank can tell for every rank.
std::vector<Sent> sent_by(int rank, unsigned exchange) {
  std::mt19937 random(static_cast<unsigned>(Hash().word(exchange).word(rank).value()));
  std::vector<Sent> list(random() % 12);
  const unsigned most = exchange % 3 == 0 ? 3 : 150;
  for (Sent& m : list) {
    m.to = static_cast<std::int32_t>(random() % static_cast<unsigned>(world_size()));
    m.bytes.resize(random() % most);
    for (std::byte& b : m.bytes) b = static_cast<std::byte>(random());
  }
  return list;
}

void expect_arrived(unsigned exchange, const SparseResult& result) {
  std::size_t k = 0;
  MPI_Aint at = 0;
  for (int from = 0; from < world_size(); ++from)
    for (const Sent& m : sent_by(from, exchange)) {
      if (m.to != world_rank()) continue;
      ASSERT_LT(k, result.sources.size());
      EXPECT_EQ(result.sources[k], from);
      ASSERT_EQ(result.sizes[k], static_cast<MPI_Count>(m.bytes.size()));
      ASSERT_EQ(result.places[k], at);
      EXPECT_TRUE(std::equal(m.bytes.begin(), m.bytes.end(), result.data.get() + at));
      at += static_cast<MPI_Aint>(m.bytes.size());
      ++k;
    }
  EXPECT_EQ(k, result.sources.size());
}

std::vector<SparseMessage> messages_of(const std::vector<Sent>& sent) {
  std::vector<SparseMessage> messages;
  for (const Sent& m : sent) messages.push_back({m.to, m.bytes.data(), m.bytes.size()});
  return messages;
}

// With messages between all pairs, and without, as many ranks are.
class SparseExchangeTest : public testing::TestWithParam<bool> {
 protected:
  SparseExchangeTest() {
    duplicate(MPI_COMM_WORLD, comm);
    bsp.emplace(comm.get());
  }
  std::unique_ptr<PairMessages> pairs() const {
    return GetParam() ? connect_pairs(*SharedComm::of(comm.get())) : nullptr;
  }
  std::vector<SparseMethod> methods() const {
    std::vector<SparseMethod> all{{Kind::nbx}, {Kind::personalized}, {Kind::store_and_forward, 1}};
    if (GetParam()) all.push_back({Kind::pairwise});
    if (world_size() >= 4) all.push_back({Kind::store_and_forward, 2});
    return all;
  }
  void run(SparseExchange& exchange, unsigned k, SparseMethod method) {
    const std::vector<Sent> sent = sent_by(world_rank(), k);
    const std::vector<SparseMessage> messages = messages_of(sent);
    const SparseTask call{std::nullopt, method, messages, {Ballot(k), Ballot(7)}};
    SparseResult result;
    exchange.open(call, result);
    exchange.wait();
    EXPECT_TRUE(exchange.same()[0] && exchange.same()[1]);
    exchange.complete(&*bsp);
    exchange.wait();
    expect_arrived(k, result);
  }

  OwnedComm comm;
  std::optional<MpiBspComm> bsp;
};

TEST_P(SparseExchangeTest, PiecesAndParts) {
  SparseExchange exchange(comm.get(), pairs(),
                          {.little = 300, .kept = 2000, .short_most = 40, .piece = 64, .part = 24});
  const std::vector<SparseMethod> all = methods();
  for (unsigned k = 0; k < static_cast<unsigned>(test::cases(300)); ++k) {
    SCOPED_TRACE("exchange " + std::to_string(k));
    run(exchange, k, all[k % all.size()]);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// Memory for the bytes of the last exchange is there, so nobody has to agree on it.
TEST_P(SparseExchangeTest, AsManyBytesAsLastTimeNeedOneAgreement) {
  if (!test::counts_allocations()) GTEST_SKIP() << "allocations are not counted";
  SparseExchange exchange(comm.get(), pairs());
  const std::vector<std::byte> bytes(70000, std::byte(world_rank()));
  const SparseMessage message{(world_rank() + 1) % world_size(), bytes.data(), bytes.size()};
  const SparseTask call{std::nullopt,
                        {GetParam() ? Kind::pairwise : Kind::nbx},
                        std::span(&message, 1),
                        {Ballot(1), Ballot(7)}};
  SparseResult result;
  for (int round = 0; round < 4; ++round) {
    result.clear();
    test::arm();
    exchange.open(call, result);
    exchange.wait();
    exchange.complete(nullptr);
    exchange.wait();
    const auto counted = test::disarm();
    EXPECT_EQ(counted.collectives, GetParam() ? 0 : round == 0 ? 2 : 1) << counted.first;
    EXPECT_EQ(counted.allocations == 0, round > 1) << "round " << round;
    ASSERT_EQ(result.sizes, std::vector<MPI_Count>{70000});
    EXPECT_EQ(result.data[69999], std::byte((world_rank() + world_size() - 1) % world_size()));
  }
}

// All ranks throw the sentence of the lowest that has failed, and then exchange.
TEST_P(SparseExchangeTest, ErrorsOfSomeRanks) {
  SparseExchange exchange(comm.get(), pairs());
  for (const SparseMethod method : methods()) {
    SCOPED_TRACE(method.name());
    const int lowest = world_size() / 2;
    std::optional<Error> mine;
    if (world_rank() >= lowest)
      mine = Error(Errc::topology, text("rank ", world_rank(), " says no", std::string(700, '!')));
    const std::vector<Sent> sent = sent_by(world_rank(), 2);
    const std::vector<SparseMessage> messages = messages_of(sent);
    const SparseTask call{mine, method, messages, {Ballot(1), Ballot(7)}};
    SparseResult result;
    const std::optional<Error> thrown = error_of([&] {
      exchange.open(call, result);
      exchange.wait();
    });
    ASSERT_TRUE(thrown);
    EXPECT_EQ(thrown->code(), Errc::topology);
    EXPECT_EQ(thrown->what(), text("rank ", lowest, " says no", std::string(700, '!')));
    EXPECT_TRUE(exchange.finished());
    run(exchange, 5, method);
  }
}

INSTANTIATE_TEST_SUITE_P(WithPairs, SparseExchangeTest, testing::Bool());

// Few ranks count, many ranks with few messages synchronize, and with many messages they forward.
TEST(SparseExchange, TheModelChoosesAmongAll) {
  EXPECT_EQ(fastest_method(8, 7, 100).name(), "pairwise");
  EXPECT_EQ(fastest_method(64, 26, 1e4).name(), "personalized");
  EXPECT_EQ(fastest_method(100'000, 26, 1e4).name(), "nbx");
  EXPECT_EQ(fastest_method(4096, 2000, 2e4).kind, Kind::store_and_forward);
  EXPECT_NE(fastest_method(4096, 2000, 2e4, false).kind, Kind::store_and_forward);
  EXPECT_EQ(fastest_method(4096, 2000, 2e9).kind, Kind::personalized);  // each byte travels once
}

}  // namespace
}  // namespace tonari
