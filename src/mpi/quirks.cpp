// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/quirks.hpp"

#include <algorithm>
#include <charconv>

#include "mpi/library_version.hpp"
#include "mpi/same_mpi.hpp"

namespace tonari {
namespace {

// The number behind these words and what separates them from it; 0 if they are not there.
int number_behind(std::string_view words, std::string_view text) {
  const std::size_t at = text.find(words);
  if (at == text.npos) return 0;
  text.remove_prefix(at + words.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

Quirks quirks_of(std::string_view version) {
  Quirks found;
  const MpiFamily family = family_of(version);
  found.bytes_only = family == MpiFamily::mpich;
  found.neighbors = found.alltoallw_in_place =
      family == MpiFamily::mpich && number_behind("MPICH Version:", version) < 5;
  const int open_mpi = number_behind("Open MPI v", version);
  found.graph_keeps_topology = found.idup_spoils = open_mpi >= 5;
  found.idup_fails_at_world = open_mpi > 0 && open_mpi < 5;
  return found;
}

const Quirks& quirks() {
  static const Quirks found = quirks_of(library_version());
  return found;
}

}  // namespace tonari
