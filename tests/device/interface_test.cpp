// SPDX-License-Identifier: BSD-3-Clause
// What every kind of device does alike.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "device/any_device.hpp"
#include "memory/child.hpp"
#include "packing/aliased_memory.hpp"
#include "packing/offers_by_line.hpp"
#include "packing/packed_exchange.hpp"
#include "packing/pinned_copy.hpp"
#include "support/errors.hpp"

namespace tonari::test {
namespace {

void expect_mistake(auto work, const std::string& sentence) {
  expect_sentence(error_of(work), Errc::argument, {sentence});
}

Content bytes(std::size_t count, int value) {
  return Content(count, static_cast<std::byte>(value));
}

// ---- memory

TEST_P(AnyDevice, TellsWhatAnAddressIs) {
  const auto p = program();
  std::byte* const own = p->allocate(1000);
  const MemoryAt at = p->device.memory_at(own + 999);
  EXPECT_EQ(at.kind, MemoryKind::device);
  EXPECT_EQ(at.device, 0);
  EXPECT_EQ(at.base, own);
  EXPECT_GE(at.bytes, 1000u);
  EXPECT_EQ(at.not_exported, "");
  std::byte* const managed = p->allocate(1000, MemoryKind::managed);
  EXPECT_EQ(p->device.memory_at(managed + 3).kind, MemoryKind::managed);
  EXPECT_EQ(p->device.memory_at(managed + 3).base, managed);
  std::byte* const pinned = p->allocate(1000, MemoryKind::pinned);
  EXPECT_EQ(p->device.memory_at(pinned + 3).kind, MemoryKind::pinned);
  EXPECT_EQ(p->device.memory_at(pinned + 3).device, -1);
  for (const void* const host : {static_cast<const void*>(&at), static_cast<const void*>(nullptr)})
    EXPECT_EQ(p->device.memory_at(host).kind, MemoryKind::host);
}

TEST_P(AnyDevice, CopiesBetweenAllKindsOfMemory) {
  const auto p = program();
  constexpr std::size_t size = 3000;
  const MemoryKind kinds[] = {MemoryKind::device, MemoryKind::pinned, MemoryKind::managed};
  unsigned salt = 0;
  for (const MemoryKind from : kinds)
    for (const MemoryKind to : kinds) {
      const Content content = pattern(size, ++salt);
      std::byte* const source = p->allocate(size, from);
      std::byte* const target = p->allocate(size, to);
      p->write(source, content);
      p->device.copy(p->first, target + 1, source, size - 1);
      p->device.synchronize(p->first);
      const Content got = p->read(target + 1, size - 1);
      EXPECT_TRUE(std::equal(got.begin(), got.end(), content.begin())) << salt;
    }
}

TEST_P(AnyDevice, RefusesMistakesWithMemory) {
  const auto p = program();
  Device& device = p->device;
  std::byte* const own = p->allocate(64);
  std::byte here[8];
  expect_mistake([&] { device.free(own + 1); }, "byte 1 of an allocation cannot be freed");
  expect_mistake([&] { device.free(here); }, "memory that no device allocated");
  expect_mistake([&] { device.copy(p->first, own, here, 8); }, "memory that no device allocated");
  expect_mistake([&] { device.copy(p->first, here, own, 8); }, "memory that no device allocated");
  const MemoryAt at = device.memory_at(own);
  expect_mistake([&] { device.copy(p->first, own, own + at.bytes - 8, 64); },
                 "are outside of an allocation of a device");
  expect_mistake([&] { device.allocate(MemoryKind::device, 99, 8); }, "there is no device 99");
  expect_mistake([&] { device.allocate(MemoryKind::device, 0, 0); }, "at least one byte");
  expect_mistake([&] { device.allocate(MemoryKind::host, 0, 8); }, "not allocated by a device");
  std::byte* const other = device.allocate(MemoryKind::device, 0, 64);
  device.free(other);
  expect_mistake([&] { device.free(other); }, "cannot be freed");
}

TEST_P(AnyDevice, SaysHowMuchMemoryIsLeft) {
  const auto p = program();
  const Bytes too_much = Bytes{1} << 50;
  expect_sentence(error_of([&] { p->device.allocate(MemoryKind::device, 0, too_much); }),
                  Errc::memory, {"device 0 has ", " bytes left, and ", " are needed"});
  p->write(p->allocate(8), bytes(8, 1));  // it goes on
}

// ---- streams

TEST_P(AnyDevice, KeepsTheOrderOfAStream) {
  const auto p = program();
  std::byte* const own = p->allocate(64);
  for (int value = 1; value < 5; ++value) p->put(p->second, own, bytes(64, value));
  p->device.synchronize(p->second);
  EXPECT_EQ(p->read(own, 64), bytes(64, 4));
  EXPECT_EQ(p->device.device_of(p->second), 0);
  EXPECT_FALSE(p->device.captures(p->second));
}

TEST_P(AnyDevice, OrdersStreamsByEvents) {
  const auto p = program();
  std::byte* const own = p->allocate(64);
  p->hold_back(p->first);
  p->put(p->first, own, bytes(64, 1));
  p->device.record(p->first, p->event);
  p->device.wait_event(p->second, p->event);
  p->put(p->second, own, bytes(64, 2));
  EXPECT_FALSE(p->device.query(p->event));
  p->let_run();
  EXPECT_TRUE(p->device.query(p->event));
  p->device.synchronize(p->event);
  EXPECT_EQ(p->read(own, 64), bytes(64, 2));
}

TEST_P(AnyDevice, EndsAnEventOnce) {
  const auto p = program();
  const DeviceEvent event = p->device.make_event(0);
  p->device.record(p->first, event);
  p->device.synchronize(event);
  p->device.end_event(event);
  expect_mistake([&] { p->device.end_event(event); }, "an event that was ended, or never made");
}

TEST_P(AnyDevice, OrdersStreamsByFlags) {
  const auto p = program();
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::pinned}) {
    std::byte* const own = p->allocate(64);
    std::uint64_t* const flags[] = {p->word(3, kind), p->word(3, kind)};
    const FlagValue less[] = {{flags[1], 4}, {flags[0], 3}},
                    both[] = {{flags[0], 4}, {flags[1], 5}};
    p->device.wait_flags(p->second, less);
    p->device.copy(p->second, own + 8, own, 8);
    p->hold_back(p->first);
    p->put(p->first, own, bytes(8, 7));
    p->device.write_flags(p->first, both);
    p->let_run();
    EXPECT_EQ(p->read(own + 8, 8), bytes(8, 7));
    std::uint64_t value = 0;
    std::memcpy(&value, p->read(reinterpret_cast<std::byte*>(flags[1]), 8).data(), 8);
    EXPECT_EQ(value, 5u);
  }
}

