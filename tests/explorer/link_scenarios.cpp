// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of two or three ranks through inboxes, as engine/run/edge_queue.hpp runs them.
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>

#include "channels/shared/link.hpp"
#include "explorer/scenarios.hpp"

namespace tonari::explorer {
namespace {

struct LinkWay {
  SharedLimits limits;
  std::size_t bytes;
  std::size_t ranks = 2;  // each sends to the next one and receives from the last one
  bool back = true;       // false: only rank 0 sends
  std::uint64_t exchanges = 2;
  bool killed = false, leaves = false;  // some rank, at any time
};

constexpr std::size_t most_bytes = 24;
using Message = std::array<std::byte, most_bytes>;

Message content(std::uint64_t from, std::uint64_t exchange) {
  Message message;
  for (std::size_t k = 0; k < most_bytes / 8; ++k) {
    const std::uint64_t value = payload(from, exchange, k) * 0x0101'0101'0101'0101;
    std::memcpy(message.data() + 8 * k, &value, 8);
  }
  return message;
}

// A rank and what it sends and receives. All that it does is done by `step`.
struct Participant {
  const LinkWay* way = nullptr;
  std::size_t rank = 0, from = 0;
  std::shared_ptr<SharedLink> link;
  bool sends = false, receives = false;
  std::byte* block = nullptr;  // for single copies: two messages, which others read
  std::byte* place = nullptr;  // where single copies arrive
  // messages that have left this rank altogether, as everybody knows who looks from outside
  std::uint64_t published = 0;

  std::uint64_t exchange = 0;
  std::size_t written = 0, taken = 0;
  bool sent = false;

  int parity() const { return static_cast<int>(exchange % 2); }

  void overwrite(std::byte* at, const Message& message) const {
    if (!blocks_may_change) {
      std::memcpy(at, message.data(), way->bytes);
      return;
    }
    for (std::size_t k = 0; k < way->bytes; k += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, message.data() + k, 8);
      std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at + k))
          .store(word, std::memory_order_relaxed);
    }
  }
  // The program may use its memory for other things from now on.
  void leave() const {
    link->give_up();
    if (sends && block) overwrite(block + exchange % 2 * most_bytes, content(9, 9));
  }

  void start() {
    written = taken = 0;
    sent = !sends;
    if (!sends || !block) return;
    const Message message = content(rank, exchange);
    std::byte* const at = block + exchange % 2 * most_bytes;
    overwrite(at, message);
    const Piece piece{reinterpret_cast<std::uintptr_t>(at), way->bytes};
    link->out(0).bound({&piece, 1});
  }

  void write(const MessageSlot& slot) {
    const Message message = content(rank, exchange);
    const std::size_t straight = slot.end - slot.begin - slot.tail_bytes;
    std::byte* const at = slot.at[exchange % 2];
    if (at) std::memcpy(at, message.data() + slot.begin, straight);
    if (slot.tail) std::memcpy(slot.tail, message.data() + slot.begin + straight, slot.tail_bytes);
  }

  void read(const MessageSlot& slot) {
    Message message;
    const std::size_t bytes = slot.end - slot.begin;
    const std::byte* const at = slot.at[exchange % 2];
    std::memcpy(message.data(), at ? at : place, bytes);
    must(std::memcmp(message.data(), content(from, exchange).data() + slot.begin, bytes) == 0,
         "a message is not what was sent");
  }

  bool send_part() {
    OutEdge& out = link->out(0);
    if (written == out.slots().size() || !out.may_write(written, parity())) return false;
    write(out.slots()[written]);
    out.written(written, parity());
    if (++written == out.slots().size()) ++published;
    return true;
  }
  bool receive_part() {
    InEdge& in = link->in(0);
    if (taken == in.slots().size() || !in.arrived(taken, parity())) return false;
    read(in.slots()[taken]);
    in.taken(taken, parity());
    ++taken;
    return true;
  }
  bool advance() {
    bool moved = sends && send_part();
    if (receives && receive_part()) moved = true;
    if (!sent && written == link->out(0).slots().size() && link->out(0).sent(parity()))
      sent = moved = true;
    return moved;
  }
  void check() const {
    if (!sent) link->out(0).check();
    if (receives && taken < link->in(0).slots().size()) link->in(0).check();
  }
  bool complete() const { return sent && (!receives || taken == link->in(0).slots().size()); }
};

// Whoever finds that another rank is gone has not overlooked what that one sent.
void give_up(Participant& own, const Participant& sender) {
  const LinkWay& way = *own.way;
  must(way.killed || way.leaves, "a rank that is only late was given up");
  const bool awaited = own.receives && own.taken < own.link->in(0).slots().size();
  if (awaited && own.sent && way.limits.single_copy == 0 &&
      error_of([&] { own.link->in(0).check(); }))
    must(sender.published <= own.exchange, "a message that was sent was not seen");
  own.leave();
}

