// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/pair_messages.hpp"

#include <algorithm>
#include <cstring>

namespace tonari {

std::unique_ptr<PairMessages> connect_pairs(SharedComm& shared) {
  const NodeMap& nodes = *shared.nodes();
  std::vector<NeighborEdges> others;
  for (std::int32_t rank = 0; rank < shared.ranks(); ++rank)
    if (rank != shared.rank()) others.push_back({rank, {0}, {0}, {0}});
  shared.reserve_tags(stream_tags);
  auto streams =
      std::make_unique<Streams>(shared.connect_comm(nodes), std::move(others), shared.exchanges(),
                                shared.first_tag(), PairMessages::board_bytes);
  shared.take_tags(stream_tags);
  return std::make_unique<PairMessages>(
      std::move(streams), WaitPolicy{nodes.node->crowded(), timeout_in_environment()});
}

PairMessages::PairMessages(std::unique_ptr<Streams> streams, WaitPolicy wait)
    : PolledExchange(streams->comm(), wait),
      streams_(std::move(streams)),
      crowded_(wait.crowded),
      links_(size()) {
  const Node& node = streams_->node();
  if (!streams_->any_shared() || node.ranks().size() > most_here) return;
  own_ = {streams_->board(), slot_bytes};
  here_ = node.index(streams_->rank());
  for (std::size_t k = 0; k < size(); ++k)
    if ((*streams_)[k].shared) links_[k].slots = {streams_->board(k), slot_bytes};
}

PairMessages::~PairMessages() {
  if (!in_forked_child()) give_up();
}

void PairMessages::give_up() {
  if (left_ > 0) streams_->leave();
}

void PairMessages::check_start() const {
  if (left_ > 0 || streams_->left())
    fail(Errc::peer,
         "an earlier sparse exchange on this communicator failed in the middle; use another one");
}

// ---- What this rank sends

void PairMessages::clear() {
  used_ = 0;
  spilled_.clear();
  if (spilled_.capacity() > 4 * room) spilled_.shrink_to_fit();
  for (Link& link : links_) link.spilled = 0;
  if (own_) slot().pieces = {};
}

Word* PairMessages::place(std::size_t k, std::size_t words) {
  if (!on_board(links_[k])) return spill(k, words);
  Piece& piece = slot().pieces[(*streams_)[k].index];
  if (words > room - used_) {
    piece.words = by_stream;
    return spill(k, words);
  }
  piece = {static_cast<std::uint16_t>(used_), static_cast<std::uint16_t>(words)};
  Word* const at = reinterpret_cast<Word*>(&slot() + 1) + used_;
  used_ += words;
  return at;
}

Word* PairMessages::spill(std::size_t k, std::size_t words) {
  Link& link = links_[k];
  link.out = spilled_.size();
  link.spilled = head_words + words;
  spilled_.resize(link.out + link.spilled);
  return &spilled_[link.out + head_words];
}

// A rank that another one waits for may run on the same core, where it proceeds only when the core
// is given away. It is where it was when it wrote last.
bool PairMessages::shares_core() const {
  const std::uint64_t core = slot().core;
  return std::ranges::any_of(links_, [&](const Link& link) {
    return on_board(link) && slot_of(link.slots, number_).core == core;
  });
}

void PairMessages::publish() {
  slot().head = head_;
  slot().core = current_core();
  policy_.crowded = crowded_ || shares_core();
  own_.publish(++number_);
}

void PairMessages::start() {
  failure_.reset();
  if (own_) publish();
  for (const Link& link : links_)
    if (link.spilled > 0) std::ranges::copy(head_, &spilled_[link.out]);
  left_ = 2 * size();
  for (std::size_t k = 0; k < size(); ++k) {
    Link& link = links_[k];
    link.here = {};
    link.receiving = on_board(link) ? Stage::slot : Stage::first;
    link.sending = on_board(link) && link.spilled == 0 ? Stage::done : Stage::first;
    if (link.sending == Stage::done)
      --left_;
    else
      send_some(*(*streams_)[k].out, link);
  }
}

bool PairMessages::advance() {
  bool moved = false;
  for (std::size_t k = 0; k < size(); ++k) {
    Link& link = links_[k];
    if (link.sending != Stage::done) moved |= send_some(*(*streams_)[k].out, link);
    if (link.receiving == Stage::slot) moved |= look(link);
    if (link.receiving != Stage::done && link.receiving != Stage::slot)
      moved |= receive_some(*(*streams_)[k].in, link);
  }
  return moved;
}

void PairMessages::check_peers() const {
  for (std::size_t k = 0; k < size(); ++k)
    if (links_[k].sending != Stage::done || links_[k].receiving != Stage::done)
      streams_->check((*streams_)[k]);
}

// Whether the peer has written its slot.
bool PairMessages::look(Link& link) {
  if (!link.slots.arrived(number_)) return false;
  const Slot& theirs = slot_of(link.slots, number_);
  const Piece piece = theirs.pieces[here_];
  link.receiving = piece.words == by_stream ? Stage::first : Stage::done;
  link.head = theirs.head;
  if (link.receiving != Stage::done) return true;
  link.here = {reinterpret_cast<const Word*>(&theirs + 1) + piece.begin, piece.words};
  --left_;
  return true;
}

std::span<const Word> PairMessages::words(std::size_t k) const {
  const Link& link = links_[k];
  if (link.here.data()) return link.here;
  if (!link.kept) return {};
  return std::span(*arrived_).subspan(link.begin, link.incoming / sizeof(Word)).subspan(head_words);
}

// ---- By streams

bool PairMessages::send_some(OutStream& out, Link& link) {
  const std::span<const std::byte> all = std::as_bytes(
      link.spilled > 0 ? std::span<const Word>(&spilled_[link.out], link.spilled) : head_);
  bool moved = false;
  if (link.sending == Stage::first) {
    std::byte* const at = out.first();
    if (!at) return false;
    link.sent = std::min(all.size(), out.first_room());
    std::memcpy(at, all.data(), link.sent);
    out.push_first({.sent = all.size()}, link.sent);
    link.sending = Stage::more;
    moved = true;
  }
  while (link.sending == Stage::more && link.sent < all.size()) {
    std::byte* const at = out.more();
    if (!at) return moved;
    const std::size_t some = std::min(all.size() - link.sent, out.room());
    std::memcpy(at, all.data() + link.sent, some);
    out.push_more(some);
    link.sent += some;
    moved = true;
  }
  link.sending = Stage::taken;
  if (out.stays(all.size()) && !out.taken()) return moved;
  link.sending = Stage::done;
  --left_;
  return true;
}

bool PairMessages::receive_some(InStream& in, Link& link) {
  bool moved = false;
  std::size_t bytes = 0;
  if (link.receiving == Stage::first) {
    MessageHead head;
    const std::byte* const at = in.first(head, bytes);
    if (!at) return false;
    expect(link, head.sent, at);
    keep(link, at, bytes);
    in.release();
    link.receiving = Stage::more;
    moved = true;
  }
  while (link.received < link.incoming) {
    const std::byte* const at = in.more(link.incoming - link.received, bytes);
    if (!at) return moved;
    keep(link, at, bytes);
    in.release();
    moved = true;
  }
  link.receiving = Stage::done;
  --left_;
  return true;
}

// at: the beginning of the message, which has the whole head.
void PairMessages::expect(Link& link, Bytes bytes, const std::byte* at) {
  std::memcpy(link.head.data(), at, sizeof link.head);
  link.incoming = bytes;
  link.received = 0;
  link.begin = arrived_->size();
  const std::optional<Error> error =
      error_of([&] { arrived_->resize(link.begin + bytes / sizeof(Word)); });
  link.kept = !error;
  if (error && !failure_) failure_ = error;
}

void PairMessages::keep(Link& link, const std::byte* at, std::size_t bytes) {
  if (link.kept)
    std::memcpy(reinterpret_cast<std::byte*>(arrived_->data() + link.begin) + link.received, at,
                bytes);
  link.received += bytes;
}

// ---- Reports

void PairMessages::awaits(Awaited& awaited) const {
  if (!call_) awaited.in("a sparse exchange");
  for (std::size_t k = 0; k < size(); ++k) {
    const Link& link = links_[k];
    if (link.receiving != Stage::done)
      awaited.add(Awaited::What::message, &streams_->node(), rank(k),
                  link.receiving == Stage::more ? link.received : 0,
                  link.receiving == Stage::more ? link.incoming : 0);
    if (link.sending != Stage::done) awaited.add(Awaited::What::taking, &streams_->node(), rank(k));
  }
}

}  // namespace tonari
