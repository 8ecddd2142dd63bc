// SPDX-License-Identifier: BSD-3-Clause
// Ghosts that are the neighbors' pages. An exchange between ranks of a node moves no bytes: it says
// "my copy is complete" and sees that theirs are.
//
// Why that is enough. A rank computes the new copy from the old one, reading ghosts of the old one,
// then publishes the new one. Before it overwrites the old copy it waits until all neighbors have
// published the new one; each did so after it had read its ghosts of the old copy, which are this
// rank's cells. So nobody reads what is being written, provided that copies are written in turn.
//
// While the grid's thread starts or tests one exchange, another thread that waits may drive on a
// second one (engine/in_flight.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "channels/node.hpp"
#include "memory/mapped_file.hpp"

namespace tonari {

class HaloGrid;

class GhostMaps {
 public:
  // Collective. `storages` are the views of the grid's storage, by HaloGrid::number; their ghosts
  // are mapped anew, read-only. Throws the same on all ranks.
  GhostMaps(const HaloGrid& grid, std::vector<View>& storages);

  // ghosts that it owns are mapped
  bool reaches(int rank) const { return rank == rank_ || words_.contains(rank); }

  // Throws Errc::active if since this copy was published no exchange of another one was started and
  // is complete; Errc::peer after give_up.
  void check_turn(int copy) const;
  void publish(int copy);
  // Tells whether all neighbors have published this copy as often as this rank. Throws Errc::peer
  // if one gave up.
  bool complete(int copy) const;
  // this rank has seen it complete: what was published before may be written again
  void finish(int copy);
  void check_peers() const;  // throws Errc::peer if one that is waited for has ended
  void give_up();            // nobody shall wait for this rank any more

 private:
  std::map<int, FileName> swap_names(const HaloGrid& grid) const;
  void map_ghosts(const HaloGrid& grid, std::vector<View>& storages,
                  const std::map<int, std::shared_ptr<const MappedFile>>& files) const;

  std::shared_ptr<const Node> node_;
  int rank_;
  std::vector<int> peers_;            // other ranks of this node that are neighbors, ascending
  View mine_;                         // this rank's words
  std::map<int, View> words_;         // the peers'
  std::vector<std::uint64_t> times_;  // by copy: how often it was published
  // by copy: when it was published last, in publications of any copy
  std::vector<std::uint64_t> since_;
  std::uint64_t publications_ = 0;
  // the newest publication that is complete: what was published before has its turn again
  std::atomic<std::uint64_t> seen_ = 0;
  bool gave_up_ = false;
};

}  // namespace tonari
