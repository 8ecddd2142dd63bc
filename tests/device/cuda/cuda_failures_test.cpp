// SPDX-License-Identifier: BSD-3-Clause
// Each call of the driver fails once: that is one sentence, and everything is given back.
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <set>
#include <string>

#include "device/cuda/on_fake.hpp"
#include "device/held_on_device.hpp"
#include "memory/child.hpp"
#include "support/errors.hpp"

namespace tonari::test {
namespace {

struct Handles {
  MemoryHandle allocation, region;
};

// One of everything, given back in the end.
void use_everything(Device& device, const Handles& theirs) {
  HeldOnDevice held(device);
  std::byte* const own = held.allocate(MemoryKind::device, 0, 1 << 16);
  std::byte* const pinned = held.allocate(MemoryKind::pinned, 0, 64);
  std::byte* const managed = held.allocate(MemoryKind::managed, 0, 64);
  std::byte* const there = held.allocate(MemoryKind::device, 1, 64);
  (void)held.import_memory(device.export_memory(own));
  (void)held.import_memory(theirs.allocation);
  (void)held.import_memory(theirs.region);
  const DeviceRegion regions[] = {device.make_region(0, device.granularity(0)),
                                  device.make_region(0, device.granularity(0))};
  std::byte* const both = device.map_regions(regions);
  std::byte* const one = device.map_regions({regions, 1});
  (void)device.export_memory(one);
  for (const DeviceRegion region : regions) device.free_region(region);
  const DeviceStream stream = held.stream(0), other = held.stream(0);
  const DeviceEvent event = held.event(0);
  device.copy(stream, own, pinned, 64);
  device.copy(stream, own + 64, managed, 64);
  device.copy(stream, both, there, 64);
  const Move moves[] = {{own + 512, own, 8, 4, 24, 16}, {own + 1024, both, 64, 1, 0, 0}};
  device.move(stream, held.table(0, moves));
  const FlagValue flag{reinterpret_cast<std::uint64_t*>(own + 2048), 1};
  device.write_flags(stream, {&flag, 1});
  device.wait_flags(other, {&flag, 1});
  device.record(stream, event);
  device.wait_event(other, event);
  (void)device.query(event);
  device.synchronize(event);
  device.synchronize(other);
  device.free(one);
  device.free(both);
  if (const std::optional<Error> error = held.give_back()) throw *error;
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(
      std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
}

// What is given back is given back, whatever the driver says of the context, and at the end of a
// device nobody hears of it.
const std::set<std::string> told_nobody = {"cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2",
                                           "cuStreamGetCtx",      "cuDevicePrimaryCtxRelease_v2",
                                           "cuModuleUnload",      "cuMemRelease"};

void fail_each_call(const Handles& theirs, bool value_operations) {
  std::size_t failed = 0;
  for (int call = 0;; ++call) {
    SimulatedOptions options;
    options.devices = 2;
    options.watch_order = false;
    Driven driven(options, [&](FakeDriver& fake) {
      fake.attributes[cuda::value_operations] = value_operations;
      fake.fails_at = call;
      fake.most = 1 << 16;  // there are hundreds of devices
    });
    const std::size_t open = open_descriptors();
    const Error error = error_of([&] {
      CudaDevice device;
      use_everything(device, theirs);
    });
    const FakeDriver& fake = fake_driver();
    if (static_cast<int>(fake.calls.size()) <= call) break;
    const std::string& name = fake.calls[static_cast<std::size_t>(call)];
    SCOPED_TRACE(text("call ", call, ", ", name));
    EXPECT_EQ(fake.held(), std::vector<std::string>{});
    EXPECT_EQ(open_descriptors(), open);
    failed += error.code() != Errc::success;
    if (error.code() == Errc::success) {
      EXPECT_TRUE(told_nobody.contains(name));
      continue;
    }
    const std::string sentence = error.what();
    EXPECT_LT(sentence.size(), 300u);
    EXPECT_EQ(sentence.find('\n'), sentence.npos);
    EXPECT_NE(sentence.find(name), sentence.npos) << sentence;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(failed, 130u);
}

TEST(CudaFailures, AreSentencesAndGiveEverythingBack) {
  Child child([](Line& line) {
    CudaOnFake on;
    std::byte* const own = on.cuda.allocate(MemoryKind::device, 0, 1000);
    const DeviceRegion region = on.cuda.make_region(0, on.cuda.granularity(0));
    line.tell(Handles{on.cuda.export_memory(own),
                      on.cuda.export_memory(on.cuda.map_regions({&region, 1}))});
    line.hear();
  });
  const auto theirs = child.line().hear<Handles>();
  for (const bool value_operations : {true, false}) fail_each_call(theirs, value_operations);
  child.line().tell('e');
  child.finish();
}

}  // namespace
}  // namespace tonari::test
