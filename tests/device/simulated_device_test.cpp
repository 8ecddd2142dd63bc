// SPDX-License-Identifier: BSD-3-Clause
#include "device/simulated_device.hpp"

#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "device/program.hpp"
#include "memory/child.hpp"
#include "support/errors.hpp"

namespace tonari::test {
namespace {

// ---- memory

TEST(SimulatedMemory, TheHostCannotTouchIt) {
  Program p;
  EXPECT_DEATH(*reinterpret_cast<volatile char*>(p.memory), "");
  EXPECT_DEATH(*reinterpret_cast<volatile char*>(p.memory) = 1, "");
}

TEST(SimulatedMemory, SystemCallsAnswerThatItIsNoAddress) {
  Program p;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(write(ends[1], p.memory, 8), -1);
  EXPECT_EQ(errno, EFAULT);
  ASSERT_EQ(write(ends[1], "12345678", 8), 8);
  EXPECT_EQ(read(ends[0], p.memory, 8), -1);
  EXPECT_EQ(errno, EFAULT);
  char here[8];
  const iovec local{here, 8}, remote{p.memory, 8};
  EXPECT_EQ(process_vm_readv(getpid(), &local, 1, &remote, 1, 0), -1);
  close(ends[0]);
  close(ends[1]);
}

TEST(SimulatedMemory, PinnedAndManagedMemoryIsTheHostsToo) {
  Program p;
  for (const MemoryKind kind : {MemoryKind::pinned, MemoryKind::managed}) {
    std::byte* const both = p.device.allocate(kind, 0, 64);
    std::memset(both, 7, 64);
    p.device.copy(p.first, p.memory, both, 64);
    p.device.copy(p.first, both, p.memory + 32, 32);
    p.device.synchronize(p.first);
    EXPECT_EQ(both[0], std::byte{7});
    EXPECT_EQ(p.device.on_device(p.memory)[63], std::byte{7});
    p.device.free(both);
  }
}

TEST(SimulatedMemory, TellsWhatAnAddressIs) {
  Program p(two_devices());
  const MemoryAt at = p.device.memory_at(p.memory + 5);
  EXPECT_EQ(at.kind, MemoryKind::device);
  EXPECT_EQ(at.device, 0);
  EXPECT_EQ(at.base, p.memory);
  EXPECT_EQ(at.bytes, Program::bytes);
  EXPECT_EQ(at.not_exported, "");
  std::byte* const other = p.device.allocate(MemoryKind::managed, 1, 10);
  EXPECT_EQ(p.device.memory_at(other + 9).kind, MemoryKind::managed);
  EXPECT_EQ(p.device.memory_at(other + 9).device, 1);
  EXPECT_EQ(p.device.memory_at(other + 10).kind, MemoryKind::host);
  std::byte* const pinned = p.device.allocate(MemoryKind::pinned, 1, 10);
  EXPECT_EQ(p.device.memory_at(pinned).kind, MemoryKind::pinned);
  EXPECT_EQ(p.device.memory_at(pinned).device, -1);
  EXPECT_EQ(p.device.memory_at(&p).kind, MemoryKind::host);
  p.device.free(p.memory);
  EXPECT_EQ(p.device.memory_at(p.memory).kind, MemoryKind::host);
}

TEST(SimulatedMemory, IsNoMoreThanADeviceHas) {
  SimulatedOptions options = alone();
  options.memory = 1000;
  Program p(options);
  expect_sentence(error_of([&] { p.device.allocate(MemoryKind::device, 0, 801); }), Errc::memory,
                  {"device 0 has 744 of 1000 bytes left, and 801 are needed"});
  p.device.free(p.memory);
  p.device.free(p.device.allocate(MemoryKind::device, 0, 1000));
  p.memory = p.device.allocate(MemoryKind::device, 0, 1000);
}

TEST(SimulatedMemory, IsNotInitialized) {
  Program p;
  EXPECT_NE(p.device.on_device(p.memory)[3], std::byte{0});
}

TEST(SimulatedMemory, MistakesAreSentences) {
  Program p;
  const auto mistake = [](auto work, const std::string& sentence) {
    expect_sentence(error_of(work), Errc::argument, {sentence});
  };
  std::byte here[8];
  std::byte* const other = p.device.allocate(MemoryKind::device, 0, 16);
  mistake([&] { p.device.free(other + 1); }, "byte 1 of an allocation cannot be freed");
  mistake([&] { p.device.free(here); }, "memory that no device allocated cannot be freed");
  p.device.free(other);
  mistake([&] { p.device.free(other); }, "that was freed cannot be freed");
  mistake([&] { p.device.copy(p.first, other, p.memory, 8); }, "uses memory that was freed");
  mistake([&] { p.device.copy(p.first, p.memory, here, 8); }, "memory that no device allocated");
  mistake([&] { p.device.copy(p.first, p.memory, p.memory + Program::bytes - 8, 64); },
          "are outside of an allocation of a device of 256 bytes");
  mistake([&] { p.device.allocate(MemoryKind::device, 1, 8); }, "there is no device 1");
  mistake([&] { p.device.allocate(MemoryKind::device, 0, 0); }, "at least one byte");
  mistake([&] { p.device.allocate(MemoryKind::host, 0, 8); }, "not allocated by a device");
}

TEST(SimulatedMemory, IsNotFreedWhileWorkUsesIt) {
  Program p;
  for (const auto& use : std::vector<std::function<void(std::byte*)>>{
           [&](std::byte* at) { p.device.copy(p.first, at, p.memory, 64); },
           [&](std::byte* at) { p.device.copy(p.first, p.memory, at, 64); },
           [&](std::byte* at) {
             const FlagValue flag{reinterpret_cast<std::uint64_t*>(at), 1};
             p.device.write_flags(p.first, {&flag, 1});
           },
           [&](std::byte* at) {
             const SimulatedDevice::Touched touched{at, 8};
             p.device.launch(p.first, {&touched, 1}, {}, [] {});
           }}) {
    std::byte* const other = p.device.allocate(MemoryKind::device, 0, 64);
    p.never_runs_by_itself();
    use(other);
    expect_sentence(error_of([&] { p.device.free(other); }), Errc::active,
                    {"cannot be freed while work in a stream uses it"});
    p.let_run();
    p.device.free(other);
  }
}

TEST(SimulatedMemory, OfAnotherDeviceNeedsAccess) {
  SimulatedOptions options = two_devices();
  for (const bool peers : {true, false}) {
    if (!peers) options.lacks = {Ability::peer_access};
    Program p(options);
    std::byte* const other = p.device.allocate(MemoryKind::device, 1, 64);
    const Error error = error_of([&] { p.device.copy(p.first, p.memory, other, 64); });
    if (!peers)
      expect_sentence(error, Errc::argument, {"uses memory of device 1, and has no access to it"});
    EXPECT_EQ(error.code() == Errc::success, peers);
  }
}

// ---- regions

TEST(SimulatedRegions, ShowTheSameMemoryAtSeveralAddresses) {
  Program p;
  const Bytes unit = p.device.granularity(0);
  const DeviceRegion a = p.device.make_region(0, unit), b = p.device.make_region(0, 2 * unit);
  std::byte* const ab = p.device.map_regions(std::vector{a, b});
  std::byte* const ba = p.device.map_regions(std::vector{b, a});
  EXPECT_EQ(p.device.memory_at(ba).bytes, 3 * unit);
  EXPECT_NE(p.device.memory_at(ba).not_exported, "");
  p.device.free_region(a);
  p.device.free_region(b);
  p.fill(p.memory, 64, 5);
  p.device.copy(p.first, ab + 3 * unit - 64, p.memory, 64);  // the end of b
  p.device.synchronize(p.first);
  EXPECT_EQ(p.device.on_device(ba + 2 * unit)[-1], std::byte{5});
  EXPECT_DEATH(*reinterpret_cast<volatile char*>(ba), "");
  // What runs through one address is ordered with what runs through another.
  expect_sentence(error_of([&] {
                    p.device.copy(p.first, ab, p.memory, 64);
                    p.device.copy(p.second, p.memory + 64, ba + 2 * unit, 64);
                    p.let_run();
                  }),
                  Errc::buffers, {"nothing orders that"});
}

TEST(SimulatedRegions, AreMultiplesOfTheGranularity) {
  Program p;
  expect_sentence(error_of([&] { p.device.make_region(0, p.device.granularity(0) / 2); }),
                  Errc::argument, {"no multiple of the granularity of 65536 bytes"});
  const DeviceRegion region = p.device.make_region(0, p.device.granularity(0));
  p.device.free_region(region);
  expect_sentence(error_of([&] { p.device.free_region(region); }), Errc::argument,
                  {"was freed before"});
  expect_sentence(error_of([&] { p.device.map_regions({&region, 1}); }), Errc::argument,
                  {"was freed"});
}

// ---- handles

TEST(SimulatedHandles, GoToOtherProcesses) {
  Child child([](Line& line) {
    Program p;
    std::byte* const theirs = p.device.import_memory(line.hear<MemoryHandle>());
    EXPECT_EQ(p.device.memory_at(theirs).bytes, Program::bytes);
    EXPECT_NE(p.device.memory_at(theirs).not_exported, "");
    p.device.copy(p.first, p.memory, theirs, Program::bytes);
    p.device.synchronize(p.first);
    EXPECT_EQ(p.device.on_device(p.memory)[100], std::byte{9});
    line.tell('r');
    line.hear();  // freed
    expect_sentence(error_of([&] {
                      p.device.copy(p.first, p.memory, theirs, 8);
                      p.device.synchronize(p.first);
                    }),
                    Errc::argument, {"reads from memory that was freed"});
    p.device.reset(0);
    p.device.free(theirs);
  });
  Program p;
  p.fill(p.memory, Program::bytes, 9);
  child.line().tell(p.device.export_memory(p.memory + 17));
  child.line().hear();
  p.device.free(p.memory);
  child.line().tell('f');
  child.finish();
}

TEST(SimulatedHandles, OfThisProcessShowTheSameMemory) {
  Program p;
  std::byte* const again = p.device.import_memory(p.device.export_memory(p.memory));
  EXPECT_NE(again, p.memory);
  p.fill(again, Program::bytes, 3);
  EXPECT_EQ(p.device.on_device(p.memory)[0], std::byte{3});
  p.device.free(p.memory);
  expect_sentence(error_of([&] {
                    p.device.copy(p.first, again, again + 8, 8);
                    p.let_run();
                  }),
                  Errc::argument, {"memory that was freed"});
}

TEST(SimulatedHandles, MistakesAreSentences) {
  SimulatedOptions options = alone();
  options.lacks = {Ability::export_memory};
  Program without(options), p;
  expect_sentence(error_of([&] { without.device.export_memory(without.memory); }), Errc::argument,
                  {"does not let other processes map"});
  MemoryHandle handle = p.device.export_memory(p.memory);
  std::byte* const again = p.device.import_memory(handle);
  expect_sentence(error_of([&] { p.device.export_memory(again); }), Errc::argument,
                  {"only the process that allocated"});
  int here = 0;
  expect_sentence(
      error_of([&] { p.device.export_memory(reinterpret_cast<const std::byte*>(&here)); }),
      Errc::argument, {"memory of the host has no handle"});
  p.device.free(p.memory);
  expect_sentence(error_of([&] { p.device.import_memory(handle); }), Errc::argument,
                  {"memory of this process that was freed"});
  handle.kind = 0;
  expect_sentence(error_of([&] { p.device.import_memory(handle); }), Errc::argument,
                  {"not made by a simulated device"});
}

}  // namespace
}  // namespace tonari::test
