// SPDX-License-Identifier: BSD-3-Clause
#include "request/connect_messages.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "request/first_reason.hpp"
#include "request/mpi_messages.hpp"
#include "request/mpi_on_device.hpp"
#include "request/staged_exchange.hpp"

namespace tonari {
namespace {

// One rank's part, which begins with what it can do alone.
class Messages {
 public:
  explicit Messages(Context& context) : context_(context) {}

  void make(const std::function<PackedBlocks()>& read) {
    PackedBlocks blocks = read();
    if (!blocks.devices) return;
    try_mpi_on_device(*blocks.devices, blocks.number, context_.comm(), context_.first_tag());
    find_staging(blocks);
    sides_.send = pack(blocks, blocks.out, PinnedCopy::Way::to_host);
    sides_.recv = pack(blocks, blocks.in, PinnedCopy::Way::to_device);
    if (sides_.send || sides_.recv)
      described_ =
          text("blocks on device ", blocks.number, " are given to the MPI there, packed in ",
               sides_.bytes(), " bytes of the device's memory\n");
  }
  std::uint64_t tags() const { return tags_; }
  const std::optional<Error>& stages() const { return stages_; }

  ConnectedMessages take(double timeout, std::size_t tags) {
    ConnectedMessages made;
    made.tags = tags;
    for (MpiMessage& message : messages_) message.tag += context_.first_tag();
    auto messages = std::make_unique<MpiMessages>(context_.shared_comm(), context_.node(), timeout,
                                                  std::move(messages_));
    if (!sides_.send && !sides_.recv) {
      made.exchange = std::move(messages);
      return made;
    }
    auto staged = std::make_unique<StagedExchange>(std::move(messages), std::move(sides_));
    made.ordered = staged.get();
    made.exchange = std::move(staged);
    made.described = std::move(described_);
    return made;
  }

 private:
  // What the MPI says of itself does not tell this, and neither do messages that arrive.
  void find_staging(const PackedBlocks& blocks) {
    const auto goes_away = [this](const PackedMessage& m) {
      return !context_.node()->here(m.peer);
    };
    if (std::ranges::none_of(blocks.out, goes_away) && std::ranges::none_of(blocks.in, goes_away))
      return;
    if (const Capability has = (*blocks.devices)->ability(Ability::network_access); !has)
      stages_ = Error(Errc::argument, has.why_not);
  }
  // Blocks between two ranks lie in the order of their tags at both ends, one behind the other. So
  // they are one message, or as few as the MPI's counts allow.
  std::shared_ptr<PinnedCopy> pack(const PackedBlocks& blocks, std::vector<PackedMessage>& side,
                                   PinnedCopy::Way way) {
    if (side.empty()) return nullptr;
    std::ranges::sort(side, {}, [](const PackedMessage& m) { return std::pair(m.peer, m.tag); });
    std::vector<DeviceBlock> parts;
    for (const PackedMessage& m : side)
      parts.push_back({m.base, &m.layout, m.layout.bytes(), 0, m.space});
    auto packed =
        std::make_shared<PinnedCopy>(blocks.devices, blocks.number, parts, way, MemoryKind::device);
    std::map<std::int32_t, int> to_peer;
    for (std::size_t k = 0; k < side.size(); ++k) {
      if (parts[k].bytes > std::numeric_limits<int>::max())
        fail(Errc::argument, "a message has ", parts[k].bytes,
             " bytes, and the MPI counts fewer than 2 GiB");
      const bool follows = k > 0 && side[k - 1].peer == side[k].peer;
      if (follows && parts[k].bytes <= std::numeric_limits<int>::max() -
                                           static_cast<Bytes>(messages_.back().bytes)) {
        messages_.back().bytes += static_cast<int>(parts[k].bytes);
        continue;
      }
      const int tag = to_peer[side[k].peer]++;
      tags_ = std::max(tags_, static_cast<std::uint64_t>(tag) + 1);
      messages_.push_back({packed->host(k), static_cast<int>(parts[k].bytes), side[k].peer, tag,
                           way == PinnedCopy::Way::to_host});
    }
    return packed;
  }

  Context& context_;
  StagedSides sides_;
  std::vector<MpiMessage> messages_;
  std::uint64_t tags_ = 0;
  std::string described_;
  std::optional<Error> stages_;  // why messages to other nodes cannot but pass the host
};

// Collective.
void tell_staging(Context& context, const std::optional<Error>& mine, ConnectedMessages& made) {
  const std::optional<Error> first = first_reason(context.comm(), mine);
  if (!first) return;
  made.stages =
      text("the MPI stages messages to other nodes through the host, because ", first->what());
  if (!made.described.empty()) made.described += made.stages + "\n";
}

}  // namespace

ConnectedMessages connect_messages(Context& context, double timeout,
                                   const std::function<PackedBlocks()>& read) {
  context.reserve_tags(1);
  Messages mine(context);
  const std::optional<Error> unable = error_of([&] { mine.make(read); });
  std::uint64_t tags = unable ? 0 : mine.tags();
  ConnectedMessages made;
  made.refusal = first_reason(context.comm(), unable, tags);
  if (made.refusal) return made;
  context.reserve_tags(tags);
  const std::optional<Error> failed = error_of([&] { made = mine.take(timeout, tags); });
  agree(context.comm(), failed);
  tell_staging(context, mine.stages(), made);
  return made;
}

}  // namespace tonari
