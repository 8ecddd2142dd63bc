// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of the general in-place all-to-all: what arrives is stored in the memory that
// what leaves takes up, and both may lie anywhere (the problem of Hofmann and Ruenger, "An In-place
// Algorithm for Irregular All-to-All Communication with Limited Memory", EuroMPI 2010; the
// algorithm is our own: docs/adr/0012-general-in-place.md).
//
// Pure bookkeeping about numbered slots: it moves no data and knows no message, but says what has
// to be moved. Rank r has blocks S(r,j) to send and blocks R(r,j) to be received, |S(r,j)| =
// |R(j,r)|; those to send do not overlap each other, nor those to be received. Beside the buffer
// there is a room of T slots.
//
//      slots     0                                                  room_begin
//                |  S   S+R   R   S   (none)   R   S+R   |          | room: T |
//                   |                              |
//                   parking, once sent             never parking: something will arrive there
//
// The receiver asks for any piece of any of its blocks as soon as the piece's slots hold nothing
// that is still to be sent. What is in the way is parked first: in the room, or in slots of S
// outside of R whose data has left. Nothing ever arrives at a parking place, so whatever was parked
// stays until it is sent.
//
// Each slot's data therefore moves inside of the rank at most once. And some rank can always ask,
// if T >= 1: suppose that no message is under way, and that of the ranks that lack something, I(r)
// > 0 slots, none can ask. Then each slot that rank r lacks holds unsent data of its own, and all
// parking does: together I(r) + |S(r) \ R(r)| + T > I(r) unsent slots. Summed over the ranks more
// is unsent than lacking; but what one rank has not sent another lacks.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "planners/in_place/slot_set.hpp"

namespace tonari {

// By rank: the slots of its block.
struct Blocks {
  std::vector<Slots> send, recv;
};

class Rearrangement {
 public:
  struct Limits {
    std::uint64_t room = 1;       // T, at least 1; no more is used than can be needed
    std::uint64_t piece = 65536;  // longest piece to ask for
  };
  struct Piece {
    int from;              // the rank that has it
    std::uint64_t offset;  // where it begins in what that rank has for this one
    Slots to;              // where it will be stored
  };
  struct Park {
    Slots from;
    Slot to;
  };

  // Throws Errc::buffers if blocks to send overlap each other, or blocks to be received.
  Rearrangement(int rank, Blocks blocks, Limits limits);

  // All data is in its place, nothing has been sent.
  void start();
  bool complete() const { return lacking_ == 0 && unsent_ == 0; }

  // -- as a receiver A piece worth asking for: of full length, the whole rest of a block, or long
  // enough to pay; if nothing that was asked for is under way, the longest found, whatever it is.
  // None: wait until something was sent or received.
  std::optional<Piece> propose() const;
  // The piece proposed, or a part of it (the caller may shorten it at either end), will be asked
  // for. First the caller performs what is appended to `parks`.
  void claim(const Piece& piece, std::vector<Park>& parks);
  void received(const Piece& piece);
  std::uint64_t under_way() const { return asked_; }  // slots claimed and not yet received

  // -- as a sender Rank `to` asks for `size` slots of its block from offset on: appends where they
  // lie, in order. Throws Errc::internal if that rank has no such slots.
  void take(int to, std::uint64_t offset, std::uint64_t size, std::vector<Slots>& places);
  // Of what was taken: it has been read.
  void sent(Slots place);
  bool all_taken() const { return untaken_ == 0; }

  Slot room_begin() const { return room_.begin; }
  std::uint64_t room() const { return room_.size(); }
  // slots, since start: at most |S and R|
  std::uint64_t parked_in_all() const { return parked_in_all_; }
  std::uint64_t pieces() const { return pieces_; }  // claimed since start
  // Words of bookkeeping grow with this: tests hold it to 4 per block, piece asked for and piece
  // answered; it is far less, as neighbors are joined.
  std::size_t fragments() const {
    return lacking_free_.runs() + lacking_blocked_.runs() + unasked_.runs() + parking_.runs() +
           parked_.size();
  }
  // What the bookkeeping takes now.
  std::size_t bytes() const {
    const std::size_t initially =
        initially_unasked_.runs() + initially_free_.runs() + initially_blocked_.runs();
    return (blocks_.send.capacity() + blocks_.recv.capacity()) * sizeof(Slots) +
           receive_.capacity() * sizeof(Block) + (initially + fragments()) * SlotSet::run_bytes +
           parked_.size() * sizeof(Slot);
  }

 private:
  struct Block {
    Slots slots;
    int peer;
  };
  struct Parked {
    std::uint64_t size;
    Slot at;
  };
  using ByPlace = std::vector<Block>;

  static ByPlace by_place(std::span<const Slots> blocks, const char* what);
  ByPlace::const_iterator receive_from(Slot slot) const;
  Slots in_reach(Slot begin, std::uint64_t may_park) const;
  bool worth_it(Slots piece) const;
  template <class Look>
  void try_runs(const SlotSet& set, Look look) const;
  void park(Slots slots, std::vector<Park>& parks);

  int rank_;
  Blocks blocks_;
  Limits limits_;
  ByPlace receive_;  // by place, without empty ones
  Slots room_;
  std::uint64_t step_;  // parks at most so much for one piece, to ask several ranks at a time
  Slot first_;          // where to begin asking

  // Slots of R not yet asked for: all; those free; those that hold unsent data. What remains is
  // being sent.
  SlotSet unasked_, lacking_free_, lacking_blocked_;
  SlotSet initially_unasked_, initially_free_, initially_blocked_;
  SlotSet parking_;                // free: of the room and of S outside of R
  std::map<Slot, Parked> parked_;  // by where it was
  // goes round: blocks are filled in ascending order where nothing speaks against it
  Slot cursor_ = 0;
  std::uint64_t asked_ = 0, lacking_ = 0, untaken_ = 0, unsent_ = 0;
  std::uint64_t parked_in_all_ = 0, pieces_ = 0;
};

}  // namespace tonari
