// SPDX-License-Identifier: BSD-3-Clause
// The two ends of a message through shared memory: a lane of its receiver's inbox, as either end
// sees it.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "channels/edge.hpp"
#include "channels/node.hpp"
#include "memory/inbox.hpp"
#include "memory/left_word.hpp"
#include "memory/program_stores.hpp"

namespace tonari {

// The content of a single copy's cell: where the message lies in the sender's memory.
struct PieceList {
  std::uint64_t count;
  Piece pieces[most_pieces];
};

// A lane with its cells, as either end sees it.
struct Track {
  Track(const Inbox& inbox, Lane& l, bool one_round) : lane(&l), ring(one_round) {
    for (std::uint32_t k = 0; k < count; ++k) cells[k] = inbox.cell(l, k);
  }
  // Parts use the cells in turn; whole messages alternate between two.
  const Cell& cell(std::size_t part, int parity) const {
    return cells[(protocol == Protocol::pipelined ? part : static_cast<std::size_t>(parity)) %
                 count];
  }
  std::vector<MessageSlot> slots() const {
    if (lane->protocol == Protocol::single_copy) return {{0, lane->bytes}};
    if (lane->protocol != Protocol::pipelined)
      return {{0, lane->bytes, {cell(0, 0).payload(), cell(0, 1).payload()}}};
    std::vector<MessageSlot> parts;
    const std::uint64_t listed =
        ring ? std::min<std::uint64_t>(lane->parts(), count) : lane->parts();
    for (std::uint64_t part = 0; part < listed; ++part) {
      std::byte* const at = cell(part, 0).payload();
      parts.push_back(
          {part * lane->payload, std::min(lane->bytes, (part + 1) * lane->payload), {at, at}});
    }
    return parts;
  }

  Lane* lane;
  bool ring;
  Protocol protocol = lane->protocol;  // read once, because other processes write the lane's memory
  std::uint32_t count = lane->cells;
  std::array<Cell, Lane::pipeline_cells> cells;
};

// error: of an attempt to reach its memory.
inline void check_end(const Node& node, std::size_t index, bool left, const char* needed_for,
                      int error = 0) {
  const std::int32_t rank = node.ranks()[index];
  if (node.ended(index, error))
    fail(Errc::peer, "rank ", rank, " (process ", node.process(index), ") has ended, ", needed_for);
  if (left)
    fail(Errc::peer, "rank ", rank, " has freed its request, ", needed_for,
         "; complete an exchange on all ranks before freeing it on one");
}

class SharedOut final : public OutEdge {
 public:
  SharedOut(const Node& node, std::size_t index, const Inbox& inbox, Lane& lane, bool ring)
      : node_(node), index_(index), track_(inbox, lane, ring), slots_(track_.slots()) {
    if (track_.protocol != Protocol::canary) return;
    slots_[0].tail = reinterpret_cast<std::byte*>(&tail_);
    slots_[0].tail_bytes = (lane.bytes - 1) % sizeof tail_ + 1;
  }
  ~SharedOut() override { SharedOut::leave(); }
  void leave() override { tell_left(track_.lane->sender_left); }

  const std::vector<MessageSlot>& slots() const override { return slots_; }
  void bound(std::span<const Piece> pieces) override {
    PieceList list{pieces.size(), {}};
    if (pieces.size() > most_pieces)
      fail(Errc::internal, "a single copy of ", pieces.size(), " pieces");
    std::copy(pieces.begin(), pieces.end(), list.pieces);
    // seen by the receiver once the cell is published
    std::memcpy(track_.cells[0].payload(), &list, sizeof list);
  }
  bool may_write(std::size_t part, int parity) override { return track_.cell(part, parity).free(); }
  void written(std::size_t part, int parity) override {
    if (track_.protocol == Protocol::single_copy) order_program_stores();  // others were copied
    if (track_.protocol == Protocol::canary)
      track_.cell(part, parity).publish(tail_);
    else
      track_.cell(part, parity).publish();
  }
  bool sent(int parity) override {
    return track_.protocol != Protocol::single_copy || track_.cell(0, parity).free();
  }
  void check() const override {
    check_end(node_, index_, has_left(track_.lane->receiver_left),
              "which has not taken what was sent to it");
  }

 private:
  const Node& node_;
  std::size_t index_;
  Track track_;
  std::vector<MessageSlot> slots_;
  Cell::Word tail_ = ~Cell::canary;  // unused bytes of it differ from the canary's
};

class SharedIn final : public InEdge {
 public:
  SharedIn(const Node& node, std::size_t index, const Inbox& inbox, Lane& lane, bool ring)
      : node_(node), index_(index), track_(inbox, lane, ring), slots_(track_.slots()) {}
  ~SharedIn() override { SharedIn::leave(); }
  void leave() override { tell_left(track_.lane->receiver_left); }

  const std::vector<MessageSlot>& slots() const override { return slots_; }
  void bound(std::span<const Piece> pieces) override {
    pieces_.assign(pieces.begin(), pieces.end());
  }
  bool arrived(std::size_t part, int parity) override {
    const Cell& cell = track_.cell(part, parity);
    if (!cell.full()) return false;
    if (track_.protocol == Protocol::single_copy) fetch(cell);
    return true;
  }
  void taken(std::size_t part, int parity) override { track_.cell(part, parity).release(); }
  void check() const override { check_after(0); }

 private:
  void fetch(const Cell& cell) const {
    const auto& list = *reinterpret_cast<const PieceList*>(cell.payload());
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(list.count, most_pieces));
    const int error = read_process(node_.process(index_), pieces_, {list.pieces, count});
    // A sender that gave up may have freed what was read, or never have had it mapped. One that
    // completed cannot have left while its cell is full.
    if (had_left(track_.lane->sender_left)) check();
    if (error == 0) return;
    check_after(error);
    fail(Errc::memory, "the memory of rank ", node_.ranks()[index_], " can no longer be read (",
         std::strerror(error), "); set TONARI_CHANNEL=p2p-packed");
  }

  void check_after(int error) const {
    check_end(node_, index_, has_left(track_.lane->sender_left), "from which a message is awaited",
              error);
  }

  const Node& node_;
  std::size_t index_;
  Track track_;
  std::vector<MessageSlot> slots_;
  std::vector<Piece> pieces_;
};

}  // namespace tonari
