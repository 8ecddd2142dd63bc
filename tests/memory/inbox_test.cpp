// SPDX-License-Identifier: BSD-3-Clause
// Inboxes: where lanes and cells lie, how senders find theirs, and that nothing is believed that a
// stranger may have written.
#include "memory/inbox.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>

#include "memory/process.hpp"
#include "support/errors.hpp"

namespace tonari {
namespace {

using test::error_of;

constexpr std::uint64_t sizes[] = {1,   7,   8,   9,   63,  64,  65,   119,  120,
                                   121, 127, 128, 129, 500, 512, 4000, 4096, 70'000};
constexpr Protocol protocols[] = {Protocol::canary, Protocol::mark, Protocol::pipelined,
                                  Protocol::single_copy};

std::vector<Expected> random_messages(std::mt19937& random, std::size_t count) {
  std::vector<Expected> expected;
  for (std::size_t k = 0; k < count; ++k) {
    const auto from = static_cast<std::int32_t>(random() % 5);
    expected.push_back({from, static_cast<std::int32_t>(k), sizes[random() % std::size(sizes)],
                        protocols[random() % 4], 1 + random() % 900});
  }
  return expected;
}

struct Region {
  const std::byte *begin, *end;
};

// What a cell occupies.
Region region_of(const Inbox& inbox, const Lane& lane, std::uint32_t k) {
  const std::byte* const at = inbox.cell(lane, k).payload();
  return {at, at + Cell::bytes_for(lane.payload)};
}

TEST(Inbox, CellsLieApartAlignedAndInside) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const std::vector<Expected> expected = random_messages(random, random() % 40);
    const Inbox inbox = Inbox::make(expected);
    ASSERT_EQ(inbox.lanes().size(), expected.size());
    std::vector<Region> regions;
    for (const Lane& lane : inbox.lanes())
      for (std::uint32_t k = 0; k < lane.cells; ++k) regions.push_back(region_of(inbox, lane, k));
    // cells follow the lanes
    const auto* next =
        reinterpret_cast<const std::byte*>(inbox.lanes().data() + inbox.lanes().size());
    for (const Region& region : regions) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region.begin) % 128, 0u);
      EXPECT_GE(region.begin, next);
      next = region.end;
    }
    if (inbox.lanes().empty()) continue;
    // the header is a cache line
    const auto* const last =
        reinterpret_cast<const std::byte*>(inbox.lanes().data()) - 64 + inbox.bytes();
    EXPECT_EQ(next, last) << "no byte more than the lanes need";
  }
}

TEST(Inbox, EveryMessageHasTheCellsOfItsProtocol) {
  const std::vector<Expected> expected{
      {0, 0, 500, Protocol::canary},           {1, 1, 5000, Protocol::mark},
      {2, 2, 5000, Protocol::pipelined, 1000}, {3, 3, 5001, Protocol::pipelined, 1000},
      {4, 4, 300, Protocol::pipelined, 1000},  {5, 5, 1 << 20, Protocol::single_copy}};
  const Inbox inbox = Inbox::make(expected);
  const std::uint32_t cells[] = {2, 2, 4, 4, 4, 1};
  const std::uint64_t parts[] = {1, 1, 5, 6, 1, 1};
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const Lane& lane = inbox.lanes()[k];
    EXPECT_EQ(lane.cells, cells[k]) << k;
    EXPECT_EQ(lane.parts(), parts[k]) << k;
    EXPECT_LE(lane.payload, 5000u) << "a single copy needs room for addresses only";
    for (std::uint32_t c = 0; c < lane.cells; ++c) {
      EXPECT_TRUE(inbox.cell(lane, c).free());
      EXPECT_FALSE(inbox.cell(lane, c).full());
    }
  }
}

