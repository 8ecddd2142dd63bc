// SPDX-License-Identifier: BSD-3-Clause
// The packed channel uses one piece of memory per message. A block that is only forwarded is never
// unpacked: the next message gathers it straight from the message it came in. A message that is one
// contiguous piece of a user's buffer is not copied at all.
//
// Messages with an edge lie where the edge says. That may be another place in every other exchange
// (parity), so moves are made for both.
#include <algorithm>

#include "channels/p2p/program.hpp"

namespace tonari {
namespace {

constexpr std::size_t most_per_transfer = std::size_t{1} << 30;

// The place of a message.
enum class Lies : std::uint8_t { in_user_memory, in_pieces, in_memory, in_slot };

class Packer {
 public:
  Packer(const Plan& plan, const Binding& binding, const Packing& packing)
      : plan_(plan),
        binding_(binding),
        packing_(packing),
        segment_(packing.segment == 0 ? most_per_transfer
                                      : std::min(packing.segment, most_per_transfer)),
        scratch_(plan.scratch_like().size()) {
    for (OpId op = 0; op < plan.size(); ++op) {
      first_.push_back(offsets_.size());
      offsets_.push_back(0);
      for (Slice s : plan.slices(op))
        offsets_.push_back(checked_add(offsets_.back(), bytes(s), "bytes of a message"));
    }
  }

  P2pProgram program() {
    p_.steps.resize(plan_.size());
    places_.resize(plan_.size());
    if (packing_.views) p_.views.resize(binding_.recv.size());
    // Receives come first, because they say where the forwarded blocks lie.
    for (Kind kind : {Kind::recv, Kind::send})
      for (OpId op = 0; op < plan_.size(); ++op)
        if (plan_[op].kind == kind) place(op);
    p_.memory = Memory(memory_needed_);
    for (OpId op = 0; op < plan_.size(); ++op) connect(op);
    for (OpId op = 0; op < plan_.size(); ++op) copies(op);
    return std::move(p_);
  }

 private:
  struct Place {
    Lies lies = Lies::in_memory;
    Block in_user_memory = {};
    std::size_t offset = 0;  // in the program's memory
  };
  struct Scratch {
    // in the slot it arrives in; null: in the program's memory
    std::array<std::byte*, 2> slot{};
    std::size_t offset = 0;
  };

  Bytes bytes(Slice s) const { return binding_.bytes(s, plan_.scratch_like()); }
  // of slice k in its message
  Bytes offset(OpId op, std::size_t k) const { return offsets_[first_[op] + k]; }
  Bytes message_bytes(OpId op) const { return offset(op, plan_[op].slice_count); }
  bool alternates() const { return !packing_.slots.empty(); }
  const std::vector<MessageSlot>* slots(OpId op) const {
    return alternates() ? packing_.slots[op] : nullptr;
  }

  std::size_t reserve(Bytes size) {
    const std::size_t at = memory_needed_;
    memory_needed_ =
        checked_add<std::size_t>(memory_needed_, round_up(size), "memory for messages");
    return at;
  }
  Block block(Slice s, int parity) const {
    if (s.buffer == Buffer::send) return binding_.send[s.block];
    if (is_viewed(s)) return {p_.views[s.block][parity], nullptr, bytes(s)};
    if (s.buffer == Buffer::recv) return binding_.recv[s.block];
    const Scratch& scratch = scratch_[s.block];
    return {scratch.slot[parity] ? scratch.slot[parity] : p_.memory.data() + scratch.offset,
            nullptr, bytes(s)};
  }

  // Calls visit(slice, where it begins in the message).
  void each_slice(OpId op, auto&& visit) const {
    for (std::size_t k = 0; k < plan_[op].slice_count; ++k)
      visit(plan_.slices(op)[k], offset(op, k));
  }
  // Calls visit(scratch, slice, where it begins) for blocks that are received to be forwarded.
  void each_forwarded(OpId op, auto&& visit) {
    if (plan_[op].kind != Kind::recv) return;
    each_slice(op, [&](Slice s, Bytes begin) {
      if (s.buffer == Buffer::scratch) visit(scratch_[s.block], s, begin);
    });
  }

  // ---- where messages and forwarded blocks lie

  void place(OpId op) {
    const std::vector<MessageSlot>* const edge = slots(op);
    Place& place = places_[op];
    if (edge && edge->front().at[0]) {
      place.lies = Lies::in_slot;
      keep_in_slot(op, *edge);
    } else if (edge && piecewise(op)) {
      place.lies = Lies::in_pieces;
      each_forwarded(op,
                     [&](Scratch& scratch, Slice s, Bytes) { scratch.offset = reserve(bytes(s)); });
    } else if (!edge && (place.in_user_memory = direct(op)).address) {
      place.lies = Lies::in_user_memory;
    } else {
      place.offset = reserve(message_bytes(op));
      each_forwarded(
          op, [&](Scratch& scratch, Slice, Bytes begin) { scratch.offset = place.offset + begin; });
    }
  }

