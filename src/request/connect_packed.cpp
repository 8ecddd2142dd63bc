// SPDX-License-Identifier: BSD-3-Clause
#include "request/connect_packed.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "channels/control_messages.hpp"
#include "packing/packed_offer.hpp"
#include "request/first_reason.hpp"

namespace tonari {
namespace {

// One rank's part.
class Connection {
 public:
  Connection(Context& context, double timeout) : context_(context), timeout_(timeout) {}

  // Local.
  void make(const std::function<PackedBlocks()>& read);
  // Collective.
  void exchange_offers();
  // Local.
  void connect();
  DeviceExchange& made() { return *made_; }
  std::unique_ptr<DeviceExchange> take() { return std::move(made_); }

 private:
  struct Peer {
    std::size_t messages_out = 0;
    std::vector<std::byte> told, heard;
  };
  void find_peers(const PackedBlocks& blocks);
  PackedParts parts_of(PackedBlocks blocks) const;

  Context& context_;
  double timeout_;
  std::map<std::int32_t, Peer> peers_;  // without this rank
  std::unique_ptr<DeviceExchange> made_;
};

void Connection::find_peers(const PackedBlocks& blocks) {
  for (const PackedMessage& message : blocks.in) peers_[message.peer];
  for (const PackedMessage& message : blocks.out) ++peers_[message.peer].messages_out;
  peers_.erase(context_.rank());
  for (const auto& [rank, peer] : peers_)
    if (!context_.node()->here(rank))
      fail(Errc::argument, "its neighbor ", rank, " is on another node");
}

PackedParts Connection::parts_of(PackedBlocks blocks) const {
  if (!blocks.devices) return {};
  std::vector<std::int32_t> ranks;
  for (const auto& [rank, peer] : peers_) ranks.push_back(rank);
  Device& device = **blocks.devices;
  return {std::move(blocks.devices),
          std::make_unique<PackedNotices>(context_.shared_comm(), context_.node(),
                                          context_.first_tag(), ranks),
          std::make_unique<PackedExchange>(device, blocks.number, context_.rank(),
                                           std::move(blocks.in), std::move(blocks.out))};
}

void Connection::make(const std::function<PackedBlocks()>& read) {
  PackedBlocks blocks = read();
  find_peers(blocks);
  made_ = std::make_unique<DeviceExchange>(parts_of(std::move(blocks)), context_.node()->crowded(),
                                           timeout_);
  if (peers_.empty()) return;
  const PackedOffer offer = made_->offer();
  for (auto& [rank, peer] : peers_) {
    peer.told = written_offer(offer, rank);
    peer.heard.resize(bytes_of_offer(peer.messages_out));
  }
}

void Connection::exchange_offers() {
  ControlMessages messages(context_.comm(), device_offers);
  for (auto& [rank, peer] : peers_) {
    messages.send(peer.told, rank);
    messages.recv(peer.heard, rank);
  }
  messages.exchange([&] { stay_together(context_.comm()); });
}

void Connection::connect() {
  if (made_->nothing()) return;
  PackedOffers offers;
  for (const auto& [rank, peer] : peers_) offers[rank] = read_offer(peer.heard, context_.rank());
  made_->connect(offers);
}

}  // namespace

ConnectedPacked connect_packed(Context& context, double timeout,
                               const std::function<PackedBlocks()>& read) {
  (void)look_at_ended();
  context.reserve_tags(packed_tags);
  Connection mine(context, timeout);
  const std::optional<Error> unable = error_of([&] { mine.make(read); });
  if (auto reason = first_reason(context.comm(), unable)) return {nullptr, std::move(reason)};
  mine.exchange_offers();
  const std::optional<Error> apart = error_of([&] { mine.connect(); });
  if (auto reason = first_reason(context.comm(), apart)) {
    mine.made().disconnect();
    stay_together(context.comm());  // before memory that others have mapped is given back
    return {nullptr, std::move(reason)};
  }
  return {mine.take(), std::nullopt};
}

}  // namespace tonari
