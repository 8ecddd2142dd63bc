// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/follow_schedule.hpp"

#include "engine/comm/read_topology.hpp"
#include "engine/wait/agree.hpp"
#include "planners/graphs/scheduled.hpp"

namespace tonari {
namespace {

// Of different ranks, at most; the same on all ranks.
std::uint64_t pairs_of(const Context& context) {
  const LocalTopology& topology = context.topology();
  if (!topology.near) return static_cast<std::uint64_t>(topology.facts.pairs);
  return topology.near->offsets.size() * static_cast<std::uint64_t>(context.ranks());
}

// Collective, after ranks were found to have read different bytes.
[[noreturn]] void fail_on_different_files(const Context& context, std::uint64_t fingerprint) {
  const MPI_Comm comm = context.comm();
  const std::string& name = context.settings().schedule;
  run_collectively(comm, [&] {
    const std::string mine = std::to_string(fingerprint);
    if (broadcast_line(comm, mine) != mine)
      fail(Errc::mismatch, "the schedule '", name, "' (tonari_schedule) is another file on rank ",
           context.rank(), " than on rank 0; give all ranks a copy of the same one");
  });
  fail(Errc::mismatch, "the schedule '", name,
       "' (tonari_schedule) is not the same file on all ranks; give all ranks a copy of one");
}

}  // namespace

void follow_schedule(Context& context) {
  const std::string& name = context.settings().schedule;
  if (name.empty()) return;  // on all ranks: it was compared
  OwnSchedule own;
  const std::optional<Error> wrong = error_of([&] {
    own = read_schedule_file({name, context.rank(), context.ranks(),
                              most_schedule_bytes(context.ranks(), pairs_of(context))});
    check_schedule(context.vertex(), own, name);
  });
  const std::uint64_t fingerprint = own.fingerprint & largest_ballot;
  const Ballot print(fingerprint);
  if (!agree(context.comm(), wrong, {&print, 1})[0]) fail_on_different_files(context, fingerprint);
  context.follow(std::move(own));
}

}  // namespace tonari
