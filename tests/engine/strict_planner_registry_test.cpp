// SPDX-License-Identifier: BSD-3-Clause
#include "engine/comm/strict_planner_registry.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "planners/graphs/relay.hpp"
#include "support/oracle.hpp"

namespace tonari {
namespace {

Vertex alone(int rank) {
  Vertex vertex;
  vertex.rank = vertex.node = rank;
  vertex.node_ranks = {rank};
  return vertex;
}

// A variant that cannot make its plan on one rank, and makes empty ones elsewhere.
class FailsOnOneRank final : public Variant {
 public:
  explicit FailsOnOneRank(int rank) : Variant("broken", ""), rank_(rank) {}
  std::size_t rounds() const override { return 0; }
  std::size_t messages() const override { return 0; }
  std::size_t hops() const override { return 0; }
  std::size_t tags() const override { return 0; }
  Plan plan(int rank, EmitOptions options) const override {
    if (rank == rank_) fail(Errc::memory, "rank ", rank, " has no room for its plan");
    return emit(alone(rank), Collective::alltoall, {}, options.ports);
  }
  std::uint64_t dedup_key() const override { return 0; }

 private:
  int rank_;
};

class OneVariant final : public PlannerRegistry {
 public:
  explicit OneVariant(int failing) : scheme_(std::make_shared<FailsOnOneRank>(failing)) {}
  std::vector<std::string> algorithms() const override { return {"broken"}; }
  std::vector<VariantPtr> variants(const std::string&, Collective, double,
                                   const std::optional<std::string>&, std::string&) override {
    return {scheme_};
  }

 private:
  VariantPtr scheme_;
};

TEST(StrictPlannerRegistry, APlanThatFailsOnOneRankFailsOnAll) {
  const int rank = test::world_rank(), last = test::world_size() - 1;
  const Vertex vertex = alone(rank);
  std::string reason;
  StrictPlannerRegistry broken(std::make_unique<OneVariant>(last), vertex, MPI_COMM_WORLD);
  for (int again = 0; again < 2; ++again) try {
      broken.variants("broken", Collective::alltoall, 8, std::nullopt, reason);
      ADD_FAILURE() << "on rank " << rank;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::memory);
      EXPECT_EQ(std::string(error.what()), text("rank ", last, " has no room for its plan"));
    }
  StrictPlannerRegistry whole(std::make_unique<OneVariant>(-1), vertex, MPI_COMM_WORLD);
  EXPECT_EQ(whole.variants("broken", Collective::alltoall, 8, std::nullopt, reason).size(), 1u);
}

}  // namespace
}  // namespace tonari
