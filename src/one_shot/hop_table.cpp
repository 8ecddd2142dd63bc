// SPDX-License-Identifier: BSD-3-Clause
#include "one_shot/hop_table.hpp"

#include <algorithm>

#include "base/classic.hpp"
#include "engine/tune/contest.hpp"
#include "engine/tune/wisdom.hpp"
#include "engine/wait/agree.hpp"
#include "mpi/collective.hpp"
#include "one_shot/hop_trial.hpp"

namespace tonari {
namespace {

// One size of blocks gets this part of the time for measuring, which the first one-shot call waits
// for.
constexpr double part_of_size = 1.0 / 50;

// Returns how many bytes every rank can send to each of its neighbors in one part.
std::size_t common_room(Context& context, const Streams& streams) {
  std::int64_t room = std::int64_t{1} << 30;
  for (std::size_t k = 0; k < streams.size(); ++k)
    room = std::min(room, static_cast<std::int64_t>(streams[k].out->first_room()));
  stay_together(context.comm());
  reduce_all(&room, 1, MPI_INT64_T, MPI_MIN, context.comm());
  return static_cast<std::size_t>(room);
}

std::string question(Context& context, const HopTable::Row& row) {
  return text("one-shot|", context.topology().fingerprint, "|", name(row.plan->collective), "|",
              context.shares_memory(), "|", row.combining.variant->label());
}

}  // namespace

HopTable::HopTable(Context& context, const std::shared_ptr<Streams>& streams, Tune tune,
                   WaitPolicy wait) {
  const auto& near = context.topology().near;
  if (!near || !context.several_nodes()) return;
  elsewhere_ = sizes_elsewhere(*near);
  if (elsewhere_ == SizesElsewhere::unknown) return;
  const std::size_t room = common_room(context, *streams);
  const LogGP* machine = nullptr;
  if (tune != Tune::off) {
    stay_together(context.comm());
    machine = &context.machine();
  }
  for (const Collective collective : {Collective::alltoall, Collective::allgather}) {
    const CombiningQuestion asked{*near, collective, machine, room, tune == Tune::model};
    if (Combining found = best_combining(context.planners(), asked); found.variant)
      add(context, streams, tune, wait, std::move(found));
  }
}

void HopTable::add(Context& context, const std::shared_ptr<Streams>& streams, Tune tune,
                   WaitPolicy wait, Combining combining) {
  const Collective collective = combining.collective;
  auto plan = std::make_shared<const HopPlan>(combining.variant->plan(context.rank()), collective,
                                              *streams);
  Row& row = rows_[static_cast<std::size_t>(collective)].emplace(
      Row{std::move(combining), std::move(plan), tune == Tune::off ? "fixed rule" : "model"});
  if (tune == Tune::off || tune == Tune::model) return;
  stay_together(context.comm());
  const std::string key = wisdom_key(context, question(context, row));
  if (const auto known = recall(context, std::span(&key, 1)); !known.empty()) {
    const double most = real_number(known[0].label).value_or(0);  // the file may say anything
    if (!(most >= static_cast<double>(row.combining.most)))
      row.combining.most = most > 0 ? static_cast<Bytes>(most) : 0;
    row.reason = "wisdom";
    return;
  }
  const double seconds = part_of_size * tune_seconds(context.comm(), tune);
  const HopTrial trial = try_hops(context, streams, row.plan, row.combining.most, seconds, wait);
  row.combining.most = trial.most;
  row.reason = "measured";
  if (trial.steady) remember(context, key, {std::to_string(trial.most)});
}

const HopTable::Row* HopTable::find(Collective collective, Bytes sent, Bytes received) const {
  const std::optional<Row>& row = rows_[static_cast<std::size_t>(collective)];
  const bool same = sent == received || elsewhere_ == SizesElsewhere::equal;
  return row && same && sent > 0 && sent <= row->combining.most ? &*row : nullptr;
}

}  // namespace tonari