  // Blocks are forwarded straight from the slot if that holds the whole message; parts of large
  // ones make room for the next, so their blocks are copied.
  void keep_in_slot(OpId op, const std::vector<MessageSlot>& edge) {
    const bool whole = edge.size() == 1;
    each_forwarded(op, [&](Scratch& scratch, Slice s, Bytes begin) {
      if (!whole) scratch.offset = reserve(bytes(s));
      if (whole) scratch.slot = {edge[0].at[0] + begin, edge[0].at[1] + begin};
      p_.steps[op].passes_on |= whole;
    });
    if (plan_[op].kind == Kind::recv && packing_.views && whole) view(op, edge.front());
  }

  // Contiguous receive blocks stay in the slot; sends that forward them take them from there, too.
  void view(OpId op, const MessageSlot& slot) {
    each_slice(op, [&](Slice s, Bytes begin) {
      if (s.buffer != Buffer::recv || binding_.recv[s.block].layout) return;
      p_.views[s.block] = {slot.at[0] + begin, slot.at[1] + begin};
      p_.steps[op].viewed = true;
    });
  }
  bool is_viewed(Slice s) const {
    return s.buffer == Buffer::recv && !p_.views.empty() && p_.views[s.block][0];
  }
  bool in_slot(Slice s) const {
    return s.buffer == Buffer::scratch ? scratch_[s.block].slot[0] != nullptr : is_viewed(s);
  }

  // Tells whether a few addresses describe the message, the same in every exchange.
  bool piecewise(OpId op) const {
    std::size_t pieces = 0;
    for (Slice s : plan_.slices(op)) {
      if (bytes(s) == 0) continue;
      if (in_slot(s) || (s.buffer != Buffer::scratch && block(s, 0).layout)) return false;
      ++pieces;
    }
    return pieces <= most_pieces;
  }

  // A message that already is one contiguous piece of one of the program's buffers, else nothing.
  Block direct(OpId op) const {
    Block whole;
    for (Slice s : plan_.slices(op)) {
      if (bytes(s) == 0) continue;
      if (s.buffer == Buffer::scratch || in_slot(s)) return {};
      const Block b = block(s, 0);
      const bool goes_on =
          !whole.address || (b.address == whole.address + whole.bytes && b.space == whole.space);
      if (b.layout || !goes_on) return {};
      if (!whole.address) whole = {b.address, nullptr, 0, b.space};
      whole.bytes += b.bytes;
    }
    return whole;
  }

  // ---- what the channels get

  void connect(OpId op) {
    if (plan_[op].kind == Kind::copy) return;
    const Bytes size = message_bytes(op);
    if (plan_[op].kind == Kind::send) p_.bytes_sent += size;
    if (!slots(op)) return transfer(op, size);
    const auto begin = static_cast<std::uint32_t>(p_.pieces.size());
    if (places_[op].lies == Lies::in_memory)
      add_piece(begin, {p_.memory.data() + places_[op].offset, nullptr, size});
    if (places_[op].lies == Lies::in_pieces)
      for (Slice s : plan_.slices(op)) add_piece(begin, block(s, 0));
    p_.steps[op].pieces = {begin, static_cast<std::uint32_t>(p_.pieces.size())};
  }

  void transfer(OpId op, Bytes size) {
    const Operation& o = plan_[op];
    const Block where = places_[op].lies == Lies::in_user_memory
                            ? places_[op].in_user_memory
                            : Block{p_.memory.data() + places_[op].offset};
    const auto begin = static_cast<std::uint32_t>(p_.transfers.size());
    for (Bytes at = 0; at < size; at += segment_)
      p_.transfers.push_back({where.address + at,
                              static_cast<int>(std::min<Bytes>(segment_, size - at)), MPI_BYTE,
                              o.peer, o.tag, o.kind == Kind::send, where.space});
    p_.steps[op].transfers = {begin, static_cast<std::uint32_t>(p_.transfers.size())};
  }

  // Joins with the last of the pieces from `first` on where that goes on.
  void add_piece(std::uint32_t first, const Block& b) {
    if (b.bytes == 0) return;
    const Piece next{reinterpret_cast<std::uintptr_t>(b.address), b.bytes};
    if (p_.pieces.size() > first && p_.piece_spaces.back() == b.space &&
        p_.pieces.back().address + p_.pieces.back().bytes == next.address) {
      p_.pieces.back().bytes += next.bytes;
      return;
    }
    p_.pieces.push_back(next);
    p_.piece_spaces.push_back(b.space);
  }

