// SPDX-License-Identifier: BSD-3-Clause
// When copies of a grid whose ghosts are the neighbors' pages may be read and written. Each rank
// has a word per copy in memory that its neighbors on the node map: how often it has published the
// copy.
//
// Why that is enough. A rank computes the new copy from the old one, reading ghosts of the old one,
// then publishes the new one. Before it overwrites the old copy it waits until all neighbors have
// published the new one; each did so after it had read its ghosts of the old copy, which are this
// rank's cells. So nobody reads what is being written, provided that copies are written in turn.
//
// While the grid's thread starts or tests one exchange, another thread that waits may drive on a
// second one (engine/wait/in_flight.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace tonari {

class GhostTurns {
 public:
  // bytes from the word of one copy to that of the next: processors fetch pairs of cache lines
  static constexpr std::size_t apart = 128;

  // mine, theirs: the words of this rank and of others, by rank; zeros at first.
  GhostTurns(std::byte* mine, std::map<int, std::byte*> theirs, std::size_t copies)
      : mine_(mine), theirs_(std::move(theirs)), times_(copies), since_(copies) {}

  // Throws Errc::active if since this copy was published no exchange of another one was started and
  // is complete; Errc::peer after give_up.
  void check_turn(int copy) const;
  void publish(int copy);
  // Tells whether all neighbors have published this copy as often as this rank. Throws Errc::peer
  // if one gave up.
  bool complete(int copy) const;
  bool waits_for(int peer, int copy) const;  // it has not published the copy as often
  // this rank has seen it complete: what was published before may be written again
  void finish(int copy);
  void give_up();  // nobody shall wait for this rank any more

 private:
  std::byte* mine_;
  std::map<int, std::byte*> theirs_;
  std::vector<std::uint64_t> times_;  // by copy: how often it was published
  // by copy: when it was published last, in publications of any copy
  std::vector<std::uint64_t> since_;
  std::uint64_t publications_ = 0;
  // the newest publication that is complete: what was published before has its turn again
  std::atomic<std::uint64_t> seen_ = 0;
  bool gave_up_ = false;
};

}  // namespace tonari
