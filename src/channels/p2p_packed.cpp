// The packed channel: one piece of memory per message. A block that is only passed on is never unpacked: it is gathered into the
// next message straight from the message it came in. A message that is one contiguous piece of a user's buffer is not copied at all.
#include <algorithm>

#include "channels/p2p.hpp"

namespace tonari {
namespace {

constexpr std::size_t most_per_transfer = std::size_t{1} << 30;

class Packer {
 public:
  Packer(const Plan& plan, const Binding& binding, std::size_t segment)
      : plan_(plan), binding_(binding), segment_(segment == 0 ? most_per_transfer : std::min(segment, most_per_transfer)),
        scratch_at_(plan.scratch_like().size(), nullptr) {}

  P2pProgram program() {
    p_.steps.resize(plan_.size());
    p_.memory = Memory(memory_needed());
    next_ = p_.memory.data();
    // Receives first: they say where the blocks lie that the sends pass on.
    for (OpId op = 0; op < plan_.size(); ++op)
      if (plan_[op].kind == Kind::recv) recv(op);
    for (OpId op = 0; op < plan_.size(); ++op)
      if (plan_[op].kind == Kind::send) send(op);
      else if (plan_[op].kind == Kind::copy) copy(op);
    return std::move(p_);
  }

 private:
  Bytes bytes(Slice s) const { return binding_.bytes(s, plan_.scratch_like()); }
  Bytes message_bytes(OpId op) const {
    Bytes sum = 0;
    for (Slice s : plan_.slices(op)) sum += bytes(s);
    return sum;
  }
  std::size_t memory_needed() const {
    std::size_t sum = 0;
    for (OpId op = 0; op < plan_.size(); ++op)
      if (plan_[op].kind != Kind::copy && !direct(op)) sum = checked_add<std::size_t>(sum, round_up(message_bytes(op)), "memory for messages");
    return sum;
  }

  Block block(Slice s) const {
    if (s.buffer == Buffer::send) return binding_.send[s.block];
    if (s.buffer == Buffer::recv) return binding_.recv[s.block];
    return {scratch_at_[s.block], nullptr, bytes(s)};
  }

  // The address of a message that already is one contiguous piece of the user's memory, else null.
  std::byte* direct(OpId op) const {
    std::byte *first = nullptr, *next = nullptr;
    for (Slice s : plan_.slices(op)) {
      if (bytes(s) == 0) continue;
      if (s.buffer == Buffer::scratch) return nullptr;
      const Block b = block(s);
      if (b.layout || (next && b.address != next)) return nullptr;
      if (!first) first = b.address;
      next = b.address + b.bytes;
    }
    return first;
  }

  std::byte* take(Bytes bytes) {
    std::byte* const piece = next_;
    next_ += round_up(bytes);
    return piece;
  }


  void transfer(OpId op, std::byte* data, Bytes bytes) {
    const Operation& o = plan_[op];
    const auto begin = static_cast<std::uint32_t>(p_.transfers.size());
    for (Bytes at = 0; at < bytes; at += segment_)
      p_.transfers.push_back({data + at, static_cast<int>(std::min<Bytes>(segment_, bytes - at)), MPI_BYTE, o.peer, o.tag, o.kind == Kind::send});
    p_.steps[op].transfers = {begin, static_cast<std::uint32_t>(p_.transfers.size())};
  }

  void recv(OpId op) {
    first_move_ = p_.moves.size();
    const Bytes size = message_bytes(op);
    std::byte* const in_place = direct(op);
    std::byte* const data = in_place ? in_place : take(size);
    transfer(op, data, size);
    if (in_place) return;
    std::byte* at = data;
    for (Slice s : plan_.slices(op)) {
      if (s.buffer == Buffer::scratch) scratch_at_[s.block] = at;
      else append_moves(p_.moves, first_move_, block(s), {at, nullptr, bytes(s)});
      if (s.buffer != Buffer::scratch) p_.bytes_unpacked += bytes(s);
      at += bytes(s);
    }
    p_.steps[op].after = close_moves(p_.moves, first_move_);
  }

  void send(OpId op) {
    first_move_ = p_.moves.size();
    const Bytes size = message_bytes(op);
    p_.bytes_sent += size;
    std::byte* const in_place = direct(op);
    std::byte* const data = in_place ? in_place : take(size);
    transfer(op, data, size);
    if (in_place) return;
    std::byte* at = data;
    for (Slice s : plan_.slices(op)) {
      append_moves(p_.moves, first_move_, {at, nullptr, bytes(s)}, block(s));
      at += bytes(s);
    }
    p_.steps[op].before = close_moves(p_.moves, first_move_);
  }

  void copy(OpId op) {
    first_move_ = p_.moves.size();
    const auto from = plan_.copy_sources(plan_[op]), to = plan_.copy_targets(plan_[op]);
    for (std::size_t k = 0; k < from.size(); ++k) append_moves(p_.moves, first_move_, block(to[k]), block(from[k]));
    p_.steps[op].before = close_moves(p_.moves, first_move_);
  }

  const Plan& plan_;
  const Binding& binding_;
  std::size_t segment_;
  std::vector<std::byte*> scratch_at_;
  P2pProgram p_;
  std::byte* next_ = nullptr;
  std::size_t first_move_ = 0;
};

}  // namespace

P2pProgram compile_packed(const Plan& plan, const Binding& binding, std::size_t segment) { return Packer(plan, binding, segment).program(); }

}  // namespace tonari
