// SPDX-License-Identifier: BSD-3-Clause
#include "request/device_exchange.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "device/given.hpp"
#include "engine/wait/awaited.hpp"

namespace tonari {
namespace {

using Notice = PackedNotices::Notice;

Bytes bytes_of(const std::vector<PackedMessage>& messages) {
  Bytes bytes = 0;
  for (const PackedMessage& message : messages) bytes += message.layout.bytes();
  return bytes;
}

// Blocks of one message have its tag.
std::size_t messages_of(const std::vector<PackedMessage>& blocks) {
  std::set<std::pair<std::int32_t, std::int32_t>> messages;
  for (const PackedMessage& block : blocks) messages.emplace(block.peer, block.tag);
  return messages.size();
}

std::shared_ptr<const OwnedComm> comm_of(const PackedParts& parts) {
  return parts.notices ? parts.notices->comm() : nullptr;
}

}  // namespace

DeviceExchange::DeviceExchange(PackedParts parts, bool crowded, double timeout)
    : PolledExchange(comm_of(parts), {crowded, timeout}),
      parts_(std::move(parts)),
      room_(room_to_end()) {}

DeviceExchange::~DeviceExchange() {
  if (!connected_) return;
  if (!parts_.gave_up && error_of([&] { parts_.packed->leave(); })) give_up();
  end_later(std::move(room_), std::move(parts_));
}

void DeviceExchange::connect(const PackedOffers& offers) {
  parts_.packed->connect(offers);
  connected_ = true;
}

void DeviceExchange::disconnect() noexcept {
  connected_ = false;
  if (!nothing()) (void)error_of([&] { parts_.packed->close(); });
}

std::string DeviceExchange::describe() const {
  if (nothing()) return "";
  return text("blocks on device ", parts_.packed->number(),
              " go from device to device by handles, through ", parts_.packed->bytes(),
              " bytes of device memory\n");
}

// ---- in the order of streams

void DeviceExchange::check_stream(DeviceStream stream) const {
  tonari::check_stream(parts_.packed->device(), parts_.packed->number(), stream,
                       "an exchange counts its flags, which a graph would repeat");
}

void DeviceExchange::pack_on(DeviceStream stream) {
  if (nothing()) return;
  check_stream(stream);
  packs_on_ = stream;
}

void DeviceExchange::unpack_on(DeviceStream stream) {
  if (nothing()) return;
  check_stream(stream);
  unpacks_on_ = stream;
  by_stream_ = true;
}

// A test may have unpacked before it was said where.
void DeviceExchange::finish_on(DeviceStream stream) {
  if (!nothing() && stream != unpacked_on_)
    parts_.packed->device().wait_event(stream, parts_.packed->unpacked());
}

// ---- other buffers

void DeviceExchange::check_reach(Shifts shifts) const {
  if (nothing()) return;
  const auto check = [&](const std::vector<PackedMessage>& messages, const char* name) {
    for (const PackedMessage& message : messages) {
      if (message.only_passed_on) continue;
      const auto base = reinterpret_cast<std::ptrdiff_t>(message.base) + shifts[message.space];
      const auto [low, high] = message.layout.span();
      check_buffer(parts_.packed->device(), parts_.packed->number(), {base + low, base + high},
                   name);
    }
  };
  check(parts_.packed->out(), "`sendbuf`");
  check(parts_.packed->in(), "`recvbuf`");
}

void DeviceExchange::rebind(Shifts shifts) {
  if (nothing()) return;
  Wait waiting(policy_);
  parts_.packed->move_to(shifts, [&] {
    if (waiting.idle() == Wait::Then::check) check_peers();
  });
}

// ---- exchanging

void DeviceExchange::start() {
  const std::optional<DeviceStream> stream = std::exchange(packs_on_, std::nullopt);
  by_stream_ = false;
  unpacks_ = done_ = false;
  parts_.packed->start_on(stream ? *stream : parts_.packed->own_stream());
}

bool DeviceExchange::advance() {
  const bool by_stream = by_stream_;  // another thread may say so now
  if (!std::exchange(unpacks_, true)) {
    unpacked_on_ = by_stream ? unpacks_on_ : parts_.packed->own_stream();
    parts_.packed->wait_on(unpacked_on_);
  }
  done_ = by_stream || parts_.packed->complete();
  return done_;
}

void DeviceExchange::check_peers() {
  parts_.notices->look();
  if (const std::int32_t rank = parts_.notices->lost(); rank >= 0)
    fail(Errc::peer, "rank ", rank,
         " has given up the exchange or has ended, and this rank waits for it");
}

void DeviceExchange::give_up() {
  if (nothing() || std::exchange(parts_.gave_up, true)) return;
  (void)error_of([&] { parts_.packed->give_up(parts_.devices->stream(parts_.packed->number())); });
  (void)error_of([&] { parts_.notices->tell(Notice::gave_up); });
}

// ---- what it is

int DeviceExchange::messages() const {
  return nothing() ? 0 : static_cast<int>(messages_of(parts_.packed->out()));
}

Bytes DeviceExchange::bytes() const { return nothing() ? 0 : bytes_of(parts_.packed->out()); }

void DeviceExchange::awaits(Awaited& awaited) const {
  awaited.in(call_);
  if (nothing()) return;
  for (const PackedMessage& message : parts_.packed->in())
    if (message.from < 0)
      awaited.add(Awaited::What::message, parts_.notices->node(), message.peer, 0,
                  message.layout.bytes());
}

}  // namespace tonari