TEST_P(AnyDevice, TakesLongListsOfFlags) {
  const auto p = program();
  constexpr std::size_t count = 600;  // more than a batch of any driver
  auto* const words = reinterpret_cast<std::uint64_t*>(p->allocate(8 * count));
  p->write(reinterpret_cast<std::byte*>(words), bytes(8 * count, 0));
  std::vector<FlagValue> flags;
  for (std::size_t k = 0; k < count; ++k) flags.push_back({words + k, k + 1});
  p->device.write_flags(p->first, flags);
  p->device.wait_flags(p->second, flags);
  p->device.synchronize(p->second);
  const Content got = p->read(reinterpret_cast<std::byte*>(words), 8 * count);
  for (std::size_t k = 0; k < count; ++k) {
    std::uint64_t value = 0;
    std::memcpy(&value, got.data() + 8 * k, 8);
    ASSERT_EQ(value, k + 1);
  }
}

TEST_P(AnyDevice, LetsFlagsBeginAgainAtZero) {
  const auto p = program();
  std::uint64_t* const flag = p->word(~std::uint64_t{0}, MemoryKind::pinned);
  const FlagValue next{flag, 2};
  p->device.wait_flags(p->second, {&next, 1});
  p->device.record(p->second, p->event);
  EXPECT_FALSE(p->device.query(p->event));
  p->device.write_flags(p->first, {&next, 1});
  p->device.synchronize(p->second);
  const FlagValue last{flag, ~std::uint64_t{0}};  // before 2
  p->device.wait_flags(p->second, {&last, 1});
  p->device.synchronize(p->second);
}

