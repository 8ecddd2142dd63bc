// SPDX-License-Identifier: BSD-3-Clause
// Launches of our kernels: tables of moves, and flags where streams have no operations for them.
// The kernels are loaded into a device's context when it first needs them.
#pragma once

#include <map>
#include <span>
#include <string>

#include "copy/moves.hpp"
#include "device/cuda_contexts.hpp"
#include "device/device.hpp"

namespace tonari::cuda {

// A table in memory of its device: moves that a block of threads performs each.
struct Table {
  int device = -1;
  Address moves = 0;
  unsigned count = 0;
};

class Launches {
 public:
  // built: kernels that the library holds; NVRTC makes those of devices that they are not for.
  Launches(const Contexts& contexts, std::string cache, std::span<const unsigned char> built)
      : contexts_(contexts), driver_(contexts.driver()), cache_(std::move(cache)), built_(built) {}
  Launches(const Launches&) = delete;
  Launches& operator=(const Launches&) = delete;
  ~Launches();

  Table make_table(int device, std::span<const Move> moves);
  void free_table(const Table& table) const;

  // Whether the device runs kernels that the library holds.
  bool by_nvcc(int device);

  // The context of the stream, which is that of the device, is current.
  void move(Stream stream, const Table& table);
  void write_flags(int device, Stream stream, std::span<const FlagValue> flags);
  void wait_flags(int device, Stream stream, std::span<const FlagValue> flags);

 private:
  struct Loaded {
    Module module = nullptr;
    Kernel move = nullptr, write_flags = nullptr, wait_flags = nullptr;
    bool built = false;
  };
  Loaded load(int device) const;
  const Loaded& loaded(int device);
  void upload(Address to, std::span<const Move> moves) const;
  void launch(Kernel kernel, unsigned blocks, unsigned threads, Stream stream, void* argument);
  void by_one_thread(Kernel kernel, Stream stream, std::span<const FlagValue> flags);

  const Contexts& contexts_;
  const Driver& driver_;
  std::string cache_;
  std::span<const unsigned char> built_;
  std::map<int, Loaded> loaded_;  // by device
};

}  // namespace tonari::cuda
