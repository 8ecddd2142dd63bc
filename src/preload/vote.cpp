// SPDX-License-Identifier: BSD-3-Clause
#include "preload/vote.hpp"

#include <climits>
#include <functional>
#include <string>
#include <string_view>

#include "base/setting_table.hpp"
#include "preload/progress.hpp"

namespace tonari::preload {
namespace {

bool is_set(const Setting& row) { return in_environment(row).has_value(); }

int wanted() {
  const std::string mode = in_environment(setting("TONARI_PRELOAD")).value_or("auto");
  return mode == "native" ? 0 : mode == "tonari" ? 2 : 1;
}

// 0: several, made up for tests, or unknown.
int node_number() {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  if (is_set(setting("TONARI_NODES")) || PMPI_Get_processor_name(name, &length) != MPI_SUCCESS)
    return 0;
  return static_cast<int>(std::hash<std::string_view>()(name) % (INT_MAX - 1)) + 1;
}

}  // namespace

Vote my_vote(Room room, bool ahead) {
  static const int node = node_number();
  Vote vote;
  vote.room = room;
  vote.wants = wanted();
  vote.repairs = in_environment(setting("TONARI_REPAIR")).value_or("0") == "1";
  vote.ahead = ahead || vote.wants == 2 || vote.repairs;  // who asked for tonari gets it always
  vote.drives = mpi_drives_exchanges();
  vote.streams = !is_set(setting("TONARI_ALGORITHM")) && !is_set(setting("TONARI_CHANNEL")) &&
                 !is_set(setting("TONARI_PROGRESS"));
  vote.node = node, vote.minus_node = -node;
  return vote;
}

Vote least_of_all(MPI_Comm comm, const Vote& mine) {
  Vote least;
  constexpr int words = sizeof(Vote) / sizeof(int);
  if (PMPI_Allreduce(&mine, &least, words, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS) return {};
  return least;
}

Fault worst_of_all(MPI_Comm comm, Fault mine) {
  const int fault = static_cast<int>(mine);
  int worst = fault;
  if (PMPI_Allreduce(&fault, &worst, 1, MPI_INT, MPI_MAX, comm) != MPI_SUCCESS)
    return Fault::of_program;
  return static_cast<Fault>(worst);
}

}  // namespace tonari::preload
