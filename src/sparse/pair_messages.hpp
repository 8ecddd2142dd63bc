// SPDX-License-Identifier: BSD-3-Clause
// Every rank sends each other rank one message of words, and gets one of each. Nobody needs to know
// what sizes come. All messages of a rank begin alike, with its head.
//
// On a node, a rank writes its head and all its messages once, where the others read them
// (memory/broadcast_slots). What does not fit there, and what goes to other nodes, travels by
// streams (channels/streams).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "channels/streams/link.hpp"
#include "engine/comm/shared_comm.hpp"
#include "engine/wait/polled_exchange.hpp"
#include "memory/broadcast_slots.hpp"
#include "planners/graphs/bsp_comm.hpp"

namespace tonari {

class PairMessages final : public PolledExchange<PairMessages> {
 public:
  static constexpr std::size_t head_words = 5;
  using Head = std::array<Word, head_words>;
  static constexpr std::size_t most_here = 16;  // ranks of a node that have slots

 private:
  // A slot: what all read, where each rank of the node finds its message, and the messages.
  struct Piece {
    std::uint16_t begin, words;  // in messages; words: by_stream if it is not here
  };
  static constexpr std::uint16_t by_stream = 0xffff;
  struct Slot {
    Head head;
    std::uint64_t core;  // on which its rank ran when it wrote this, from 1
    std::array<Piece, most_here> pieces;
  };
  static constexpr std::size_t room = 8000;  // words of messages in a slot; fewer than by_stream
  static constexpr std::size_t slot_bytes = sizeof(Slot) + room * sizeof(Word);

 public:
  // Of shared memory per rank.
  static constexpr std::size_t board_bytes = BroadcastSlots::bytes_for(slot_bytes);

  // streams: to all others, which nobody else uses, with a board of board_bytes.
  PairMessages(std::unique_ptr<Streams> streams, WaitPolicy wait);
  ~PairMessages() override;
  PairMessages(const PairMessages&) = delete;
  PairMessages& operator=(const PairMessages&) = delete;

  // The other ranks, ascending.
  std::size_t size() const { return streams_->size(); }
  std::int32_t rank(std::size_t k) const { return (*streams_)[k].edges.rank; }

  // Before start, when check_start() has not thrown: what this rank sends. A message is empty but
  // for the head unless it is placed, at most once. Its words go where place() points to; that is
  // valid until the next place().
  void clear();
  void set_head(const Head& head) { head_ = head; }
  Word* place(std::size_t k, std::size_t words);
  // Before start: messages by streams are appended to `arrived`. If they find no memory, what they
  // contain behind their heads is lost.
  void receive(std::vector<Word>& arrived) { arrived_ = &arrived; }
  // After completion, until the next clear().
  const Head& head() const { return head_; }  // this rank's
  const Head& head(std::size_t k) const { return links_[k].head; }
  std::span<const Word> words(std::size_t k) const;                 // behind the head
  const std::optional<Error>& failure() const { return failure_; }  // at receiving

  // Throws Errc::peer if an earlier exchange failed in the middle.
  void check_start() const override;
  void start() override;
  void give_up() override;
  void awaits(Awaited& awaited) const override;
  int messages() const override { return static_cast<int>(size()); }
  Bytes bytes() const override { return 0; }  // nobody asks
  std::size_t scratch_bytes() const override { return streams_->bytes(); }

 private:
  friend PolledExchange;
  enum class Stage : std::uint8_t { slot, first, more, taken, done };
  struct Link {
    BroadcastSlots slots;  // of the peer; none: all goes by the stream
    Stage sending = Stage::done, receiving = Stage::done;
    bool kept = false;                 // what comes by the stream has a place in *arrived_
    std::size_t spilled = 0, out = 0;  // in spilled_: words with the head, and the first of them
    std::size_t sent = 0, begin = 0;   // bytes; word in *arrived_
    Bytes received = 0, incoming = 0;
    std::span<const Word> here;  // where the peer wrote it
    Head head{};
  };

  bool finished() const { return left_ == 0; }
  bool advance();
  void check_peers() const;
  bool on_board(const Link& link) const { return static_cast<bool>(link.slots); }
  Slot& slot() const { return slot_of(own_, number_ + 1); }
  static Slot& slot_of(const BroadcastSlots& slots, BroadcastSlots::Mark number) {
    return *reinterpret_cast<Slot*>(slots.payload(number));
  }
  bool shares_core() const;
  void publish();
  Word* spill(std::size_t k, std::size_t words);
  bool look(Link& link);
  bool send_some(OutStream& out, Link& link);
  bool receive_some(InStream& in, Link& link);
  void expect(Link& link, Bytes bytes, const std::byte* at);
  void keep(Link& link, const std::byte* at, std::size_t bytes);

  std::unique_ptr<Streams> streams_;
  const bool crowded_;
  BroadcastSlots own_;
  std::size_t here_ = 0;             // this rank's number on its node
  BroadcastSlots::Mark number_ = 0;  // of the exchange that was started last
  std::vector<Link> links_;
  Head head_{};
  std::size_t used_ = 0;       // words of the slot
  std::vector<Word> spilled_;  // messages for streams
  std::vector<Word>* arrived_ = nullptr;
  std::size_t left_ = 0;  // ends of messages
  std::optional<Error> failure_;
};

// Collective: between all ranks. Throws on each rank what is wrong there.
std::unique_ptr<PairMessages> connect_pairs(SharedComm& shared);

}  // namespace tonari
