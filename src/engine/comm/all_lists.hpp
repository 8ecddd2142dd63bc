// SPDX-License-Identifier: BSD-3-Clause
// In a small communicator every rank learns the lists of all, in one meeting. After that it looks
// at the graph, and plans, for all ranks in its own process (docs/adr/0054). Meetings cost more
// than that work: planning one graph takes up to 150 of them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "engine/comm/read_topology.hpp"
#include "topology/vertex.hpp"

namespace tonari {

class AllLists {
 public:
  // Local. Takes the memory for what all ranks tell; in a large communicator none.
  explicit AllLists(int ranks);
  AllLists() = default;

  // What this rank's lists take. They are only told if they have room on all ranks.
  static std::uint64_t words(const TopologyLists& lists);
  bool has_room(std::uint64_t most_words) const { return most_words <= room_; }

  // Collective, and needs no memory: begins right after an agreement. node: the lowest rank of this
  // one's node.
  void tell(MPI_Comm comm, const TopologyLists& mine, std::int32_t node);
  // Of all ranks, as they have told. Local.
  std::vector<Vertex> vertices() const;

 private:
  std::size_t room_ = 0;  // words of each rank
  std::vector<std::int32_t> mine_, all_;
};

}  // namespace tonari