TEST(Inbox, SendersFindTheirMessages) {
  std::mt19937 random(2);
  const std::vector<Expected> expected = random_messages(random, 60);
  const Inbox receiver = Inbox::make(expected), sender = Inbox::attach(receiver.name());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const Expected& e = expected[k];
    Lane& lane = sender.find(e.from, e.tag, e.bytes);
    EXPECT_EQ(&lane - sender.lanes().data(), static_cast<std::ptrdiff_t>(k));
    EXPECT_EQ(lane.protocol, e.protocol);
    const Cell here = receiver.cell(receiver.lanes()[k], lane.cells - 1),
               there = sender.cell(lane, lane.cells - 1);
    if (e.protocol == Protocol::canary)
      there.publish(k);
    else
      std::memset(there.payload(), static_cast<int>(k), 1), there.publish();
    EXPECT_TRUE(here.full());
    const std::byte* const read =
        e.protocol == Protocol::canary ? here.payload() + (e.bytes - 1) / 8 * 8 : here.payload();
    EXPECT_EQ(read[0], static_cast<std::byte>(k));
    here.release();
    EXPECT_TRUE(there.free());
  }
}

TEST(Inbox, TwoEndsThatPlannedDifferentlyLearnIt) {
  const Inbox inbox = Inbox::make(std::vector<Expected>{
      {3, 0, 100, Protocol::canary}, {3, 1, 200, Protocol::canary}, {4, 0, 300, Protocol::canary}});
  EXPECT_EQ(inbox.find(3, 1, 200).tag, 1);
  const Error length = error_of([&] { inbox.find(3, 1, 201); });
  EXPECT_EQ(length.code(), Errc::mismatch);
  for (const char* part : {"rank 3", "201", "200"})
    EXPECT_NE(std::string(length.what()).find(part), std::string::npos) << length.what();
  for (const auto& [from, tag] : {std::pair{4, 1}, {2, 0}, {-1, 0}}) {
    const Error unknown = error_of([&, from = from, tag = tag] { inbox.find(from, tag, 100); });
    EXPECT_EQ(unknown.code(), Errc::mismatch) << from << ' ' << tag;
    EXPECT_NE(std::string(unknown.what()).find("does not expect"), std::string::npos)
        << unknown.what();
  }
  EXPECT_EQ(error_of([] { Inbox().find(0, 0, 1); }).code(), Errc::mismatch);
}

TEST(Inbox, OfSizesThatNoMemoryHasIsAnError) {
  for (const std::uint64_t bytes :
       {std::uint64_t{1} << 46, std::uint64_t{1} << 62, ~std::uint64_t{0} - 100}) {
    const Error error = error_of([&] {
      Inbox::make(
          std::vector<Expected>{{0, 0, bytes, Protocol::mark}, {0, 1, bytes, Protocol::mark}});
    });
    EXPECT_TRUE(error.code() == Errc::memory || error.code() == Errc::overflow)
        << bytes << ": " << error.what();
  }
}

// ---- what a stranger may have written

void expect_nonsense(const SegmentName& name) {
  const Error error = error_of([&] { Inbox::attach(name); });
  EXPECT_EQ(error.code(), Errc::memory) << error.what();
  EXPECT_NE(std::string(error.what()).find("does not hold"), std::string::npos) << error.what();
}