TEST_P(AnyDevice, RefusesMistakesWithFlags) {
  const auto p = program();
  const auto refused = [&](std::byte* at, const std::string& sentence) {
    const FlagValue flag{reinterpret_cast<std::uint64_t*>(at), 1};
    for (const auto set : {&Device::write_flags, &Device::wait_flags})
      expect_mistake([&] { (p->device.*set)(p->first, {&flag, 1}); }, sentence);
  };
  std::byte* const own = p->allocate(64);
  refused(own + 4, "a flag at byte 4 of an allocation is not aligned");
  refused(p->allocate(8, MemoryKind::managed), "cannot be in managed memory");
  alignas(8) std::byte here[8];
  refused(here, "memory that no device allocated");
  p->device.write_flags(p->first, {});  // does nothing
}

TEST_P(AnyDevice, KnowsStreamsOfOtherDevices) {
  const auto p = program(2);
  if (!p) GTEST_SKIP() << "there is no second device";
  const DeviceStream other = p->held.stream(1);
  EXPECT_EQ(p->device.device_of(other), 1);
  std::byte* const own = p->allocate(64);
  const Move move{own, own + 32, 8, 1, 0, 0};
  const DeviceTable table = p->held.table(0, {&move, 1});
  expect_mistake([&] { p->device.move(other, table); },
                 "a table of device 0 in a stream of device 1");
  if (!p->device.ability(Ability::peer_access)) return;
  std::byte* const there = p->allocate(64, MemoryKind::device, 1);
  p->write(own, bytes(64, 9));
  p->device.copy(other, there, own, 64);
  p->device.synchronize(other);
  EXPECT_EQ(p->read(there, 64), bytes(64, 9));
}

// ---- tables

TEST_P(AnyDevice, MovesAllPiecesOfATable) {
  const auto p = program();
  const Content content = pattern(256, 5);
  std::byte* const own = p->allocate(256);
  p->write(own, content);
  const Move moves[] = {{own + 128, own, 8, 4, 8, 16},       // every second word
                        {own + 184, own + 8, 8, 4, -8, 16},  // the others, backwards
                        {own + 192, own, 0, 3, 8, 8},
                        {own + 193, own + 65, 13, 2, 20, 17}};  // nothing is aligned
  Content expected = content;
  std::byte* const model = expected.data();
  const auto shifted = [&](Move move) {
    move.to = model + (move.to - own);
    move.from = model + (move.from - own);
    return move;
  };
  for (const Move& move : moves) run_moves(std::vector{shifted(move)});
  p->device.move(p->first, p->held.table(0, moves));
  EXPECT_EQ(p->read(own, 256), expected);
}

