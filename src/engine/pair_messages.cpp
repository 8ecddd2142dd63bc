#include "engine/pair_messages.hpp"

#include <algorithm>
#include <cstring>

namespace tonari {

PairMessages::PairMessages(std::unique_ptr<Streams> streams, WaitPolicy wait)
    : PolledExchange(streams->comm(), wait), streams_(std::move(streams)), links_(size()) {}

PairMessages::~PairMessages() {
  if (left_ > 0 && !in_forked_child()) streams_->leave();
}

void PairMessages::check_start() const {
  if (left_ > 0 || streams_->left())
    fail(Errc::peer,
         "an earlier sparse exchange on this communicator failed in the middle; use another one");
}

void PairMessages::start() {
  failure_.reset();
  left_ = 2 * size();
  for (std::size_t k = 0; k < size(); ++k) {
    Link& link = links_[k];
    link.sending = link.receiving = Stage::first;
    send_some(*(*streams_)[k].out, link);
  }
}

bool PairMessages::advance() {
  bool moved = false;
  for (std::size_t k = 0; k < size(); ++k) {
    Link& link = links_[k];
    if (link.sending != Stage::done) moved |= send_some(*(*streams_)[k].out, link);
    if (link.receiving != Stage::done) moved |= receive_some(*(*streams_)[k].in, link);
  }
  return moved;
}

void PairMessages::check_peers() const {
  for (std::size_t k = 0; k < size(); ++k)
    if (links_[k].sending != Stage::done || links_[k].receiving != Stage::done)
      streams_->check((*streams_)[k]);
}

bool PairMessages::send_some(OutStream& out, Link& link) {
  const std::span<const std::byte> all = std::as_bytes(link.out);
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

}  // namespace tonari
