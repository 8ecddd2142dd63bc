// SPDX-License-Identifier: BSD-3-Clause
#include "packing/pieced_copies.hpp"

#include <algorithm>
#include <utility>

namespace tonari {

namespace {

const PinnedCopy& first_of(const PiecedCopies::Pieces& out, const PiecedCopies::Pieces& in) {
  return out.empty() ? *in.front() : *out.front();
}

}  // namespace

PiecedCopies::PiecedCopies(Pieces out, Pieces in)
    : out_(std::move(out)),
      in_(std::move(in)),
      held_(first_of(out_, in_).device()),
      unpacks_(held_.stream(any().number())),
      free_(held_.event(any().number())),
      started_(out_.size()),
      sent_(out_.size()),
      put_(in_.size(), true) {}

Bytes PiecedCopies::bytes() const {
  Bytes all = 0;
  for (const Pieces* side : {&out_, &in_})
    for (const auto& piece : *side) all += piece->bytes();
  return all;
}

// Nothing comes before the memory that it comes to is unpacked, and before all that the stream
// holds is complete. So blocks that the stream still uses are not unpacked into, wherever that is.
void PiecedCopies::start_on(std::optional<DeviceStream> stream) {
  const DeviceStream frees = stream.value_or(unpacks_);
  for (const auto& piece : in_) piece->order_behind(frees);
  receiving_ = in_.empty();
  if (!receiving_) any().device().record(frees, free_);
  const DeviceStream packs = stream.value_or(any().own_stream());
  for (const auto& piece : out_) piece->put_on(packs);
  started_ = sent_ = 0;
  put_.assign(in_.size(), false);
}

// They are packed one after the other, in one stream.
bool PiecedCopies::send_packed(PieceMessages& messages) {
  const std::size_t before = started_;
  while (started_ < out_.size() && out_[started_]->complete()) messages.send(started_++);
  return started_ > before;
}

bool PiecedCopies::receive_all(PieceMessages& messages) {
  if (receiving_ || !any().device().query(free_)) return false;
  receiving_ = true;
  for (std::size_t k = 0; k < in_.size(); ++k) messages.receive(k);
  return true;
}

bool PiecedCopies::unpack_received(PieceMessages& messages, DeviceStream stream) {
  bool some = false;
  for (std::size_t k = 0; receiving_ && k < in_.size(); ++k)
    if (!put_[k] && messages.received(k)) {
      in_[k]->put_on(stream);
      some = put_[k] = true;
    }
  return some;
}

bool PiecedCopies::put(PieceMessages& messages) {
  while (sent_ < started_ && messages.sent(sent_)) ++sent_;
  return sent_ == out_.size() && std::ranges::find(put_, false) == put_.end();
}

bool PiecedCopies::unpacked() {
  return std::ranges::all_of(in_, [](const auto& piece) { return piece->complete(); });
}

void PiecedCopies::order_behind(DeviceStream stream) {
  for (const auto& piece : in_) piece->order_behind(stream);
}

void PiecedCopies::move_to(std::span<const std::ptrdiff_t> shifts) {
  for (const auto& piece : in_) piece->wait();
  for (const Pieces* side : {&out_, &in_})
    for (const auto& piece : *side) piece->move_to(shifts);
}

void PiecedCopies::check_reach(std::span<const std::ptrdiff_t> shifts) const {
  for (const auto& piece : out_) piece->check_reach(shifts, "`sendbuf`");
  for (const auto& piece : in_) piece->check_reach(shifts, "`recvbuf`");
}

}  // namespace tonari