// Against the host's own: pieces of all lengths, strides and alignments, also longer ones than what
// a block of threads takes, and none that another one touches.
TEST_P(AnyDevice, MovesWhatTheHostMoves) {
  const auto p = program();
  std::mt19937 random(20'58);
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  constexpr std::size_t size = 300'000;
  for (unsigned round = 0; round < 8; ++round) {
    const Content from = pattern(size, round), before = pattern(size, round + 50);
    std::byte* const source = p->allocate(size);
    std::byte* const target = p->allocate(size);
    p->write(source, from);
    p->write(target, before);
    Content expected = before;
    std::vector<Move> moves, on_host;
    for (std::size_t at = below(40); at < size - 60'000;) {
      const std::size_t unit = std::size_t{1} << below(6);
      const std::size_t length =
          (1 + below(below(4) == 0 ? 2000 : 40)) * std::min<std::size_t>(unit, 16);
      const std::size_t count = 1 + below(std::min<std::size_t>(30, 40'000 / length));
      const auto step =
          static_cast<std::ptrdiff_t>(length + (below(2) ? unit * below(3) : below(9)));
      const auto apart = static_cast<std::ptrdiff_t>(below(3) ? step : length);
      const bool backwards = below(4) == 0;
      const std::size_t span = (count - 1) * static_cast<std::size_t>(step) + length;
      const std::size_t read = (count - 1) * static_cast<std::size_t>(apart) + length;
      if (at + span > size) break;
      at = (at + unit - 1) / unit * unit;
      const std::size_t source_at = below(size - read) / unit * unit;
      const std::size_t target_at = backwards ? at + span - length : at;
      const Move move{
          target + target_at, source + source_at, length, count, backwards ? -step : step, apart};
      if (at + span > size) break;
      moves.push_back(move);
      on_host.push_back({expected.data() + target_at, from.data() + source_at, length, count,
                         move.to_stride, move.from_stride});
      at += span + below(20);
    }
    ASSERT_GT(moves.size(), 10u);
    run_moves(on_host);
    p->device.move(p->second, p->held.table(0, moves));
    p->device.synchronize(p->second);
    EXPECT_EQ(p->read(target, size), expected) << "round " << round;
  }
}

TEST_P(AnyDevice, RefusesMistakesWithTables) {
  const auto p = program();
  std::byte* const own = p->allocate(64);
  std::byte here[64];
  const auto refused = [&](const Move& move, const std::string& sentence) {
    expect_mistake([&] { p->device.make_table(0, {&move, 1}); }, sentence);
  };
  refused({own, here, 8, 1, 0, 0}, "memory that no device allocated");
  refused({here, own, 8, 1, 0, 0}, "memory that no device allocated");
  const auto bytes = static_cast<std::ptrdiff_t>(p->device.memory_at(own).bytes);
  refused({own, own + 16, 8, 2, 8, bytes}, "outside of");
  const Move move{own, own + 32, 8, 1, 0, 0};
  const DeviceTable table = p->device.make_table(0, {&move, 1});
  p->device.free_table(table);
  expect_mistake([&] { p->device.move(p->first, table); }, "a table that was freed");
  expect_mistake([&] { p->device.free_table(table); }, "a table that was freed");
  p->device.move(p->first, p->held.table(0, {}));  // nothing
}

// ---- regions

TEST_P(AnyDevice, ShowsARegionAtSeveralAddresses) {
  const auto p = program();
  if (const Capability has = p->device.ability(Ability::mapped_memory); !has)
    GTEST_SKIP() << has.why_not;
  Device& device = p->device;
  const Bytes unit = device.granularity(0);
  const DeviceRegion a = device.make_region(0, unit), b = device.make_region(0, 2 * unit);
  std::byte* const ab = device.map_regions(std::vector{a, b});
  std::byte* const ba = device.map_regions(std::vector{b, a});
  EXPECT_EQ(device.memory_at(ba + 5).bytes, 3 * unit);
  EXPECT_EQ(device.memory_at(ba + 5).base, ba);
  EXPECT_NE(device.memory_at(ba).not_exported, "");
  device.free_region(a);
  device.free_region(b);
  const Content content = pattern(200, 3);
  p->write(ab + 3 * unit - 200, content);  // the end of b
  EXPECT_EQ(p->read(ba + 2 * unit - 200, 200), content);
  p->write(ba + 2 * unit - 100, content);  // across the border
  EXPECT_EQ(p->read(ab, 100), Content(content.begin() + 100, content.end()));
  expect_mistake([&] { device.free_region(a); }, "was freed before");
  expect_mistake([&] { device.map_regions({&a, 1}); }, "was freed");
  expect_mistake([&] { device.map_regions({}); }, "at least one region");
  expect_mistake([&] { device.make_region(0, unit / 2); }, "no multiple of the granularity");
  device.free(ab);
  device.free(ba);
  expect_mistake([&] { device.free(ba); }, "cannot be freed");
}

// Two parts of the beginning come again at the end, in another order, and one of them in parts.
TEST_P(AnyDevice, ShowsPartsOfMemoryAgain) {
  const auto p = program();
  if (const Capability has = p->device.ability(Ability::mapped_memory); !has)
    GTEST_SKIP() << has.why_not;
  const Bytes unit = p->device.granularity(0);
  const auto make = [&](Bytes units, std::vector<Alias> aliases) {
    for (auto& [at, of, length] : aliases) at *= unit, of *= unit, length *= unit;
    return std::make_unique<AliasedMemory>(p->device, 0, units * unit, std::move(aliases));
  };
  const auto memory = make(8, {{6, 1, 1}, {4, 0, 2}});
  EXPECT_EQ(memory->bytes(), 8 * unit);
  EXPECT_EQ(memory->physical(), 5 * unit);
  const auto written_is_seen = [&](Bytes at, Bytes seen, unsigned salt) {
    const Content content = pattern(100, salt);
    p->write(memory->base() + at * unit, content);
    EXPECT_EQ(p->read(memory->base() + seen * unit, 100), content) << at << " at " << seen;
  };
  written_is_seen(0, 4, 1), written_is_seen(1, 5, 2), written_is_seen(1, 6, 3);
  written_is_seen(5, 6, 4), written_is_seen(6, 1, 5);
  for (const Bytes other : {2u, 3u, 7u}) p->write(memory->base() + other * unit, bytes(100, 9));
  EXPECT_EQ(p->read(memory->base() + unit, 100), pattern(100, 5));
  EXPECT_EQ(p->read(memory->base() + 7 * unit, 100), bytes(100, 9));

  expect_mistake([&] { make(4, {{2, 3, 2}}); }, "does not lie within");
  expect_mistake([&] { make(4, {{2, 0, 1}, {2, 1, 1}}); }, "two aliases have the byte");
  expect_mistake([&] { make(4, {{2, 0, 1}, {3, 2, 1}}); }, "which are an alias, too");
  expect_mistake([&] { AliasedMemory(p->device, 0, unit + 1, {}); }, "round it up");
}

// ---- handles

TEST_P(AnyDevice, TakesHandlesOfItsOwnProcess) {
  const auto p = program();
  std::byte* const own = p->allocate(256);
  std::byte* const again = p->device.import_memory(p->device.export_memory(own + 17));
  p->write(again, pattern(256, 8));
  EXPECT_EQ(p->read(own, 256), pattern(256, 8));
  p->device.free(again);
  p->write(own, pattern(256, 9));
}

TEST_P(AnyDevice, RefusesMistakesWithHandles) {
  const auto p = program();
  std::byte* const own = p->device.allocate(MemoryKind::device, 0, 256);
  MemoryHandle handle = p->device.export_memory(own);
  EXPECT_EQ(handle.bytes, p->device.memory_at(own).bytes);
  int here = 0;
  expect_mistake([&] { p->device.export_memory(reinterpret_cast<const std::byte*>(&here)); },
                 "memory of the host has no handle");
  p->device.free(own);
  expect_mistake([&] { p->device.import_memory(handle); }, "memory of this process that was freed");
  handle.kind = 0;
  expect_mistake([&] { p->device.import_memory(handle); }, "was not made by a");
}

// A region has a handle, too, where it is shown alone.
TEST_P(AnyDevice, GivesHandlesToOtherProcesses) {
  const DeviceKind kind = GetParam();
  Child child([kind](Line& line) {
    ProgramOnDevice p(kind.make(1));
    for (unsigned salt = 1; salt < 3; ++salt) {
      std::byte* const theirs = p.device.import_memory(line.hear<MemoryHandle>());
      EXPECT_EQ(p.device.memory_at(theirs + 1).kind, MemoryKind::device);
      EXPECT_EQ(p.device.memory_at(theirs + 1).base, theirs);
      EXPECT_NE(p.device.memory_at(theirs).not_exported, "");
      EXPECT_EQ(p.read(theirs, 4000), pattern(4000, salt));
      p.write(theirs + 4, bytes(4, 1));
      p.device.free(theirs);
      line.tell('w');
      if (line.hear() == 'e') break;
    }
  });
  ProgramOnDevice p(kind.make(1));
  std::byte* const own = p.allocate(4000);
  const bool mapped =
      p.device.ability(Ability::mapped_memory) && kind.name != std::string("simulated");
  std::byte* region = nullptr;
  if (mapped) {
    const DeviceRegion made = p.device.make_region(0, p.device.granularity(0));
    region = p.device.map_regions({&made, 1});
    p.device.free_region(made);
  }
  unsigned salt = 0;
  for (std::byte* const memory : {own, region}) {
    if (!memory) continue;
    Content content = pattern(4000, ++salt);
    p.write(memory, content);
    child.line().tell(p.device.export_memory(memory + 17));
    child.line().hear();
    std::fill_n(content.begin() + 4, 4, std::byte{1});
    EXPECT_EQ(p.read(memory, 4000), content);
    child.line().tell(memory == own && mapped ? 'n' : 'e');
  }
  child.finish();
  if (region) p.device.free(region);
}

}  // namespace
}  // namespace tonari::test
