// SPDX-License-Identifier: BSD-3-Clause
#include "device/cuda_device.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "device/any_device.hpp"
#include "device/cuda/on_fake.hpp"
#include "device/cuda_compiler.hpp"
#include "device/network_reach.hpp"
#include "memory/child.hpp"
#include "support/errors.hpp"

namespace tonari::test {
namespace {

using Sentences = std::vector<std::string>;

SimulatedOptions two() {
  SimulatedOptions options;
  options.devices = 2;
  return options;
}

// ---- opening

Error opening(const Change& change) {
  return error_of([&] { CudaOnFake opened({}, change); });
}

TEST(CudaDriver, SaysWhatIsWrongWithIt) {
  expect_sentence(opening([](FakeDriver& fake) { fake.version = 11080; }), Errc::argument,
                  {"the driver is one of CUDA 11.8, and CUDA 12.0 is needed; install a newer"});
  expect_sentence(opening([](FakeDriver& fake) { fake.fails_at = 0, fake.fails_with = 100; }),
                  Errc::argument, {"CUDA's driver sees no device", "CUDA_VISIBLE_DEVICES"});
  expect_sentence(opening([](FakeDriver& fake) { fake.attributes[cuda::unified_addressing] = 0; }),
                  Errc::argument, {"shares no addresses with the host"});
  expect_sentence(opening([](FakeDriver& fake) { fake.fails_at = 0, fake.fails_with = 12345; }),
                  Errc::internal, {"cuInit of CUDA's driver failed", "it was told to fail"});
  const auto with = [](int result) {
    return opening([result](FakeDriver& fake) { fake.fails_at = 0, fake.fails_with = result; });
  };
  for (const int of_earlier_work : {214, 700, 702, 710, 714, 719})
    expect_sentence(with(of_earlier_work), Errc::internal,
                    {"work that the device got earlier has failed, as cuInit tells"});
  for (const int of_this_call : {701, 705, 712})
    expect_sentence(with(of_this_call), Errc::internal, {"cuInit of CUDA's driver failed"});
  expect_sentence(with(901), Errc::active, {"is not allowed while a stream is captured"});
}

TEST(CudaDriver, IsNotNeeded) {
  expect_sentence(error_of([] {
                    ForeignLibrary({"libtonari-none.so.7"}, "there is none",
                                   [](const char*, int) { return Error(Errc::internal, ""); });
                  }),
                  Errc::argument, {"there is none (libtonari-none.so.7: "});
  const ForeignLibrary some({"libtonari-none.so.7", "libc.so.6"}, "there is none",
                            [](const char*, int) { return Error(Errc::internal, ""); });
  expect_sentence(error_of([&] { some.find("cuFunctionOfTheFuture"); }), Errc::argument,
                  {"libc.so.6 has no function cuFunctionOfTheFuture, so it is too old"});
}

TEST(CudaDevice, SaysWhatItLacks) {
  CudaOnFake all(two());
  for (const Ability ability :
       {Ability::export_memory, Ability::flags_in_order, Ability::mapped_memory,
        Ability::peer_access, Ability::capture_of_flags})
    EXPECT_EQ(all.cuda.ability(ability).why_not, "");
  SimulatedOptions alone = two();
  alone.lacks = {Ability::peer_access};
  CudaOnFake less(alone, [](FakeDriver& fake) { fake.attributes[cuda::virtual_memory] = 0; });
  EXPECT_NE(less.cuda.ability(Ability::mapped_memory).why_not, "");
  EXPECT_EQ(less.cuda.ability(Ability::peer_access).why_not,
            "device 0 has no access to memory of device 1");
  EXPECT_EQ(all.cuda.ability(Ability::network_access).why_not, why_out_of_networks({true, true}));
  std::byte* const there = less.cuda.allocate(MemoryKind::device, 1, 64);
  std::byte* const here = less.cuda.allocate(MemoryKind::device, 0, 64);
  const DeviceStream stream = less.cuda.make_stream(0);
  expect_sentence(error_of([&] { less.cuda.copy(stream, here, there, 8); }), Errc::argument,
                  {"work of device 0 uses memory of device 1, and has no access to it"});
  less.cuda.end_stream(stream);
}

TEST(CudaDevice, EnablesPeerAccessOnce) {
  CudaOnFake on(two());
  std::byte* const there = on.cuda.allocate(MemoryKind::device, 1, 64);
  std::byte* const here = on.cuda.allocate(MemoryKind::device, 0, 64);
  const DeviceStream stream = on.cuda.make_stream(0);
  for (int k = 0; k < 3; ++k) on.cuda.copy(stream, here, there, 8);
  on.cuda.synchronize(stream);
  const auto& calls = fake_driver().calls;
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "cuCtxEnablePeerAccess"), 1);
  on.cuda.end_stream(stream);
}

