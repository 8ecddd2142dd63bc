// SPDX-License-Identifier: BSD-3-Clause
// A send state has one rank's messages while trees grow. The tree transformation moves them between
// ranks.
//
//   leaf     A leaf is a message with blocks that its receiver wants; it can be given to another
//            rank.
//   bundle   A bundle is a message to a helper with the blocks of the leaves given to it. It also
//            has those that the helper wants itself. It stays.
//
// A rank may take leaves from others until it first gives some away; then it only gives. So
// whatever arrives at a rank to be passed on was decided before all that the rank decides itself.
// This has three consequences. A bundle's stage, one more than the latest stage in which its blocks
// arrived, never changes. No bundles wait for each other in a circle. No block comes to a rank
// twice: every rank on its way but the last has given it away and takes nothing any more.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planners/graphs/bsp_comm.hpp"
#include "planners/graphs/relay.hpp"

namespace tonari {

class SendState {
 public:
  // block_bytes: of each block, where the vertex does not have their sizes.
  SendState(const Vertex& vertex, Collective collective, double block_bytes);

  // that this rank sends
  Word messages() const { return leaves_ + static_cast<Word>(bundles_.size()); }
  Word leaves() const { return leaves_; }
  // distinct other ranks that send to this one in the graph
  Word sources() const { return static_cast<Word>(sources_.size()); }
  bool gives() const { return !bundles_.empty(); }
  bool takes() const { return depth_ > 0; }
  std::vector<std::int32_t> receivers() const;  // of leaves and bundles, each once
  // In an allgather: whether the block of `origin` comes to this rank anyway, or is its own.
  bool gets(std::int32_t origin) const;

  // Leaves that could be given away together: all of them, or in an allgather those that carry just
  // one block, the one that most of them carry.
  struct Movable {
    struct Run {
      std::size_t begin, end;  // in parcels
      std::int32_t peer;
      double bytes = 0;
    };
    std::vector<Run> leaves;
    BlockId block{-1, 0};                 // in an allgather
    std::vector<std::size_t> order = {};  // of leaves, as they are given away: the lightest first
    std::vector<double> bytes = {};       // [x]: of the first x of these
  };
  Movable movable() const;

  // The effect of giving to a helper.
  struct Relation {
    Word movable;  // leaves that could go there: all but its own
    // the helper is a receiver of this rank: its leaf becomes part of the bundle
    bool receiver;
    bool new_message;  // a message more: neither a leaf nor a bundle goes there yet
    bool new_block;    // allgather: the block would not go there otherwise
  };
  Relation relation(std::int32_t helper, const Movable& movable) const;

  // Gives the lightest x movable leaves, of equal ones the last, to the helper; returns the message
  // for it.
  std::vector<Word> give(std::int32_t helper, const Movable& movable, Word x);
  void take(std::span<const Word> message);

  // Every rank that gets a message, and the hops of this rank: bundles first, the earliest first,
  // because what is given first is the largest part of a tree; then the leaves, in the order of the
  // list of targets.
  std::vector<Hop> hops() const;

 private:
  struct Parcel {
    std::int32_t peer;
    BlockId block;
    std::int32_t arrived;  // the stage in which it came; -1: it is this rank's own
    Word bytes;
    friend auto operator<=>(const Parcel&, const Parcel&) = default;
  };
  struct Bundle {
    std::int32_t helper, stage;
    friend bool operator==(const Bundle&, const Bundle&) = default;
  };
  Movable::Run leaf(std::int32_t peer) const;
  std::int32_t stage(const Movable::Run& run) const;
  std::int32_t bundle_stage(std::int32_t helper, std::int32_t least) const;
  const Hop* given(std::int32_t helper, BlockId block) const;
  void sort();

  const Vertex* vertex_;
  bool alltoall_;
  std::vector<Parcel> parcels_;  // of leaves, by peer
  Word leaves_ = 0;
  std::vector<Bundle> bundles_;
  std::vector<Hop> given_;  // what bundles carry
  // origins, ascending; of blocks taken in an allgather
  std::vector<std::int32_t> sources_, taken_;
  // one more than the latest stage in which anything arrives to be passed on
  std::int32_t depth_ = 0;
};

}  // namespace tonari
