// SPDX-License-Identifier: BSD-3-Clause
#include "channels/shared/link.hpp"

#include "channels/shared/edges.hpp"

namespace tonari {
namespace {

Protocol protocol_for(Bytes bytes, const SharedLimits& limits) {
  if (bytes <= limits.canary) return Protocol::canary;
  if (limits.views) return Protocol::mark;
  if (limits.single_copy > 0 && bytes >= limits.single_copy) return Protocol::single_copy;
  return bytes <= limits.whole ? Protocol::mark : Protocol::pipelined;
}

}  // namespace

SharedLink::SharedLink(std::shared_ptr<const Node> node, std::int32_t rank,
                       std::vector<EdgeMessage> in, std::vector<EdgeMessage> out,
                       const SharedLimits& limits)
    : node_(std::move(node)),
      rank_(rank),
      ring_(limits.ring),
      incoming_(std::move(in)),
      outgoing_(std::move(out)),
      theirs_(node_->ranks().size()) {
  std::vector<Expected> expected;
  for (const EdgeMessage& m : incoming_)
    expected.push_back(
        {m.peer, m.tag, m.bytes, protocol_for(m.bytes, limits), limits.chunk, limits.cells});
  if (expected.empty()) return;
  inbox_ = Inbox::make(expected);
  for (std::size_t k = 0; k < expected.size(); ++k)
    in_.push_back(std::make_unique<SharedIn>(*node_, node_->index(expected[k].from), inbox_,
                                             inbox_.lanes()[k], ring_));
}

void SharedLink::give_up() {
  for (const auto& edge : in_) edge->leave();
  for (const auto& edge : out_) edge->leave();
}

bool SharedLink::attach(const std::map<std::int32_t, SegmentName>& names) {
  for (const EdgeMessage& m : outgoing_) {
    const std::size_t index = node_->index(m.peer);
    const SegmentName& name = names.at(m.peer);
    if (name.bytes == 0) return false;
    if (!theirs_[index])
      theirs_[index] =
          Inbox::attach(name, ring_ ? Segment::Pages::when_touched : Segment::Pages::now);
    Lane& lane = theirs_[index].find(rank_, m.tag, m.bytes);
    if (ring_) theirs_[index].bring(lane);
    out_.push_back(std::make_unique<SharedOut>(*node_, index, theirs_[index], lane, ring_));
  }
  return true;
}

}  // namespace tonari