// ---- memory

TEST(CudaMemory, SaysWhyOthersCannotMapIt) {
  CudaOnFake on;
  const auto why = [&](const void* at) { return on.cuda.memory_at(at).not_exported; };
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != text.npos;
  };
  std::byte* const pool = fake_driver().allocate(ForeignMemory::pool, 100);
  EXPECT_EQ(on.cuda.memory_at(pool + 99).kind, MemoryKind::device);
  EXPECT_EQ(on.cuda.memory_at(pool + 99).bytes, 100u);
  EXPECT_TRUE(contains(why(pool), "memory of a pool (cudaMallocAsync)")) << why(pool);
  std::byte* const other = fake_driver().allocate(ForeignMemory::without_handle, 100);
  EXPECT_TRUE(contains(why(other), "has no handle for this memory")) << why(other);
  std::byte* const pinned = on.cuda.allocate(MemoryKind::pinned, 0, 100);
  EXPECT_TRUE(contains(why(pinned), "pinned memory has no handle")) << why(pinned);
  std::byte* const managed = on.cuda.allocate(MemoryKind::managed, 0, 100);
  EXPECT_TRUE(contains(why(managed), "managed memory has no handle")) << why(managed);
  for (std::byte* const at : {pool, other, pinned, managed})
    expect_sentence(error_of([&] { on.cuda.export_memory(at); }), Errc::argument, {why(at)});
}

// A context takes hundreds of megabytes of a device.
TEST(CudaMemory, NeedsNoContextOfOtherDevices) {
  CudaOnFake on(two());
  for (const MemoryKind kind : {MemoryKind::pinned, MemoryKind::device, MemoryKind::managed})
    on.cuda.free(on.cuda.allocate(kind, 1, 64));
  const auto& calls = fake_driver().calls;
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "cuDevicePrimaryCtxRetain"), 1);
  on.cuda.free(on.cuda.allocate(MemoryKind::pinned, -1, 64));  // in any context
}

// As a framework's allocator makes it: consecutive mappings, which one buffer may span.
struct MadeByAFramework {
  MadeByAFramework(cuda::Driver& made_with, int handle_types, std::size_t count)
      : driver(made_with) {
    cuda::AllocationProperties wanted;
    wanted.handle_types = handle_types;
    driver.allocation_granularity(&unit, &wanted, cuda::minimum_granularity);
    driver.address_reserve(&base, count * unit, 0, 0, 0);
    for (std::size_t k = 0; k < count; ++k) {
      cuda::Allocation one = 0;
      driver.allocation_create(&one, unit, &wanted, 0);
      driver.map(base + k * unit, unit, 0, one, 0);
      driver.allocation_release(one);
    }
    const cuda::Access access;
    driver.set_access(base, count * unit, &access, 1);
  }
  std::byte* at(std::size_t byte) const { return reinterpret_cast<std::byte*>(base + byte); }

  cuda::Driver& driver;
  std::size_t unit = 0;
  cuda::Address base = 0;
};

