// SPDX-License-Identifier: BSD-3-Clause
// Devices of CUDA, by their driver alone: it is opened at run time, so programs and machines
// without a GPU need nothing of it. A stream has the value of its CUstream or cudaStream_t, and an
// event that of its CUevent.
//
// Any thread may call. What work does wrong on the device, a later call tells.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "device/cuda_compiler.hpp"
#include "device/cuda_contexts.hpp"
#include "device/cuda_driver.hpp"
#include "device/cuda_launches.hpp"
#include "device/cuda_memory.hpp"
#include "device/device.hpp"

namespace tonari {

class CudaDevice final : public Device {
 public:
  // `cache`: a folder for compiled kernels; empty: they are compiled by each process. `built`:
  // those that come first. Throws Errc::argument with a sentence where there is no driver, an old
  // one, or no device.
  explicit CudaDevice(std::string cache = {},
                      std::span<const unsigned char> built = cuda::built_kernels());
  ~CudaDevice() override;

  int devices() const override { return contexts_.count(); }
  Capability ability(Ability which) const override;
  const char* mpi_query() const override { return "MPIX_Query_cuda_support"; }
  // Where the kernels of a device come from. Throws as the first table does.
  std::string describe_kernels(int device);

  MemoryAt memory_at(const void* address) const override;
  std::byte* allocate(MemoryKind kind, int device, Bytes bytes) override;
  void free(std::byte* base) override;
  MemoryHandle export_memory(const std::byte* address) const override;
  std::byte* import_memory(const MemoryHandle& handle) override;
  Bytes granularity(int device) const override;
  DeviceRegion make_region(int device, Bytes bytes) override;
  void free_region(DeviceRegion region) override;
  std::byte* map_regions(std::span<const DeviceRegion> regions) override;

  DeviceStream make_stream(int device) override;
  void end_stream(DeviceStream stream) override;
  int device_of(DeviceStream stream) const override;
  bool captures(DeviceStream stream) const override;
  void synchronize(DeviceStream stream) override;

  void copy(DeviceStream stream, std::byte* to, const std::byte* from, Bytes bytes) override;
  DeviceTable make_table(int device, std::span<const Move> moves) override;
  void free_table(DeviceTable table) override;
  void move(DeviceStream stream, DeviceTable table) override;
  void write_flags(DeviceStream stream, std::span<const FlagValue> flags) override;
  void wait_flags(DeviceStream stream, std::span<const FlagValue> flags) override;

  DeviceEvent make_event(int device) override;
  void end_event(DeviceEvent event) override;
  void record(DeviceStream stream, DeviceEvent event) override;
  void wait_event(DeviceStream stream, DeviceEvent event) override;
  bool query(DeviceEvent event) override;
  void synchronize(DeviceEvent event) override;

 private:
  using Lock = std::lock_guard<std::mutex>;
  cuda::Context context_of(DeviceStream stream) const;
  cuda::Table at(DeviceTable table) const;
  void check_flags(int device, std::span<const FlagValue> flags);
  void by_stream(int device, DeviceStream stream, std::span<const FlagValue> flags, int operation,
                 unsigned how);

  mutable std::mutex mutex_;
  cuda::Driver driver_;
  cuda::Contexts contexts_;
  cuda::Memory memory_;
  cuda::Launches launches_;
  std::map<std::uintptr_t, cuda::Table> tables_;
  std::uintptr_t next_ = 1;                            // number of a table
  std::map<std::uintptr_t, int> events_;               // their devices
  std::set<std::pair<int, const void*>> known_flags_;  // that work of a device may use
  bool value_operations_ = false, flushes_ = false;    // of all devices
};

}  // namespace tonari
