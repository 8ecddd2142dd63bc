// SPDX-License-Identifier: BSD-3-Clause
// Planners for graphs run on ranks that plan together in supersteps (bulk-synchronous parallel,
// BSP), as on a communicator. A process holds some of the ranks: all of them in tests, on the
// command line, and where they are few (LocalBspComm), else one. A planner is written once for
// both. It loops over the ranks that are here, puts messages for others, calls exchange() and reads
// what came. It must not look at anything of a rank that is not that rank's own or came by message.
// Its result must not depend on how the ranks are spread over processes.
//
// A planner may throw on one rank only, out of memory for instance. What ranks plan, they plan in a
// scope (run_collectively), and all ranks leave it at their next exchange or reduction with the
// same error.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tonari {

using Word = std::int64_t;

struct BspMessage {
  std::int32_t from;
  std::span<const Word> words;
};

class BspComm {
 public:
  virtual ~BspComm() = default;

  int ranks() const { return ranks_; }
  // The ranks in this process, ascending. k below is an index into this list.
  std::span<const std::int32_t> here() const { return here_; }

  // A message from rank here()[k] to any rank, itself included; delivered by the next exchange.
  // Costs a message per pair of ranks, however many messages.
  virtual void send(std::size_t k, std::int32_t to, std::span<const Word> words) = 0;
  void send(std::size_t k, std::int32_t to, std::initializer_list<Word> words) {
    send(k, to, std::span(words.begin(), words.size()));
  }

  // Collective. Time grows with the messages of the ranks here, not with the number of ranks.
  virtual void exchange() = 0;

  // What the last exchange brought to here()[k]: senders ascending, messages of one sender in the
  // order in which it put them. Valid until the next exchange.
  virtual std::span<const BspMessage> inbox(std::size_t k) const = 0;
  // The k that got any, ascending.
  virtual std::span<const std::size_t> receivers() const = 0;

  // This collective call runs `work`, which plans. If it throws anywhere on some rank,
  // `run_collectively` throws that on all ranks, and messages on their way are forgotten. Where all
  // ranks are in one process there is no other process to tell.
  virtual void run_collectively(const std::function<void()>& work) { work(); }

  // Collective: word by word over all processes. The caller has combined its own ranks already.
  virtual void sum(std::span<Word> words) = 0;
  virtual void max(std::span<Word> words) = 0;
  Word sum(Word word) { return sum(std::span(&word, 1)), word; }
  Word max(Word word) { return max(std::span(&word, 1)), word; }
  Word min(Word word) { return -max(-word); }

 protected:
  int ranks_ = 0;
  std::vector<std::int32_t> here_;
};

}  // namespace tonari