TEST(CudaMemory, OfFrameworksMayLieInSeveralMappings) {
  CudaOnFake on;
  cuda::Driver driver;
  const MadeByAFramework without(driver, 0, 1), made(driver, cuda::by_descriptor, 3);
  const MemoryAt second = on.cuda.memory_at(made.at(made.unit + 5));
  EXPECT_EQ(second.kind, MemoryKind::device);
  EXPECT_EQ(second.base, made.at(made.unit));
  EXPECT_EQ(second.bytes, made.unit);
  EXPECT_EQ(second.not_exported, "");
  EXPECT_NE(on.cuda.memory_at(without.at(0)).not_exported.find("without expandable segments"),
            std::string::npos);
  const auto device = std::shared_ptr<Device>(std::shared_ptr<void>(), &on.cuda);
  ProgramOnDevice p(device);
  const Content content = pattern(2000, 4);
  p.write(made.at(2 * made.unit - 1000), content);  // over the border of two mappings
  EXPECT_EQ(p.read(made.at(2 * made.unit - 1000), 2000), content);
  expect_sentence(
      error_of([&] { p.device.copy(p.first, made.at(3 * made.unit - 8), made.at(0), 16); }),
      Errc::argument, {"outside of"});
}

TEST(CudaMemory, GoesToOthersAsOftenAsTheyOpenIt) {
  Child child([](Line& line) {
    CudaOnFake on;
    const auto handle = line.hear<MemoryHandle>();
    std::byte* const theirs = on.cuda.import_memory(handle);
    for (int k = 0; k < 2; ++k) EXPECT_EQ(on.cuda.import_memory(handle), theirs);
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(on.cuda.memory_at(theirs).kind, MemoryKind::device);
      on.cuda.free(theirs);
    }
    EXPECT_EQ(on.cuda.memory_at(theirs).kind, MemoryKind::host);
    EXPECT_EQ(fake_driver().held(), std::vector<std::string>{"1 contexts"});
    {  // given back at the end
      CudaDevice other;
      for (int k = 0; k < 2; ++k) EXPECT_NE(other.import_memory(handle), nullptr);
    }
    EXPECT_EQ(fake_driver().held(), std::vector<std::string>{"1 contexts"});
    line.tell('o');
  });
  CudaOnFake on;
  std::byte* const own = on.cuda.allocate(MemoryKind::device, 0, 100);
  const MemoryHandle handle = on.cuda.export_memory(own);
  EXPECT_EQ(handle.bytes % (Bytes{2} << 20), 0u);  // a block of its own
  child.line().tell(handle);
  child.line().hear();
  child.finish();
}

TEST(CudaMemory, OfADeviceThatThisProcessDoesNotSeeIsRefusedByDescriptor) {
  CudaOnFake on;
  const DeviceRegion region = on.cuda.make_region(0, on.cuda.granularity(0));
  std::byte* const shown = on.cuda.map_regions({&region, 1});
  MemoryHandle handle = on.cuda.export_memory(shown);
  Child child([handle](Line& line) {
    CudaOnFake here;
    MemoryHandle other = handle;
    for (std::size_t word = 2; word < 4; ++word) other.content[word] ^= ~std::uint64_t{0};
    expect_sentence(error_of([&] { here.cuda.import_memory(other); }), Errc::argument,
                    {"a device that this process does not see", "CUDA_VISIBLE_DEVICES"});
    other = handle;
    other.content[0] |= std::uint64_t{0x7000} << 32;  // a descriptor that is not open
    expect_sentence(error_of([&] { here.cuda.import_memory(other); }), Errc::argument,
                    {"cannot be taken", "ptrace_scope"});
    line.tell('r');
  });
  child.line().hear();
  child.finish();
}

TEST(CudaMemory, KeepsADescriptorAsLongAsTheMemory) {
  CudaOnFake on;
  const DeviceRegion region = on.cuda.make_region(0, on.cuda.granularity(0));
  std::byte* const shown = on.cuda.map_regions({&region, 1});
  const MemoryHandle handle = on.cuda.export_memory(shown);
  EXPECT_EQ(on.cuda.export_memory(shown + 8).content, handle.content);  // no second one
  const auto descriptor = static_cast<int>(handle.content[0] >> 32);
  EXPECT_NE(::fcntl(descriptor, F_GETFD), -1);
  on.cuda.free(shown);
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), -1);
}

// ---- streams

TEST(CudaStreams, OfThePast) {
  CudaOnFake on(two());
  EXPECT_EQ(on.cuda.device_of({0}), 0);  // no context is current
  cuda::Driver driver;
  cuda::Context context = nullptr;
  driver.primary_context_retain(&context, 1);
  {
    const cuda::Current current(driver, context);
    EXPECT_EQ(on.cuda.device_of({0}), 1);
  }
  driver.primary_context_release(1);
}

