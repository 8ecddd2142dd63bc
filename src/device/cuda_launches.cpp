// SPDX-License-Identifier: BSD-3-Clause
#include "device/cuda_launches.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "device/cuda_compiler.hpp"
#include "device/tiles.hpp"

namespace tonari::cuda {
namespace {

// So that each thread has four words of 16 bytes under way.
constexpr unsigned threads = 256;
constexpr std::size_t bytes_of_a_block = std::size_t{threads} * 4 * 16;

// As in cuda_kernels.cu.
struct FlagList {
  std::array<FlagValue, 16> of;
  unsigned count;
};
static_assert(sizeof(Move) == 48 && offsetof(Move, length) == 16 && offsetof(Move, count) == 24 &&
              offsetof(Move, to_stride) == 32 && offsetof(Move, from_stride) == 40);
static_assert(sizeof(FlagValue) == 16 && offsetof(FlagList, count) == 256);

}  // namespace

Launches::~Launches() {
  for (const auto& [device, loaded] : loaded_)
    (void)error_of([&, number = device, module = loaded.module] {
      const Current current(driver_, contexts_.of(number), Current::IfPossible::if_possible);
      driver_.module_unload(module);
    });
}

namespace {

// What the driver says of kernels that are for other devices, or by a newer compiler than its own.
bool are_for_others(int result) {
  constexpr std::array results = {invalid_image, no_binary_for_device, invalid_assembly,
                                  no_assembler, newer_assembly};
  return std::ranges::find(results, result) != results.end();
}

}  // namespace

// The device's context is current.
Launches::Loaded Launches::load(int device) const {
  Loaded loaded;
  if (!built_.empty()) {
    const int result = driver_.module_load.result(&loaded.module, built_.data());
    if (loaded.built = result == success; loaded.built) return loaded;
    if (!are_for_others(result)) driver_.module_load.check(result);
  }
  const int capability = 10 * contexts_.attribute(device, capability_major) +
                         contexts_.attribute(device, capability_minor);
  const std::string image = compiled_kernels(kernels_source, capability, driver_.version(), cache_);
  driver_.module_load(&loaded.module, image.c_str());
  return loaded;
}

bool Launches::by_nvcc(int device) {
  const Current current(driver_, contexts_.of(device));
  return loaded(device).built;
}

// The device's context is current.
const Launches::Loaded& Launches::loaded(int device) {
  if (const auto found = loaded_.find(device); found != loaded_.end()) return found->second;
  Loaded loaded = load(device);
  const std::optional<Error> error = error_of([&] {
    driver_.module_get_kernel(&loaded.move, loaded.module, "move_tiles");
    driver_.module_get_kernel(&loaded.write_flags, loaded.module, "write_flags");
    driver_.module_get_kernel(&loaded.wait_flags, loaded.module, "wait_flags");
    loaded_.emplace(device, loaded);
  });
  if (!error) return loaded_.at(device);
  (void)driver_.module_unload.result(loaded.module);
  throw *error;
}

// ---- tables

// In a stream of its own: other copies from the host would wait for streams of the program.
void Launches::upload(Address to, std::span<const Move> moves) const {
  Stream stream = nullptr;
  driver_.stream_create(&stream, stream_beside_the_null_stream);
  const std::optional<Error> error = error_of([&] {
    driver_.copy_async(to, reinterpret_cast<std::uintptr_t>(moves.data()), moves.size_bytes(),
                       stream);
    driver_.stream_synchronize(stream);
  });
  driver_.stream_destroy(stream);
  if (error) throw *error;
}

Table Launches::make_table(int device, std::span<const Move> moves) {
  const Current current(driver_, contexts_.of(device));
  const std::vector<Move> tiles = cut_into_tiles(moves, bytes_of_a_block);
  Table table{device, 0, checked_cast<std::int32_t>(tiles.size(), "pieces of a table") + 0u};
  if (tiles.empty()) return table;
  (void)loaded(device);  // before the first launch, which then takes no time
  driver_.memory_allocate(&table.moves, tiles.size() * sizeof(Move));
  if (const std::optional<Error> error = error_of([&] { upload(table.moves, tiles); })) {
    (void)driver_.memory_free.result(table.moves);
    throw *error;
  }
  return table;
}

void Launches::free_table(const Table& table) const {
  if (!table.moves) return;
  const Current current(driver_, contexts_.of(table.device), Current::IfPossible::if_possible);
  driver_.memory_free(table.moves);
}

// ---- launches

void Launches::launch(Kernel kernel, unsigned blocks, unsigned threads_of_a_block, Stream stream,
                      void* argument) {
  std::array<void*, 1> arguments = {argument};
  driver_.launch(kernel, blocks, 1, 1, threads_of_a_block, 1, 1, 0, stream, arguments.data(),
                 nullptr);
}

void Launches::move(Stream stream, const Table& table) {
  if (table.count == 0) return;
  Address moves = table.moves;
  launch(loaded(table.device).move, table.count, threads, stream, &moves);
}

void Launches::by_one_thread(Kernel kernel, Stream stream, std::span<const FlagValue> flags) {
  FlagList list{};
  while (!flags.empty()) {
    list.count = static_cast<unsigned>(std::min(flags.size(), list.of.size()));
    std::copy_n(flags.begin(), list.count, list.of.begin());
    launch(kernel, 1, 1, stream, &list);
    flags = flags.subspan(list.count);
  }
}

void Launches::write_flags(int device, Stream stream, std::span<const FlagValue> flags) {
  by_one_thread(loaded(device).write_flags, stream, flags);
}

void Launches::wait_flags(int device, Stream stream, std::span<const FlagValue> flags) {
  by_one_thread(loaded(device).wait_flags, stream, flags);
}

}  // namespace tonari::cuda
