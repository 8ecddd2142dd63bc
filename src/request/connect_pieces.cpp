// SPDX-License-Identifier: BSD-3-Clause
#include "request/connect_pieces.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "request/first_reason.hpp"
#include "request/pieced_exchange.hpp"

namespace tonari {
namespace {

constexpr Bytes longest = Bytes{1} << 30;  // the MPI counts fewer than 2 GiB

Bytes bytes_of_side(const std::vector<PackedMessage>& side) {
  Bytes all = 0;
  for (const PackedMessage& m : side) all = checked_add(all, m.layout.bytes(), "bytes of a side");
  return all;
}

// A part of a message, which travels as one of its own.
struct Segment {
  std::byte* base;
  Layout layout;
  std::size_t space;
  std::int32_t peer;
  int tag;
};

// One side, cut at both ends of each message alike: the segments between two ranks are numbered in
// the order of the messages' tags. Which of them are one piece is this rank's matter.
class CutSide {
 public:
  CutSide(const PackedBlocks& blocks, PinnedCopy::Way way, Bytes length)
      : blocks_(blocks), way_(way), length_(length) {}

  // ranks: how many there are.
  void cut(std::vector<PackedMessage> side, std::int32_t rank, std::int32_t ranks) {
    // Each rank begins with the next one, so that not all send to the same.
    const auto turn = [&](std::int32_t peer) {
      const std::int32_t behind = sends() ? peer - rank : rank - peer;
      return (behind + ranks - 1) % ranks;
    };
    std::ranges::sort(side, {},
                      [&](const PackedMessage& m) { return std::pair(turn(m.peer), m.tag); });
    for (const PackedMessage& m : side)
      for (Bytes first = 0; first < m.layout.bytes(); first += length_)
        add(m, first, std::min(length_, m.layout.bytes() - first));
    end_piece();
  }

  PiecedCopies::Pieces copies;
  std::vector<std::vector<MpiMessage>> messages;  // of each piece
  std::uint64_t tags = 0;

 private:
  bool sends() const { return way_ == PinnedCopy::Way::to_host; }

  void add(const PackedMessage& m, Bytes first, Bytes bytes) {
    if (bytes_ + bytes > length_) end_piece();
    const int tag = to_peer_[m.peer]++;
    tags = std::max(tags, static_cast<std::uint64_t>(tag) + 1);
    piece_.push_back({m.base, m.layout.part(first, bytes), m.space, m.peer, tag});
    bytes_ += bytes;
  }

  void end_piece() {
    if (piece_.empty()) return;
    std::vector<DeviceBlock> parts;
    for (const Segment& s : piece_)
      parts.push_back({s.base, &s.layout, s.layout.bytes(), 0, s.space});
    auto copy = std::make_unique<PinnedCopy>(blocks_.devices, blocks_.number, parts, way_);
    auto& all = messages.emplace_back();
    for (std::size_t k = 0; k < piece_.size(); ++k)
      all.push_back({copy->host(k), static_cast<int>(parts[k].bytes), piece_[k].peer, piece_[k].tag,
                     sends()});
    copies.push_back(std::move(copy));
    piece_.clear();
    bytes_ = 0;
  }

  const PackedBlocks& blocks_;
  PinnedCopy::Way way_;
  Bytes length_;
  std::map<std::int32_t, int> to_peer_;
  std::vector<Segment> piece_;
  Bytes bytes_ = 0;
};

// One rank's part.
class Cut {
 public:
  explicit Cut(Context& context) : context_(context) {}

  // Local. Returns the bytes of its larger side.
  Bytes read(const std::function<PackedBlocks()>& read) {
    blocks_ = read();
    return std::max(bytes_of_side(blocks_.out), bytes_of_side(blocks_.in));
  }
  // Local. Returns how many tags it takes.
  std::uint64_t make(Bytes length) {
    out_.emplace(blocks_, PinnedCopy::Way::to_host, length);
    in_.emplace(blocks_, PinnedCopy::Way::to_device, length);
    out_->cut(std::move(blocks_.out), context_.rank(), context_.ranks());
    in_->cut(std::move(blocks_.in), context_.rank(), context_.ranks());
    if (!out_->copies.empty() || !in_->copies.empty())
      copies_ = std::make_unique<PiecedCopies>(std::move(out_->copies), std::move(in_->copies));
    return std::max(out_->tags, in_->tags);
  }
  // Local; the tags are reserved.
  std::unique_ptr<PiecedExchange> connect(double timeout) {
    PiecesByMpi messages;
    with_requests(messages.out, out_->messages);
    with_requests(messages.in, in_->messages);
    return std::make_unique<PiecedExchange>(context_.shared_comm(), context_.node(), timeout,
                                            std::move(copies_), std::move(messages));
  }

 private:
  void with_requests(std::vector<PersistentMessages>& made,
                     std::vector<std::vector<MpiMessage>>& pieces) const {
    made.reserve(pieces.size());
    for (std::vector<MpiMessage>& piece : pieces) {
      for (MpiMessage& message : piece) message.tag += context_.first_tag();
      made.emplace_back(context_.shared_comm()->get(), std::move(piece));
    }
  }

  Context& context_;
  PackedBlocks blocks_;
  std::optional<CutSide> out_, in_;
  std::unique_ptr<PiecedCopies> copies_;
};

}  // namespace

Bytes PieceRule::length(Bytes largest) const {
  if (largest < 2 * least) return 0;
  return std::clamp((largest + most - 1) / most, least, longest);
}

ConnectedMessages connect_pieces(Context& context, double timeout,
                                 const std::function<PackedBlocks()>& read, const std::string& why,
                                 const PieceRule& rule) {
  Cut mine(context);
  std::uint64_t largest = 0, tags = 0;
  const std::optional<Error> unable = error_of([&] { largest = mine.read(read); });
  ConnectedMessages made;
  made.refusal = first_reason(context.comm(), unable, largest);
  if (made.refusal) return made;
  const Bytes length = rule.length(largest);
  if (length == 0) {
    made.refusal =
        error_of([&] { fail(Errc::argument, "no rank has ", 2 * rule.least, " bytes to cut"); });
    return made;
  }
  const std::optional<Error> failed = error_of([&] { tags = mine.make(length); });
  made.refusal = first_reason(context.comm(), failed, tags);
  if (made.refusal) return made;
  context.reserve_tags(tags);
  const std::optional<Error> apart = error_of([&] {
    auto exchange = mine.connect(timeout);
    made.described = exchange->describe(why);
    if (!exchange->nothing()) made.ordered = exchange.get();
    made.exchange = std::move(exchange);
  });
  agree(context.comm(), apart);
  made.tags = tags;
  return made;
}

}  // namespace tonari
