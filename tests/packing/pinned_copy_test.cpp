// SPDX-License-Identifier: BSD-3-Clause
#include "packing/pinned_copy.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "device/mutated_device.hpp"
#include "device/program.hpp"
#include "support/errors.hpp"

namespace tonari::test {
namespace {

using Way = PinnedCopy::Way;

// A program with blocks of which one is spread, and the library's device in front of its own.
struct Blocks : Program {
  explicit Blocks(std::uint64_t seed = 0) : Program(alone(), seed) { spread.add(Run{0, 3, 8, 4}); }
  std::shared_ptr<PresentDevice> devices() {
    return std::make_shared<PresentDevice>(std::shared_ptr<Device>(&mutated, [](Device*) {}));
  }
  std::vector<DeviceBlock> blocks() const {
    return {{memory + 64, nullptr, 5}, {memory, &spread, 12}, {nullptr, nullptr, 0}};
  }
  std::vector<std::byte*> places() const {
    std::vector<std::byte*> all;
    for (std::ptrdiff_t k = 0; k < 5; ++k) all.push_back(memory + 64 + k);
    for (std::ptrdiff_t k = 0; k < 12; ++k) all.push_back(memory + 8 * (k / 3) + k % 3);
    return all;
  }

  Layout spread;
  MutatedDevice mutated{device, 0};
};

// Empty if all bytes are right.
std::string gathered(std::uint64_t seed, const Mutant& mutant = {}) {
  Blocks p(seed);
  p.mutated.mutate(mutant);
  const auto devices = p.devices();
  PinnedCopy copy(devices, 0, p.blocks(), Way::to_host);
  for (int round = 0; round < 3; ++round) {
    const std::vector<std::byte*> places = p.places();
    for (std::size_t k = 0; k < places.size(); ++k)
      *p.device.on_device(places[k]) = static_cast<std::byte>(17 * round + static_cast<int>(k));
    p.mutated.enter("gather");
    copy.put_on(copy.own_stream());
    copy.wait();
    for (std::size_t k = 0; k < places.size(); ++k)
      if (copy.host()[k] != static_cast<std::byte>(17 * round + static_cast<int>(k)))
        return text("byte ", k, " is wrong in round ", round);
  }
  return "";
}

TEST(PinnedCopy, GathersBlocksOneBehindTheOther) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) ASSERT_EQ(gathered(seed), "") << seed;
}

TEST(PinnedCopy, WhatOrdersItIsNeeded) {
  for (const char* call : {"record", "synchronize"}) {
    const std::size_t number = call == std::string("record") ? 0 : 1;
    const Mutant mutant{"gather", number, Mutant::Change::left_out, 0, call};
    bool caught = false;
    for (std::uint64_t seed = 0; seed < 100 && !caught; ++seed) {
      const std::optional<Error> error =
          tonari::error_of([&] { caught = !gathered(seed, mutant).empty(); });
      caught |= error.has_value();
    }
    EXPECT_TRUE(caught) << call;
  }
}

TEST(PinnedCopy, ScattersBlocksAndNothingElse) {
  Blocks p;
  p.fill(p.memory, Program::bytes, 0x77);
  PinnedCopy copy(p.devices(), 0, p.blocks(), Way::to_device);
  ASSERT_EQ(copy.bytes(), 17u);
  EXPECT_EQ(copy.host(1), copy.host() + 5);
  for (std::size_t k = 0; k < 17; ++k) copy.host()[k] = static_cast<std::byte>(k + 1);
  copy.put_on(p.second);
  copy.wait();
  EXPECT_TRUE(copy.complete());
  std::vector<int> wanted(Program::bytes, 0x77);
  const std::vector<std::byte*> places = p.places();
  for (std::size_t k = 0; k < places.size(); ++k)
    wanted[static_cast<std::size_t>(places[k] - p.memory)] = static_cast<int>(k + 1);
  for (std::size_t k = 0; k < Program::bytes; ++k)
    EXPECT_EQ(p.value(p.memory + k), wanted[k]) << "byte " << k;
}

TEST(PinnedCopy, RefusesMemoryOutOfReach) {
  Blocks p;
  std::vector<DeviceBlock> blocks = p.blocks();
  blocks[0].address = p.memory + Program::bytes - 2;
  expect_sentence(error_of([&] { PinnedCopy(p.devices(), 0, blocks, Way::to_host); }),
                  Errc::argument, {"outside of an allocation"});
}

TEST(PinnedCopy, GivesAllBackAlsoWhatIsUnderWay) {
  Blocks p;
  {
    PinnedCopy copy(p.devices(), 0, p.blocks(), Way::to_host);
    copy.put_on(p.first);
  }
  p.device.free(p.memory);  // no work uses it any more
}

}  // namespace
}  // namespace tonari::test
