// SPDX-License-Identifier: BSD-3-Clause
#include "memory/inbox.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "memory/process.hpp"

namespace tonari {
namespace {

constexpr std::uint64_t version = 0x746F'6E61'7269'0001;  // "tonari", 1

struct Header {
  std::uint64_t version, lanes;
};

constexpr std::size_t lanes_at = round_up(sizeof(Header));
constexpr std::size_t pieces_payload = sizeof(std::uint64_t) + most_pieces * sizeof(Piece);

Lane lane_for(const Expected& e) {
  Lane lane{e.from, e.tag, e.bytes, e.protocol, 2, e.bytes, 0, 0, 0};
  if (e.protocol == Protocol::pipelined)
    lane.payload = std::min(e.chunk, e.bytes), lane.cells = e.cells;
  if (e.protocol == Protocol::single_copy) lane.payload = pieces_payload, lane.cells = 1;
  return lane;
}

std::size_t cells_begin(std::size_t lanes) {
  return round_up(checked_add<std::size_t>(lanes_at, lanes * sizeof(Lane), "an inbox"),
                  Cell::alignment);
}

std::size_t cell_bytes(const Lane& lane) { return Cell::bytes_for(lane.payload); }

// Gives every lane its cells, and returns where they end.
std::size_t lay_out(std::span<Lane> lanes) {
  std::size_t at = cells_begin(lanes.size());
  for (Lane& lane : lanes) {
    lane.at = at;
    at = checked_add<std::size_t>(
        at, checked_multiply<std::size_t>(cell_bytes(lane), lane.cells, "an inbox"), "an inbox");
  }
  return at;
}

std::vector<Lane> lanes_for(std::span<const Expected> expected) {
  std::vector<Lane> lanes;
  for (const Expected& e : expected) {
    checked_add<std::size_t>(e.bytes, 4 * Cell::alignment, "an inbox");  // rounding adds this
    lanes.push_back(lane_for(e));
  }
  return lanes;
}

// A lane's cells must lie inside the segment and suit its protocol, so that no rank writes past
// them.
bool sensible(const Lane& lane, std::size_t bytes) {
  if (lane.protocol > Protocol::single_copy || lane.payload == 0 || lane.payload > bytes)
    return false;
  if (lane.cells == 0 || lane.cells > Lane::pipeline_cells) return false;
  const Lane own =
      lane_for({lane.from, lane.tag, lane.bytes, lane.protocol, lane.payload, lane.cells});
  if (lane.cells != own.cells || lane.payload != own.payload) return false;
  if (lane.at % Cell::alignment != 0 || lane.at > bytes) return false;
  return cell_bytes(lane) * lane.cells <= bytes - lane.at;
}

}  // namespace

Inbox Inbox::make(std::span<const Expected> expected) {
  std::vector<Lane> lanes = lanes_for(expected);
  Inbox inbox;
  inbox.segment_ = Segment::create(lay_out(lanes));
  *reinterpret_cast<Header*>(inbox.segment_.data()) = {version, lanes.size()};
  std::copy(lanes.begin(), lanes.end(), reinterpret_cast<Lane*>(inbox.segment_.data() + lanes_at));
  for (const Lane& lane : inbox.lanes())
    for (std::uint32_t k = 0; k < lane.cells; ++k) inbox.cell(lane, k).clear();
  return inbox;
}

Inbox Inbox::attach(const SegmentName& name, Segment::Pages pages) {
  Inbox inbox;
  inbox.segment_ = Segment::attach(name, pages);
  if (pages == Segment::Pages::when_touched) inbox.segment_.bring(0, sizeof(Header));
  const std::size_t bytes = inbox.segment_.bytes();
  const auto nonsense = [] {
    fail(Errc::memory,
         "a shared segment of another rank does not hold what this version of tonari puts there");
  };
  if (bytes < lanes_at) nonsense();
  const Header header = *reinterpret_cast<const Header*>(inbox.segment_.data());
  if (header.version != version || header.lanes > (bytes - lanes_at) / sizeof(Lane)) nonsense();
  const std::span<const Lane> lanes = inbox.lanes();
  if (!std::all_of(lanes.begin(), lanes.end(),
                   [bytes](const Lane& lane) { return sensible(lane, bytes); }))
    nonsense();
  return inbox;
}

std::span<Lane> Inbox::lanes() const {
  if (!segment_) return {};
  return {reinterpret_cast<Lane*>(segment_.data() + lanes_at),
          reinterpret_cast<const Header*>(segment_.data())->lanes};
}

Lane& Inbox::find(std::int32_t from, std::int32_t tag, std::uint64_t bytes) const {
  for (Lane& lane : lanes())
    if (lane.from == from && lane.tag == tag) {
      if (lane.bytes != bytes)
        fail(Errc::mismatch, "rank ", from, " sends a message of ", bytes,
             " bytes where its receiver expects ", lane.bytes,
             "; blocks must have one size at both ends");
      return lane;
    }
  fail(Errc::mismatch, "rank ", from, " sends a message (tag ", tag,
       ") that its receiver does not expect");
}

void Inbox::bring(const Lane& lane) const {
  segment_.bring(lane.at, cell_bytes(lane) * lane.cells);
}

Cell Inbox::cell(const Lane& lane, std::uint64_t k) const {
  return {segment_.data() + lane.at + cell_bytes(lane) * k, lane.payload,
          lane.protocol == Protocol::canary};
}

}  // namespace tonari
