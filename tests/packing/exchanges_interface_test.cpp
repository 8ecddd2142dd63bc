// SPDX-License-Identifier: BSD-3-Clause
// Exchanges and copies of blocks, on every kind of device alike.
#include <gtest/gtest.h>

#include <algorithm>

#include "device/any_device.hpp"
#include "memory/child.hpp"
#include "packing/offers_by_line.hpp"
#include "packing/packed_exchange.hpp"
#include "packing/pinned_copy.hpp"

namespace tonari::test {
namespace {

PackedMessage message(std::int32_t peer, std::byte* memory, std::ptrdiff_t at) {
  PackedMessage message{peer, 3, memory, {}};
  for (int k = 0; k < 4; ++k) message.layout.add(at + 24 * k, 8 + k % 2);
  return message;
}

TEST_P(AnyDevice, CarriesAnExchangeBehindASlowProducer) {
  const auto p = program();
  std::byte* const own = p->allocate(256);
  p->write(own, pattern(256, 1));
  PackedExchange exchange(p->device, 0, 0, {message(0, own, 128)}, {message(0, own, 0)});
  exchange.connect({});
  for (unsigned salt = 2; salt < 6; ++salt) {
    p->hold_back(p->first);
    p->put(p->first, own, pattern(128, salt));
    exchange.start_on(p->first);
    exchange.wait_on(p->second);
    p->let_run();
    const Content got = p->read(own, 256);
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t b = 0; b < 8 + k % 2; ++b)
        ASSERT_EQ(got[128 + 24 * k + b], pattern(128, salt)[24 * k + b]);
  }
  exchange.finish([] {});
}

// Blocks of which one is spread, to the host and back to other places.
TEST_P(AnyDevice, StagesBlocksThroughPinnedMemory) {
  const auto p = program();
  Layout spread;
  spread.add(tonari::Run{0, 3, 8, 4});
  std::byte* const own = p->allocate(256);
  p->write(own, pattern(256, 7));
  const auto devices =
      std::make_shared<PresentDevice>(std::shared_ptr<Device>(&p->device, [](Device*) {}));
  PinnedCopy out(devices, 0, {{own + 64, nullptr, 5}, {own, &spread, 12}},
                 PinnedCopy::Way::to_host);
  PinnedCopy in(devices, 0, {{own + 100, nullptr, 17, 0, 1}}, PinnedCopy::Way::to_device);
  for (const std::ptrdiff_t shift : {0, 128, 0}) {
    in.move_to(std::array<std::ptrdiff_t, 2>{0, shift});
    p->hold_back(p->first);
    const Content sent = pattern(128, 20 + static_cast<unsigned>(shift));
    p->put(p->first, own, sent);
    out.put_on(p->first);
    EXPECT_FALSE(out.complete());
    p->let_run();
    out.wait();
    for (std::ptrdiff_t k = 0; k < 17; ++k)
      EXPECT_EQ(out.host()[k],
                sent[static_cast<std::size_t>(k < 5 ? 64 + k : 8 * ((k - 5) / 3) + (k - 5) % 3)]);
    std::memcpy(in.host(), out.host(), 17);
    in.put_on(p->second);
    in.order_behind(p->first);
    const Content got = p->read(own + 100 + shift, 17);
    EXPECT_TRUE(std::equal(got.begin(), got.end(), out.host()));
  }
}

// Every third byte to two places of a device, each in a space that moves by itself.
TEST_P(AnyDevice, CopiesBetweenSpacesThatMove) {
  const auto p = program();
  Layout spread;
  spread.add(tonari::Run{0, 1, 3, 4});
  std::byte* const own = p->allocate(256);
  p->write(own, pattern(256, 9));
  const auto devices =
      std::make_shared<PresentDevice>(std::shared_ptr<Device>(&p->device, [](Device*) {}));
  const auto placed = [](const std::byte* at, const Layout& layout, std::size_t space) {
    tonari::PlacedBytes bytes{{}, space};
    bytes.bytes.add(layout, reinterpret_cast<std::ptrdiff_t>(at));
    return bytes;
  };
  Layout four;
  four.add(0, 4);
  tonari::LaunchedCopies copies(devices, 0,
                                {{placed(own + 128, four, 2), placed(own, spread, 1)},
                                 {placed(own + 160, spread, 0), placed(own + 20, four, 1)}});
  for (const std::ptrdiff_t shift : {0, 32, 0}) {
    copies.move_to(std::array<std::ptrdiff_t, 3>{0, shift, 2 * shift});
    const Content sent = pattern(64, 30 + static_cast<unsigned>(shift));
    p->put(p->first, own + shift, sent);
    copies.put_on(p->first);
    copies.order_behind(p->second);
    copies.wait();
    const Content first = p->read(own + 128 + 2 * shift, 4), second = p->read(own + 160, 10);
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_EQ(first[k], sent[3 * k]);
      EXPECT_EQ(second[3 * k], sent[20 + k]);
    }
  }
}

void exchange_beside(ProgramOnDevice& p, Line& line, std::int32_t rank) {
  std::byte* const own = p.allocate(256);
  PackedExchange exchange(p.device, 0, rank, {message(1 - rank, own, 128)},
                          {message(1 - rank, own, 0)});
  tell_offer(line, exchange.offer());
  exchange.connect({{1 - rank, hear_offer(line)}});
  for (unsigned round = 0; round < 20; ++round) {
    const auto salt = [round](std::int32_t of) { return 2 * round + static_cast<unsigned>(of); };
    p.put(p.first, own, pattern(128, salt(rank)));
    exchange.start_on(p.first);
    exchange.wait_on(p.first);
    const Content got = p.read(own, 256), sent = pattern(128, salt(1 - rank));
    for (std::size_t k = 0; k < 4; ++k)
      EXPECT_TRUE(
          std::equal(sent.begin() + 24 * k, sent.begin() + 24 * k + 8, got.begin() + 128 + 24 * k))
          << "round " << round << " of rank " << rank;
  }
  exchange.finish([] {});
}

TEST_P(AnyDevice, CarriesExchangesBetweenProcesses) {
  const DeviceKind kind = GetParam();
  Child child([kind](Line& line) {
    ProgramOnDevice p(kind.make(1));
    exchange_beside(p, line, 1);
  });
  ProgramOnDevice p(kind.make(1));
  exchange_beside(p, child.line(), 0);
  child.finish();
}

}  // namespace
}  // namespace tonari::test
