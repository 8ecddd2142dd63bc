// SPDX-License-Identifier: BSD-3-Clause
// A send set is what one rank sends while ranks with common targets share their messages
// (graph_message_sharing.cpp). This file also says what two ranks make of it.
//
//   line     A line is a target and the rank that sends there what this one has for it. That is the
//            rank itself, or another one to which it has given the target.
//   helper   A helper is a rank to which this one has given targets. It gets one message now, which
//            carries all their blocks, and what is for the helper itself.
//
// A message for a target is given away only if it disappears with that: if it carries nothing that
// others gave. So what is given moves once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planners/graphs/bsp_comm.hpp"

namespace tonari {

// The work that is counted, in any unit.
struct Work {
  Word message = 1;  // to send one
  Word helped = 0;   // to get one as a helper
  Word passed = 0;   // to pass on what another rank has for one target
};

class SendSet {
 public:
  struct Line {
    std::int32_t target, sender;
    bool joined;  // others gave this rank blocks for the target
  };
  struct DelegatedBlocks {
    std::int32_t target, to;
    Word more = 0;  // messages that the new sender gets by this, 0 or 1
  };

  // targets: ascending, without the rank itself. fixed: work that it has whatever happens here.
  SendSet(std::int32_t rank, std::span<const std::int32_t> targets, Word fixed, Work work);
  // As words() of another rank has it.
  SendSet(std::int32_t rank, std::span<const Word> words, Work work);
  std::vector<Word> words() const;

  std::int32_t rank() const { return rank_; }
  Word load() const { return load_; }
  bool helps(std::int32_t rank) const;  // this one: is a helper
  std::span<const Line> lines() const { return lines_; }
  std::span<const std::int32_t> helpers() const { return helpers_; }  // ascending
  bool sends(const Line& line) const {
    return line.joined || (line.sender == rank_ && !helps(line.target));
  }
  bool alone(const Line& line) const {
    return line.sender == rank_ && !line.joined && !helps(line.target);
  }
  // Messages more, 0 or 1, if the rank becomes a helper: what is sent there anyway then goes along.
  Word cost(std::int32_t helper) const;

  // Returns the messages more that the new sender gets.
  Word give(Line& line, std::int32_t to);
  void join(Line& line, Word more);
  Word give(std::int32_t target, std::int32_t to) { return give(*find(target), to); }
  void join(std::int32_t target, Word more) { join(*find(target), more); }

  // Phase II (distributed_second_phase.hpp) has a message more or less for a target that need not
  // be its own.
  bool writes(std::int32_t target) const;
  void adopt(std::int32_t target);
  void help(Word more) { load_ += more * work_.helped; }

  // At the end: the blocks by which this rank saves anything, by helper and target. A target that
  // became a helper gets its blocks itself.
  std::vector<DelegatedBlocks> delegated_blocks();

 private:
  friend class Pairing;
  Line* find(std::int32_t target);
  const Line* find(std::int32_t target) const;

  std::int32_t rank_;
  Work work_;
  Word load_;
  std::vector<Line> lines_;
  std::vector<std::int32_t> helpers_;
};

// The agreement of two ranks.
struct Agreement {
  bool helps = false;
  // what P_max gives, what its friend gives; to each other or to those who send for the other one
  std::vector<SendSet::DelegatedBlocks> most, other;
};

// One pairing, the four cases of Duymuş 2021's Algorithms 2 and 3: P_max and its friend, which come
// as copies.
Agreement share(SendSet most, SendSet other);

}  // namespace tonari
