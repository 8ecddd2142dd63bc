// SPDX-License-Identifier: BSD-3-Clause
#include "preload/vote.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/setting_table.hpp"
#include "preload/progress.hpp"

namespace tonari::preload {
namespace {

bool is_set(const Setting& row) { return in_environment(row).has_value(); }

// A program cannot be told of wrong values by an error of the MPI. They count as if nothing were
// set, and the sentence about each says so.
std::string wrong_value(const Setting& row) {
  const auto word = in_environment(row);
  const auto wrong = error_of([&] { (void)read_choice(row, word.value_or(row.standard)); });
  return wrong ? text(wrong->what(), " (Here it counts as ", row.standard, ".)") : "";
}

std::string read_word(const Setting& row) {
  return wrong_value(row).empty() ? in_environment(row).value_or(row.standard) : row.standard;
}

constexpr const Setting* all_rows[] = {&setting("TONARI_PRELOAD"), &setting("TONARI_REPAIR")};

bool is_misinformed() {
  return std::ranges::any_of(all_rows,
                             [](const Setting* row) { return !wrong_value(*row).empty(); });
}

void say_what_is_wrong() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const Setting* row : all_rows)
      if (const std::string wrong = wrong_value(*row); !wrong.empty())
        std::fprintf(stderr, "tonari: warning: %s\n", wrong.c_str());
  });
}

int wanted() {
  const std::string word = read_word(setting("TONARI_PRELOAD"));
  return word == "native" ? 0 : word == "tonari" ? 2 : 1;
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
  vote.repairs = read_word(setting("TONARI_REPAIR")) == "1";
  vote.ahead = ahead || vote.wants == 2 || vote.repairs;  // who asked for tonari gets it always
  vote.drives = mpi_drives_exchanges();
  vote.streams = !is_set(setting("TONARI_ALGORITHM")) && !is_set(setting("TONARI_CHANNEL")) &&
                 !is_set(setting("TONARI_PROGRESS"));
  vote.node = node, vote.minus_node = -node;
  return vote;
}

Vote least_of_all(MPI_Comm comm, const Vote& mine) {
  Vote least, here = mine;
  constexpr int words = sizeof(Vote) / sizeof(int);
  if (is_misinformed()) (void)PMPI_Comm_rank(comm, &here.misinformed);
  if (PMPI_Allreduce(&here, &least, words, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS) return {};
  if (least.misinformed == here.misinformed && least.misinformed != INT_MAX) say_what_is_wrong();
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
