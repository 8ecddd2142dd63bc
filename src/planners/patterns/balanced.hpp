// SPDX-License-Identifier: BSD-3-Clause
// balanced: few messages for every rank at little volume. It is tonari's own; the papers' schemes
// are its ends: direct sending, and store and forward on a topology, which here is not given but
// found in the pattern.
//
//   All stages start with the edges of the pattern itself: a rank that writes to another anyway may
//   do so in every stage. Then edges are deleted as long as every block still has a path, one edge
//   per stage at most, in their order:
//
//        stage 0    a ───▶ x            x writes to t anyway, so (a, t) can go, in both stages;
//        stage 1           x ───▶ t     and x's other targets come along over (a, x)
//
//   1. Thinning (two stages: thinning.hpp). The busiest rank is next, by messages sent or received
//      times the square root of what it has in the pattern. So ranks with much to do get far while
//      the others still offer ways round. It deletes those of its edges that could serve the fewest
//      pairs of the pattern. Blocks with many words on them count against an edge, so that hubs
//      remain. A deletion is made if it costs at most `price` more words. What cannot be deleted
//      now never can, as ways only become fewer: every edge is tried once, or twice, from both
//      ends.
//   2. Leveling (two_hops.hpp). The busiest rank closes one of its edges, those with few words
//      first. Blocks without a way get a new edge, whatever the pattern, between ranks with room.
//      This goes on until the busiest rank finds none or the words are spent. The number of busiest
//      ranks falls in every step, so it ends.
//   3. Shortening. Blocks go directly where the edge is open by now. Those that would save more
//      words than `price` also go directly where it is not, if this makes no rank the busiest.
//
// Where all talk to all a pattern has no shape to find. So the same is done from the messages of
// store and forward on, if these are fewer than the pattern's, and the better of the two schedules
// is taken: by messages of the busiest rank times price plus words of the average rank. Two stages:
// where a rank writes to more than a quarter of all on average, the pattern's own edges are not
// tried unless store and forward has too many words; and they are given up when thinning them has
// to leave some rank with twice the messages of the schedule from store and forward, as leveling
// seldom takes off half of them.
//
// For few words more: a low price and a limit of words, which leveling then spends where it helps;
// for few messages: no limits and more stages.
//
// More than two stages begin with all edges of the pattern only where it is small. Else two stages
// are planned first. Three and four stages begin with what they need, in several stages each; more
// with their messages split in two, again and again (split_stages.hpp). The mesh is left out where
// it would stay behind, and stays as it is where all its ranks have as many messages.
//
// Ways round lead over the ranks that have the fewest words to send so far. Two stages, the
// default: time about blocks * degree, memory as the blocks above 2,048 ranks. More stages take
// some times as long, in bounded work (many_stages.hpp), and tables of ranks * ranks bits.
#pragma once

#include <memory>

#include "planners/patterns/balance_options.hpp"
#include "planners/patterns/message_schedule.hpp"

namespace tonari {

constexpr int most_balanced_ranks = 1 << 15;  // above, its tables would take gigabytes

// Throws Errc::argument if the options make no sense or there are more ranks.
MessageSchedule balanced(const CommunicationMatrix& matrix, const BalanceOptions& options = {});

// Several points of one matrix, each as balanced() finds it: what they begin with is planned once.
class BalancedPoints {
 public:
  explicit BalancedPoints(const CommunicationMatrix& matrix);  // which must outlive it
  ~BalancedPoints();
  MessageSchedule point(const BalanceOptions& options);
  struct Beginnings;
  struct Mesh;

 private:
  std::unique_ptr<Beginnings> beginnings_;
};

}  // namespace tonari