void run(Participant& own, const Participant& sender) {
  for (; own.exchange < own.way->exchanges; ++own.exchange) {
    own.start();
    while (!own.complete()) {
      if (own.way->leaves && choose(2) == 1) return own.leave();
      if (!goes_on([&] { return own.advance(); }, [&] { own.check(); }))
        return give_up(own, sender);
    }
  }
}

using Participants = std::vector<Participant>;

void connect(const LinkWay& way, Participants& all) {
  std::vector<std::shared_ptr<const Node>> nodes;
  std::map<std::int32_t, SegmentName> names;
  for (std::size_t k = 0; k < way.ranks; ++k) {
    const auto rank = static_cast<std::int32_t>(k), count = static_cast<std::int32_t>(way.ranks);
    const std::int32_t to = (rank + 1) % count, from = (rank + count - 1) % count;
    std::vector<EdgeMessage> in, out;
    if (all[k].receives) in.push_back({from, 5, way.bytes});
    if (all[k].sends) out.push_back({to, 5, way.bytes});
    all[k].link = std::make_shared<SharedLink>(std::make_shared<const Node>(MPI_Comm{}, rank), rank,
                                               in, out, way.limits);
    names[rank] = all[k].link->segment();
  }
  for (Participant& each : all) {
    must(each.link->attach(names), "a rank has no inbox");
    each.link->finish_attach();
  }
}

Participants participants(const LinkWay& way) {
  Participants all(way.ranks);
  for (std::size_t k = 0; k < way.ranks; ++k) {
    Participant& each = all[k];
    each.way = &way, each.rank = k, each.from = (k + way.ranks - 1) % way.ranks;
    each.sends = way.back || k == 0, each.receives = way.back || k == 1;
  }
  connect(way, all);
  if (way.limits.single_copy == 0) return all;
  for (Participant& each : all) {
    each.block = shared_memory(2 * most_bytes), each.place = shared_memory(most_bytes);
    const Piece piece{reinterpret_cast<std::uintptr_t>(each.place), way.bytes};
    if (each.receives) each.link->in(0).bound({&piece, 1});
  }
  return all;
}

Program make_link(const LinkWay& way) {
  blocks_may_change = way.limits.single_copy > 0 && (way.leaves || way.killed);
  const auto kept = std::make_shared<const LinkWay>(way);
  const auto all = std::make_shared<Participants>(participants(*kept));
  Program program;
  for (std::size_t k = 0; k < way.ranks; ++k)
    program.ranks.push_back([kept, all, k] { run((*all)[k], (*all)[(*all)[k].from]); });
  program.mortal.assign(way.ranks, way.killed);
  return program;
}

}  // namespace

std::vector<Scenario> link_scenarios() {
  const SharedLimits canary{}, mark{.canary = 0},
      parts{.canary = 0, .whole = 0, .chunk = 8, .cells = 2}, single{.canary = 0, .single_copy = 1};
  const std::vector<std::pair<std::string, LinkWay>> ways{
      {"canary, both ways", {canary, 12}},
      {"canary, three exchanges one way", {canary, 16, 2, false, 3}},
      {"canary, three ranks", {canary, 8, 3}},
      {"mark, both ways", {mark, 16}},
      {"parts, one way", {parts, 24, 2, false}},
      {"parts, both ways", {parts, 24, 2, true, 1}},
      {"single copies, one way", {single, 24, 2, false}},
      {"single copies, both ways", {single, 24}},
      {"canary, a rank is killed", {canary, 12, 2, true, 2, true}},
      {"canary, three ranks, one is killed", {canary, 8, 3, true, 1, true}},
      {"mark, a rank is killed", {mark, 16, 2, true, 2, true}},
      {"parts, a rank is killed", {parts, 24, 2, false, 1, true}},
      {"single copies, a rank is killed", {single, 8, 2, false, 2, true}},
      {"single copies both ways, a rank is killed", {single, 8, 2, true, 2, true}},
      {"canary, a rank leaves", {canary, 12, 2, true, 2, false, true}},
      {"mark, a rank leaves", {mark, 16, 2, true, 2, false, true}},
      {"parts, a rank leaves", {parts, 24, 2, false, 1, false, true}},
      {"single copies, a rank leaves", {single, 8, 2, false, 2, false, true}},
      {"single copies both ways, a rank leaves", {single, 8, 2, true, 2, false, true}},
  };
  std::vector<Scenario> all;
  for (const auto& [name, way] : ways)
    all.push_back({"inbox, " + name, [way = way] { return make_link(way); },
                   way.back && way.limits.single_copy > 0});
  return all;
}

}  // namespace tonari::explorer