  // ---- copies

  void copies(OpId op) {
    P2pProgram::Step& step = p_.steps[op];
    const Place& place = places_[op];
    if (plan_[op].kind == Kind::copy)
      step.before = for_both([&](int parity) { copy(op, parity); });
    else if (place.lies == Lies::in_slot)
      parts(op);
    else if (place.lies == Lies::in_memory) {
      const MessageSlot whole{
          0, message_bytes(op), {p_.memory.data() + place.offset, p_.memory.data() + place.offset}};
      auto& moves = plan_[op].kind == Kind::send ? step.before : step.after;
      moves = for_both([&](int parity) { part(op, whole, parity); });
    }
  }

  void parts(OpId op) {
    const auto begin = static_cast<std::uint32_t>(p_.parts.size());
    for (const MessageSlot& slot : *slots(op))
      p_.parts.push_back(for_both([&](int parity) { part(op, slot, parity); }));
    p_.steps[op].parts = {begin, static_cast<std::uint32_t>(p_.parts.size())};
  }

  template <typename Make>
  P2pProgram::Moves for_both(Make make) {
    P2pProgram::Moves moves;
    for (int parity : {0, 1}) {
      if (parity == 1 && !alternates()) return {moves[0], moves[0]};
      first_move_ = p_.moves.size();
      make(parity);
      moves[parity] = close_moves(p_, first_move_);
    }
    if (same(moves[0], moves[1])) {
      p_.moves.resize(moves[0].end), p_.move_spaces.resize(moves[0].end);
      moves[1] = moves[0];
    }
    return moves;
  }
  bool same(Range a, Range b) const {
    const auto at = [&](std::uint32_t k) {
      return p_.moves.begin() + static_cast<std::ptrdiff_t>(k);
    };
    return std::equal(at(a.begin), at(a.end), at(b.begin), at(b.end));
  }

  // Copies between the blocks and the bytes of a message that lie in one slot; the last of these
  // may lie apart.
  void part(OpId op, const MessageSlot& slot, int parity) {
    const Bytes tail = slot.end - slot.tail_bytes;
    between(op, slot.begin, tail, slot.at[parity], parity);
    between(op, tail, slot.end, slot.tail, parity);
  }

  void between(OpId op, Bytes begin, Bytes end, std::byte* at, int parity) {
    const bool out = plan_[op].kind == Kind::send;
    for (std::size_t k = 0; k < plan_[op].slice_count; ++k) {
      const Slice s = plan_.slices(op)[k];
      const Bytes first = std::max(begin, offset(op, k)), last = std::min(end, offset(op, k + 1));
      if (first >= last || (!out && is_viewed(s))) continue;
      const Block there{at + (first - begin), nullptr, last - first};
      // it stays here
      if (!out && s.buffer == Buffer::scratch &&
          there.address == block(s, parity).address + (first - offset(op, k)))
        continue;
      Layout cut;
      const Block here = cut_out(block(s, parity), first - offset(op, k), last - first, cut);
      if (out)
        append_moves(p_, first_move_, there, here);
      else
        append_moves(p_, first_move_, here, there);
      if (!out && parity == 0) p_.bytes_unpacked += here.bytes;
    }
  }

  static Block cut_out(const Block& b, Bytes first, Bytes size, Layout& cut) {
    if (!b.layout) return {b.address + first, nullptr, size, b.space};
    if (size == b.bytes) return b;
    cut = b.layout->part(first, size);
    return {b.address, &cut, size, b.space};
  }

  void copy(OpId op, int parity) {
    const auto from = plan_.copy_sources(plan_[op]), to = plan_.copy_targets(plan_[op]);
    for (std::size_t k = 0; k < from.size(); ++k)
      append_moves(p_, first_move_, block(to[k], parity), block(from[k], parity));
  }

  const Plan& plan_;
  const Binding& binding_;
  const Packing& packing_;
  std::size_t segment_;
  // offsets of slices in their message, and its length, one operation after the other
  std::vector<Bytes> offsets_;
  std::vector<std::size_t> first_;  // of each operation's offsets
  std::vector<Place> places_;       // of operations
  std::vector<Scratch> scratch_;
  P2pProgram p_;
  std::size_t memory_needed_ = 0, first_move_ = 0;
};

}  // namespace

P2pProgram compile_packed(const Plan& plan, const Binding& binding, const Packing& packing) {
  require_messages(plan);
  return Packer(plan, binding, packing).program();
}

}  // namespace tonari