TEST(CudaStreams, ThatAreCapturedAllowNoAllocation) {
  CudaOnFake on;
  const DeviceStream stream = on.cuda.make_stream(0);
  fake_driver().begin_capture(stream);
  EXPECT_TRUE(on.cuda.captures(stream));
  expect_sentence(error_of([&] { on.cuda.allocate(MemoryKind::device, 0, 8); }), Errc::active,
                  {"cuMemAlloc_v2 is not allowed while a stream is captured"});
  expect_sentence(error_of([&] { on.cuda.synchronize(stream); }), Errc::active,
                  {"cuStreamSynchronize is not allowed while a stream is captured"});
}

// Each launch with one call, and each list of flags with one for 255 of them.
TEST(CudaStreams, GetOneCallForATable) {
  CudaOnFake on;
  std::byte* const own = on.cuda.allocate(MemoryKind::device, 0, 1 << 20);
  std::vector<Move> moves;
  for (int k = 0; k < 500; ++k)
    moves.push_back({own + 100 * k, own + 500'000 + 90 * k, 80, 1, 0, 0});
  const DeviceTable table = on.cuda.make_table(0, moves);
  const DeviceStream stream = on.cuda.make_stream(0);
  on.cuda.move(stream, table);
  std::vector<FlagValue> flags;
  for (int k = 0; k < 300; ++k)
    flags.push_back({reinterpret_cast<std::uint64_t*>(own) + 80'000 + k, 1});
  for (int k = 0; k < 2; ++k) {
    fake_driver().calls.clear();
    on.cuda.move(stream, table);
    on.cuda.write_flags(stream, flags);
    const auto& calls = fake_driver().calls;
    EXPECT_EQ(std::count(calls.begin(), calls.end(), "cuLaunchKernel"), 1);
    EXPECT_EQ(std::count(calls.begin(), calls.end(), "cuStreamBatchMemOp_v2"), 2);
    // the driver is asked what a flag is in once
    EXPECT_EQ(std::count(calls.begin(), calls.end(), "cuPointerGetAttributes"), k == 0 ? 300 : 0);
  }
  on.cuda.synchronize(stream);
  on.cuda.end_stream(stream);
}

// What is at an address may be another thing after something was freed.
TEST(CudaStreams, LookAtFlagsAgainWhereMemoryWasFreed) {
  CudaOnFake on;
  std::byte* const own = on.cuda.allocate(MemoryKind::device, 0, 64);
  const FlagValue flag{reinterpret_cast<std::uint64_t*>(own), 1};
  const DeviceStream stream = on.cuda.make_stream(0);
  on.cuda.write_flags(stream, {&flag, 1});
  on.cuda.synchronize(stream);
  on.cuda.free(own);
  expect_sentence(error_of([&] { on.cuda.write_flags(stream, {&flag, 1}); }), Errc::argument,
                  {"uses memory that no device allocated"});
  on.cuda.end_stream(stream);
}

// ---- kernels

struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / text("tonari-kernels-", ::getpid())) {
    std::filesystem::create_directory(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::directory_iterator(path)) all.push_back(entry.path());
    return all;
  }
  std::filesystem::path path;
};

std::string compiled(int capability, const std::string& cache = {}) {
  return cuda::compiled_kernels(cuda::kernels_source, capability, 12040, cache);
}

TEST(CudaKernels, AreCompiledForTheDeviceOrTheNewestBeforeIt) {
  fake_compiler() = {};
  EXPECT_EQ(compiled(90), "image of --gpu-architecture=sm_90 --std=c++17");
  EXPECT_EQ(compiled(86), "image of --gpu-architecture=compute_80 --std=c++17");
  EXPECT_EQ(compiled(120), "image of --gpu-architecture=compute_90 --std=c++17");
  expect_sentence(error_of([] { compiled(61); }), Errc::argument,
                  {"compiles for no device of capability 6.1; install that of an older CUDA"});
  expect_sentence(error_of([] { cuda::compiled_kernels(cuda::kernels_source, 90, 3000, ""); }),
                  Errc::argument, {"there is no NVRTC: install the one of the driver's CUDA"});
  EXPECT_EQ(fake_compiler().programs, 0);
}

TEST(CudaKernels, AreKeptInTheCache) {
  fake_compiler() = {};
  const Folder folder;
  const std::string image = compiled(90, folder.path);
  EXPECT_EQ(compiled(90, folder.path), image);
  EXPECT_EQ(fake_compiler().compilations, 1);
  ASSERT_EQ(folder.files().size(), 1u);
  fake_compiler().version_minor = 5;  // another compiler, another device
  compiled(90, folder.path);
  compiled(80, folder.path);
  EXPECT_EQ(fake_compiler().compilations, 3);
  EXPECT_EQ(folder.files().size(), 3u);
  for (const auto& file : folder.files()) std::ofstream(file) << "tonari kernels 1 0\nno image";
  EXPECT_EQ(compiled(90, folder.path), image);
  EXPECT_EQ(fake_compiler().compilations, 4);
  EXPECT_EQ(compiled(90, "/proc/none"), image);  // nothing can be kept there
}

using Kernels = std::span<const unsigned char>;

Kernels image(const char* text) {
  return {reinterpret_cast<const unsigned char*>(text), std::strlen(text) + 1};
}

// What the driver is given, and what runs: a table that copies 8 bytes.
std::string copied_by(Kernels built, const Change& change = {}) {
  fake_compiler() = {};
  Driven driven({}, change);
  CudaDevice device({}, built);
  std::byte* const from = device.allocate(MemoryKind::device, 0, 64);
  std::byte* const to = device.allocate(MemoryKind::device, 0, 64);
  std::memset(driven.simulated.on_device(from), 7, 64);
  const std::array moves{Move{to, from, 8, 2, 16, 16}};
  const DeviceTable table = device.make_table(0, moves);
  const DeviceStream stream = device.make_stream(0);
  device.move(stream, table);
  device.synchronize(stream);
  EXPECT_EQ(std::memcmp(driven.simulated.on_device(to), driven.simulated.on_device(from), 8), 0);
  device.free_table(table);
  device.end_stream(stream);
  return device.describe_kernels(0);
}

TEST(CudaKernels, ThoseOfTheLibraryNeedNoCompiler) {
  EXPECT_EQ(copied_by(image("image of the build")), "built with the library");
  EXPECT_EQ(fake_compiler().calls, 0);
  EXPECT_EQ(copied_by({}), "compiled here by NVRTC");
  EXPECT_EQ(fake_compiler().compilations, 1);
}

// They are for other devices, or of a newer CUDA than the driver's.
TEST(CudaKernels, AreCompiledWhereThoseOfTheLibraryAreForOthers) {
  EXPECT_EQ(copied_by(image("of another device")), "compiled here by NVRTC");
  EXPECT_EQ(fake_compiler().compilations, 1);
}

// Whatever nvcc this build had: the driver that the tests play knows none of its code.
TEST(CudaKernels, ThoseOfThisBuildAreOneBinary) {
  const Kernels built = cuda::built_kernels();
  if (built.empty()) GTEST_SKIP() << "needs nvcc";
  EXPECT_EQ(copied_by(built), "compiled here by NVRTC");
  const std::array<unsigned char, 4> magic{0x50, 0xed, 0x55, 0xba};  // of a fat binary
  EXPECT_TRUE(std::ranges::equal(built.first(4), magic));
}

TEST(CudaKernels, SayWhatTheCompilerSays) {
  fake_compiler() = {};
  for (int call = 0;; ++call) {
    fake_compiler().calls = 0;
    fake_compiler().fails_at = call;
    const Error error = error_of([] { compiled(90); });
    EXPECT_EQ(fake_compiler().programs, 0);
    if (fake_compiler().calls <= call) break;
    if (call + 1 == fake_compiler().calls && error.code() == Errc::success) continue;  // at its end
    EXPECT_EQ(error.code(), Errc::internal) << error.what();
    EXPECT_TRUE(std::string(error.what()).find("of NVRTC failed: it was told to fail") !=
                    std::string::npos ||
                std::string(error.what()).find("sm_90: line 1 is not right") != std::string::npos)
        << error.what();
  }
  fake_compiler() = {};
}

}  // namespace
}  // namespace tonari::test
