// SPDX-License-Identifier: BSD-3-Clause
// Ghosts that are the neighbors' pages. An exchange between ranks of a node moves no bytes: it says
// "my copy is complete" and sees that theirs are (ghost_turns.hpp).
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "channels/node.hpp"
#include "engine/comm/context.hpp"
#include "engine/wait/awaited.hpp"
#include "grid/ghost_turns.hpp"
#include "grid/grid_layout.hpp"
#include "memory/mapped_file.hpp"

namespace tonari {

class GhostMaps {
 public:
  // Collective. `storages` are the views of the grid's storage in `file`, by GridLayout::number;
  // their ghosts are mapped anew, read-only. Throws the same on all ranks.
  GhostMaps(const Context& context, const GridLayout& layout, const MappedFile& file,
            std::vector<View>& storages);

  // ghosts that it owns are mapped
  bool reaches(int rank) const { return rank == rank_ || words_.contains(rank); }

  // When copies have their turn; of the ranks that share ghosts.
  GhostTurns& turns() { return *turns_; }
  void check_peers() const;  // throws Errc::peer if one that is waited for has ended
  void awaits(int copy, Awaited& awaited) const;  // those that have not published it

 private:
  std::map<int, FileName> swap_names(MPI_Comm comm, const MappedFile& file) const;
  void map_ghosts(const GridLayout& layout, const MappedFile& mine, std::vector<View>& storages,
                  const std::map<int, std::shared_ptr<const MappedFile>>& files) const;

  std::shared_ptr<const Node> node_;
  int rank_;
  std::vector<int> peers_;     // other ranks of this node that are neighbors, ascending
  View mine_;                  // this rank's words
  std::map<int, View> words_;  // the peers'
  std::unique_ptr<GhostTurns> turns_;
};

}  // namespace tonari
