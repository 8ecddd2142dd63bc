// SPDX-License-Identifier: BSD-3-Clause
#include "analysis/schedule_plan.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "plan/builder.hpp"

namespace tonari {
namespace {

// Makes plans for one rank after the other, and keeps where blocks lie there.
class PlanMaker {
 public:
  explicit PlanMaker(const CommunicationMatrix& matrix)
      : matrix_(matrix), rank_of_(matrix.blocks(), -1), slice_of_(matrix.blocks()) {}

  // messages: those that the rank sends or receives, by stage.
  Plan plan(const MessageSchedule& schedule, int rank,
            std::span<const CombinedMessage* const> messages) {
    Builder builder(rank, matrix_.column(rank).size());
    for (auto begin = messages.begin(); begin != messages.end();) {
      const auto end = std::find_if(begin, messages.end(), [&](const CombinedMessage* m) {
        return m->stage != (*begin)->stage;
      });
      // What arrives in a stage does not leave in it
      for (auto m = begin; m != end; ++m)
        if ((*m)->from == rank) send(builder, rank, **m, schedule.blocks(**m));
      for (auto m = begin; m != end; ++m)
        if ((*m)->to == rank) receive(builder, rank, **m, schedule.blocks(**m));
      begin = end;
    }
    for (BlockNumber b : matrix_.column(rank))
      if (rank_of_[b] != rank)
        fail(Errc::internal, "the block from rank ", matrix_.origin(b), " does not reach rank ",
             rank);
    return builder.build();
  }

 private:
  void send(Builder& builder, int rank, const CombinedMessage& m,
            std::span<const BlockNumber> blocks) {
    for (BlockNumber b : blocks) {
      if (matrix_.origin(b) == rank)
        builder.slice({Buffer::send, b - matrix_.first_of(rank)});
      else if (rank_of_[b] == rank)
        builder.slice(slice_of_[b]);
      else
        fail(Errc::internal, "rank ", rank, " passes on the block from ", matrix_.origin(b), " to ",
             matrix_.target(b), " in stage ", m.stage, " without having it");
    }
    builder.send(m.to, m.stage);
  }

  void receive(Builder& builder, int rank, const CombinedMessage& m,
               std::span<const BlockNumber> blocks) {
    for (BlockNumber b : blocks) {
      if (rank_of_[b] == rank || matrix_.origin(b) == rank)
        fail(Errc::internal, "rank ", rank, " receives the block from ", matrix_.origin(b), " to ",
             matrix_.target(b), " in stage ", m.stage, " though it has it");
      rank_of_[b] = rank;
      slice_of_[b] = matrix_.target(b) == rank ? Slice{Buffer::recv, place_in_column(b)}
                                               : builder.scratch(foreign);
      builder.slice(slice_of_[b]);
    }
    builder.recv(m.from, m.stage);
  }

  std::uint32_t place_in_column(BlockNumber b) const {
    const auto column = matrix_.column(matrix_.target(b));
    return static_cast<std::uint32_t>(std::lower_bound(column.begin(), column.end(), b) -
                                      column.begin());
  }

  const CommunicationMatrix& matrix_;
  std::vector<std::int32_t> rank_of_;  // the last rank that received a block, and where it put it
  std::vector<Slice> slice_of_;
};

}  // namespace

Plan schedule_plan(const CommunicationMatrix& matrix, const MessageSchedule& schedule, int rank) {
  std::vector<const CombinedMessage*> own;
  for (const CombinedMessage& m : schedule.messages())
    if (m.from == rank || m.to == rank) own.push_back(&m);
  return PlanMaker(matrix).plan(schedule, rank, own);
}

std::vector<Plan> schedule_plans(const CommunicationMatrix& matrix,
                                 const MessageSchedule& schedule) {
  std::vector<std::vector<const CombinedMessage*>> of(static_cast<std::size_t>(matrix.ranks()));
  for (const CombinedMessage& m : schedule.messages()) {
    of[m.from].push_back(&m);
    of[m.to].push_back(&m);
  }
  PlanMaker maker(matrix);
  std::vector<Plan> plans;
  for (int r = 0; r < matrix.ranks(); ++r) plans.push_back(maker.plan(schedule, r, of[r]));
  return plans;
}

}  // namespace tonari