TEST(InboxOfAStranger, WithoutAnInboxInItIsRefused) {
  for (std::size_t bytes : {0, 1, 8, 15, 16, 63, 64, 65, 1000, 100'000}) {
    SCOPED_TRACE(bytes);
    const Segment segment = Segment::create(bytes);
    expect_nonsense(segment.name());
    std::memset(segment.data(), 0xFF, bytes);
    expect_nonsense(segment.name());
  }
}

// Spoils the lane of a message, or the header before it.
void expect_refused(const Expected& expected, const std::function<void(Lane&)>& spoil) {
  const Inbox inbox = Inbox::make(std::vector<Expected>{expected, expected});
  EXPECT_TRUE(Inbox::attach(inbox.name()));
  spoil(inbox.lanes()[1]);
  expect_nonsense(inbox.name());
}

TEST(InboxOfAStranger, WithMoreLanesThanRoomIsRefused) {
  for (const std::uint64_t lanes :
       {std::uint64_t{100}, std::uint64_t{1} << 32, std::uint64_t{1} << 58, ~std::uint64_t{0}})
    expect_refused({0, 0, 64, Protocol::mark}, [&](Lane& lane) {
      std::memcpy(reinterpret_cast<std::byte*>(&lane - 1) - 64 + 8, &lanes, 8);
    });
}

TEST(InboxOfAStranger, WhoseCellsLieElsewhereIsRefused) {
  for (const Protocol protocol : protocols) {
    const Expected e{0, 0, 3000, protocol, 1000};
    for (const std::uint64_t at :
         {std::uint64_t{1}, std::uint64_t{64}, std::uint64_t{1} << 20, std::uint64_t{1} << 40,
          std::uint64_t{1} << 63, ~std::uint64_t{127}})
      expect_refused(e, [&](Lane& lane) { lane.at = at; });
    for (const std::uint64_t payload :
         {std::uint64_t{0}, std::uint64_t{1} << 20, std::uint64_t{1} << 63, ~std::uint64_t{0}})
      expect_refused(e, [&](Lane& lane) { lane.payload = payload; });
  }
}

// Cells of its protocol, that hold what the protocol puts there: else the sender would write past
// them.
TEST(InboxOfAStranger, WhoseCellsAreTooFewOrTooSmallIsRefused) {
  for (const Protocol protocol : protocols) {
    const Expected e{0, 0, 3000, protocol, 1000};
    for (const std::uint32_t cells : {0u, 5u, 1u << 31, ~0u})
      expect_refused(e, [&](Lane& lane) { lane.cells = cells; });
    if (protocol == Protocol::canary) expect_refused(e, [&](Lane& lane) { lane.cells = 1; });
    if (protocol != Protocol::pipelined) expect_refused(e, [&](Lane& lane) { lane.payload -= 8; });
    expect_refused(e, [&](Lane& lane) { lane.protocol = static_cast<Protocol>(4); });
    expect_refused(e, [&](Lane& lane) { lane.protocol = static_cast<Protocol>(~0u); });
  }
  expect_refused({0, 0, 1000, Protocol::canary}, [](Lane& lane) { lane.bytes = 5000; });
}

TEST(Inbox, PartsGoRoundAsManyCellsAsTheReceiverWants) {
  std::size_t before = 0;
  for (const std::uint32_t cells : {1u, 2u, 4u}) {
    const Expected e{0, 0, 3000, Protocol::pipelined, 1000, cells};
    const Inbox inbox = Inbox::make(std::vector<Expected>{e}),
                sender = Inbox::attach(inbox.name(), Segment::Pages::when_touched);
    Lane& lane = sender.find(0, 0, 3000);
    EXPECT_EQ(lane.cells, cells);
    EXPECT_EQ(lane.parts(), 3u);
    EXPECT_GT(inbox.bytes(), before);
    before = inbox.bytes();
    sender.bring(lane);
    for (std::uint32_t k = 0; k < cells; ++k) {
      std::memset(sender.cell(lane, k).payload(), static_cast<int>(k + 1), 1000);
      sender.cell(lane, k).publish();
    }
    for (std::uint32_t k = 0; k < cells; ++k) {
      const Cell cell = inbox.cell(inbox.lanes()[0], k);
      EXPECT_TRUE(cell.full());
      EXPECT_TRUE(std::all_of(cell.payload(), cell.payload() + 1000,
                              [k](std::byte b) { return b == static_cast<std::byte>(k + 1); }));
    }
  }
}

TEST(InboxOfAStranger, IsRefusedOrHarmlessWhateverBytesItHolds) {
  std::mt19937 random(3);
  int taken = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::vector<Expected> expected = random_messages(random, 1 + random() % 6);
    const Inbox inbox = Inbox::make(expected);
    auto* const lanes = reinterpret_cast<std::byte*>(inbox.lanes().data());
    for (int n = 0; n < 3; ++n)
      lanes[random() % (inbox.lanes().size() * sizeof(Lane))] = static_cast<std::byte>(random());
    try {
      const Inbox found = Inbox::attach(inbox.name());
      ++taken;
      for (const Lane& lane : found.lanes())
        for (std::uint32_t k = 0; k < lane.cells; ++k) {
          const Cell cell = found.cell(lane, k);
          if (lane.protocol != Protocol::pipelined && lane.protocol != Protocol::single_copy)
            std::memset(cell.payload(), 1, lane.bytes);
          cell.publish();
        }
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::memory);
    }
  }
  EXPECT_GT(taken, 100) << "who sends and by which number may be anything";
}

}  // namespace
}  // namespace tonari
