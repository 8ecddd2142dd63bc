// SPDX-License-Identifier: BSD-3-Clause
#include "engine/wait/known_processes.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/lasting.hpp"
#include "memory/launched_ranks.hpp"
#include "memory/process.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/world.hpp"

namespace tonari {
namespace {

struct Process {
  std::int64_t number = 0;
  std::weak_ptr<const Node> node;  // that watches it
  std::size_t index = 0;
  // Where there is no node yet. One of several processes may be the rank, so all must have ended.
  std::vector<std::shared_ptr<const Watch>> watches;

  bool ended() const {
    if (const std::shared_ptr<const Node> watching = node.lock()) return watching->ended(index);
    const auto has_ended = [](const auto& watch) { return watch->ended(); };
    return !watches.empty() && std::ranges::all_of(watches, has_ended);
  }
};

struct Known {
  std::mutex mutex;
  std::map<int, Process> processes;  // by ranks in MPI_COMM_WORLD
  std::set<std::int64_t> connected;  // processes, also those of sessions, which have no such rank
};
Known& known() { return lasting<Known>(); }

// Ranks of the communicator as MPI_COMM_WORLD numbers them; a process that is not in it has
// MPI_UNDEFINED, and so have all where sessions run without a world. Local.
std::vector<int> in_world(MPI_Comm comm, const std::vector<int>& ranks) {
  std::vector<int> found(ranks.size(), MPI_UNDEFINED);
  if (!world_runs()) return found;
  MPI_Group here = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  if (MPI_Comm_group(comm, &here) != MPI_SUCCESS ||
      MPI_Comm_group(MPI_COMM_WORLD, &world) != MPI_SUCCESS)
    return found;
  MPI_Group_translate_ranks(here, static_cast<int>(ranks.size()), ranks.data(), world,
                            found.data());
  MPI_Group_free(&here), MPI_Group_free(&world);
  return found;
}

std::vector<int> all_in_world(MPI_Comm comm) {
  const int size = ranks_of(comm);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) ranks[static_cast<std::size_t>(r)] = r;
  return in_world(comm, ranks);
}

bool all_known(const std::vector<int>& world) {
  const std::lock_guard lock(known().mutex);
  for (const int rank : world)
    if (rank != MPI_UNDEFINED && !known().processes.contains(rank)) return false;
  return true;
}

}  // namespace

void know_processes(MPI_Comm comm, const std::shared_ptr<const Node>& node) {
  const std::vector<int> ranks(node->ranks().begin(), node->ranks().end());
  const std::vector<int> world = in_world(comm, ranks);
  const std::lock_guard lock(known().mutex);
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    known().connected.insert(node->process(k));
    if (world[k] != MPI_UNDEFINED) known().processes[world[k]] = {node->process(k), node, k, {}};
  }
}

namespace {

// Once: whoever is in a call of the library has been started, and so have all others.
void find_launched() {
  static std::atomic<bool> asked{false};
  if (asked.exchange(true)) return;
  for (const LaunchedRank& found : launched_ranks()) {
    Process process{found.process, {}, 0, {}};
    for (const std::int64_t each : found.all)
      process.watches.push_back(std::make_shared<const Watch>(each));
    const std::lock_guard lock(known().mutex);
    known().processes.try_emplace(found.rank, std::move(process));
  }
}

bool none_known() {
  const std::lock_guard lock(known().mutex);
  return known().processes.empty();
}

}  // namespace

void find_launched_processes(MPI_Comm comm) {
  if (!all_known(all_in_world(comm))) find_launched();
}

void find_launched_processes() {
  if (none_known()) find_launched();
}

std::vector<KnownProcess> known_processes(MPI_Comm comm) {
  const std::vector<int> world = all_in_world(comm);
  std::vector<KnownProcess> found;
  const std::lock_guard lock(known().mutex);
  for (std::size_t r = 0; r < world.size(); ++r)
    if (const auto at = known().processes.find(world[r]);
        at != known().processes.end() && at->second.number != this_process())
      found.push_back({static_cast<std::int32_t>(r), at->second.number, at->second.ended(),
                       known().connected.contains(at->second.number)});
  return found;
}

std::vector<KnownProcess> known_processes() {
  std::vector<KnownProcess> found;
  const std::lock_guard lock(known().mutex);
  for (const auto& [rank, process] : known().processes)
    if (process.number != this_process())
      found.push_back(
          {rank, process.number, process.ended(), known().connected.contains(process.number)});
  return found;
}

std::int32_t known_rank() {
  const std::lock_guard lock(known().mutex);
  for (const auto& [rank, process] : known().processes)
    if (process.number == this_process()) return rank;
  return -1;
}

void check_all_alive(MPI_Comm comm) {
  for (const KnownProcess& other : known_processes(comm))
    if (other.ended)
      fail(Errc::peer, "rank ", other.rank, " (process ", other.process,
           ") has ended, and all ranks wait for it in a call that they make together; start the "
           "program again");
}

}  // namespace tonari
