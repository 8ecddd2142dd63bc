// SPDX-License-Identifier: BSD-3-Clause
#include "cost/effort.hpp"

#include <span>

namespace tonari {
namespace {

// Contiguous pieces among slices: a block continues the one before if it follows it in the same
// buffer.
struct PieceCount {
  std::uint64_t count = 0, bytes = 0;
  bool scratch = false;
};

bool follows(Slice a, Slice b) { return a.buffer == b.buffer && a.block + 1 == b.block; }

// With `passing`, scratch blocks count. Empty blocks are no piece.
PieceCount pieces(std::span<const Slice> slices, const BlockBytes& bytes, bool passing) {
  PieceCount found;
  const Slice* before = nullptr;
  for (const Slice& s : slices) {
    const std::uint64_t size = bytes(s);
    if (size == 0) continue;
    const bool scratch = s.buffer == Buffer::scratch;
    found.scratch = found.scratch || scratch;
    if (scratch && !passing) {
      before = nullptr;
      continue;
    }
    if (!before || !follows(*before, s)) ++found.count;
    found.bytes += size;
    before = &s;
  }
  return found;
}

double copying(const PieceCount& p, const LogGP& m) {
  return units(p.count) * m.copy_block + units(p.bytes) * m.copy_byte;
}

// The time to copy self blocks, in pieces that are contiguous on both sides.
double own_copies(const Plan& plan, const Operation& op, const BlockBytes& bytes, const LogGP& m) {
  const auto from = plan.copy_sources(op), to = plan.copy_targets(op);
  PieceCount p;
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (k == 0 || !follows(from[k - 1], from[k]) || !follows(to[k - 1], to[k])) ++p.count;
    p.bytes += bytes(from[k]);
  }
  return p.bytes > 0 ? copying(p, m) : 0;
}

// What the processor does besides o; `all` are the message's pieces. Received blocks that are only
// passed on are not unpacked: they leave from the message in which they came.
double handling(const Plan& plan, const Operation& op, const PieceCount& all,
                const BlockBytes& bytes, const LogGP& m, const ChannelCost& channel) {
  if (op.kind == Kind::exchange) return copying(all, m);
  if (channel.typed) return all.count > 1 ? units(all.count) * m.typed_block : 0;
  if (channel.direct && all.count == 1 && !all.scratch) return 0;
  return copying(op.kind == Kind::recv && all.scratch ? pieces(plan.slices(op), bytes, false) : all,
                 m);
}

}  // namespace

Effort effort_of(const Plan& plan, const Operation& op, const BlockBytes& bytes,
                 const LogGP& machine, const ChannelCost& channel) {
  if (op.kind == Kind::copy) return {own_copies(plan, op, bytes, machine)};
  const PieceCount all = pieces(plan.slices(op), bytes, true);
  const double overheads = units(Cut(all.bytes, channel.segment).count) * machine.o;
  return {overheads + handling(plan, op, all, bytes, machine, channel),
          op.kind == Kind::exchange ? overheads : 0, all.bytes};
}

}  // namespace tonari
