// SPDX-License-Identifier: BSD-3-Clause
// CUDA's driver: what this room calls of libcuda.so.1, by name at run time. Types and numbers are
// those of its binary interface, under the pages of NVIDIA's "CUDA Driver API" that describe them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "device/foreign_library.hpp"

namespace tonari::cuda {

// ---- "Data types used by CUDA driver"

using Ordinal = int;                    // CUdevice
using Address = unsigned long long;     // CUdeviceptr
using Allocation = unsigned long long;  // CUmemGenericAllocationHandle
using Context = struct ContextOf*;
using Module = struct ModuleOf*;
using Kernel = struct KernelOf*;  // CUfunction
using Stream = struct StreamOf*;
using Event = struct EventOf*;

// CUresult
enum : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  deinitialized = 4,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  no_binary_for_device = 209,
  ecc_uncorrectable = 214,
  invalid_assembly = 218,
  no_assembler = 221,
  newer_assembly = 222,
  invalid_handle = 400,
  not_ready = 600,
  illegal_address = 700,
  launch_timeout = 702,
  peer_access_already_enabled = 704,
  failed_assertion = 710,
  hardware_stack_error = 714,
  launch_failed = 719,
  first_of_capture = 900,  // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
  last_of_capture = 908    // CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
};

// CUdevice_attribute
enum : int {
  unified_addressing = 41,
  capability_major = 75,
  capability_minor = 76,
  flushes_remote_writes = 98,
  virtual_memory = 102,
  handles_by_descriptor = 103,
  shown_to_adapters = 116,  // GPU_DIRECT_RDMA_SUPPORTED
  value_operations = 122,   // CAN_USE_64_BIT_STREAM_MEM_OPS
  exported_as_dma_buf = 124
};

// CUpointer_attribute, and CUmemorytype
enum : int {
  attribute_type = 2,
  attribute_is_managed = 8,
  attribute_device = 9,
  attribute_is_legacy_capable = 10,
  attribute_range_start = 11,
  attribute_range_size = 12,
  attribute_pool = 17,
  attribute_mapping_size = 18,
  attribute_mapping_base = 19
};
enum : unsigned { type_host = 1, type_device = 2 };

struct Uuid {
  std::array<std::byte, 16> bytes;
  friend bool operator==(const Uuid&, const Uuid&) = default;
};
struct IpcHandle {  // CUipcMemHandle
  std::array<std::byte, 64> bytes;
};
constexpr unsigned lazy_peer_access = 1;

// CUmemAllocationProp, CUmemLocation, CUmemAccessDesc and their enumerations
constexpr int pinned_allocation = 1, at_device = 1, by_descriptor = 1, read_write = 3;
constexpr int minimum_granularity = 0;
struct Location {
  int type = at_device;
  int number = 0;
};
struct AllocationProperties {
  int type = pinned_allocation;
  int handle_types = 0;
  Location location;
  void* windows = nullptr;
  unsigned char compression = 0, remote_access = 0;
  unsigned short usage = 0;
  unsigned char reserved[4] = {};
};
struct Access {
  Location location;
  int flags = read_write;
};

// CUstreamBatchMemOpParams: a union whose members all have this form, padded to six words.
constexpr int wait_value_64 = 4, write_value_64 = 5;
constexpr unsigned wait_until_at_least = 0, wait_then_flush = 1u << 30, write_behind_all = 0;
constexpr std::size_t most_value_operations = 255;  // of a batch: "must be less than 256"
struct ValueOperation {
  int operation = 0;
  Address address = 0;
  std::uint64_t value = 0;
  unsigned flags = 0;
  Address alias = 0;
  std::uint64_t padding = 0;
};

constexpr unsigned portable_host_memory = 1, mapped_host_memory = 2;  // CU_MEMHOSTALLOC_...
constexpr unsigned attached_globally = 1;                             // CU_MEM_ATTACH_GLOBAL
constexpr unsigned stream_beside_the_null_stream = 1;                 // CU_STREAM_NON_BLOCKING
constexpr unsigned event_without_time = 2;                            // CU_EVENT_DISABLE_TIMING

// ---- functions

class Driver {
 public:
  // The oldest that has all of this; it also loads what NVRTC of CUDA 12 compiles.
  static constexpr int oldest = 12000;  // CUDA 12.0

  // Opens and initializes it. Throws Errc::argument where there is none, where it is too old, or
  // where it has no device.
  Driver();
  int version() const { return version_; }  // 12040: CUDA 12.4

 private:
  template <class Signature>
  using F = ForeignFunction<Signature>;
  Error meaning(const char* function, int result) const;

  ForeignLibrary library_;
  int version_ = 0;

 public:
  // "Error Handling", "Initialization", "Version Management"
  F<int(int, const char**)> get_error_name{library_, "cuGetErrorName"};
  F<int(int, const char**)> get_error_string{library_, "cuGetErrorString"};
  F<int(unsigned)> init{library_, "cuInit"};
  F<int(int*)> driver_get_version{library_, "cuDriverGetVersion"};

  // "Device Management", "Primary Context Management", "Context Management"
  F<int(int*)> device_get_count{library_, "cuDeviceGetCount"};
  F<int(Ordinal*, int)> device_get{library_, "cuDeviceGet"};
  F<int(int*, int, Ordinal)> device_get_attribute{library_, "cuDeviceGetAttribute"};
  F<int(Uuid*, Ordinal)> device_get_uuid{library_, "cuDeviceGetUuid_v2"};
  F<int(Context*, Ordinal)> primary_context_retain{library_, "cuDevicePrimaryCtxRetain"};
  F<int(Ordinal)> primary_context_release{library_, "cuDevicePrimaryCtxRelease_v2"};
  F<int(Context)> context_push_current{library_, "cuCtxPushCurrent_v2"};
  F<int(Context*)> context_pop_current{library_, "cuCtxPopCurrent_v2"};
  F<int(Ordinal*)> context_get_device{library_, "cuCtxGetDevice"};

  // "Peer Context Memory Access", "Unified Addressing"
  F<int(int*, Ordinal, Ordinal)> device_can_access_peer{library_, "cuDeviceCanAccessPeer"};
  F<int(Context, unsigned)> context_enable_peer_access{library_, "cuCtxEnablePeerAccess"};
  F<int(unsigned, int*, void**, Address)> pointer_get_attributes{library_,
                                                                 "cuPointerGetAttributes"};

  // "Memory Management"
  F<int(std::size_t*, std::size_t*)> memory_get_info{library_, "cuMemGetInfo_v2"};
  F<int(Address*, std::size_t)> memory_allocate{library_, "cuMemAlloc_v2"};
  F<int(Address)> memory_free{library_, "cuMemFree_v2"};
  F<int(void**, std::size_t, unsigned)> host_allocate{library_, "cuMemHostAlloc"};
  F<int(void*)> host_free{library_, "cuMemFreeHost"};
  F<int(Address*, std::size_t, unsigned)> managed_allocate{library_, "cuMemAllocManaged"};
  F<int(Address, const void*, std::size_t)> copy_to_device{library_, "cuMemcpyHtoD_v2"};
  F<int(Address, Address, std::size_t, Stream)> copy_async{library_, "cuMemcpyAsync"};
  F<int(IpcHandle*, Address)> ipc_get_handle{library_, "cuIpcGetMemHandle"};
  F<int(Address*, IpcHandle, unsigned)> ipc_open_handle{library_, "cuIpcOpenMemHandle_v2"};
  F<int(Address)> ipc_close_handle{library_, "cuIpcCloseMemHandle"};

  // "Virtual Memory Management"
  F<int(std::size_t*, const AllocationProperties*, int)> allocation_granularity{
      library_, "cuMemGetAllocationGranularity"};
  F<int(Allocation*, std::size_t, const AllocationProperties*, unsigned long long)>
      allocation_create{library_, "cuMemCreate"};
  F<int(Allocation)> allocation_release{library_, "cuMemRelease"};
  F<int(Address*, std::size_t, std::size_t, Address, unsigned long long)> address_reserve{
      library_, "cuMemAddressReserve"};
  F<int(Address, std::size_t)> address_free{library_, "cuMemAddressFree"};
  F<int(Address, std::size_t, std::size_t, Allocation, unsigned long long)> map{library_,
                                                                                "cuMemMap"};
  F<int(Address, std::size_t)> unmap{library_, "cuMemUnmap"};
  F<int(Address, std::size_t, const Access*, std::size_t)> set_access{library_, "cuMemSetAccess"};
  F<int(void*, Allocation, int, unsigned long long)> allocation_export{
      library_, "cuMemExportToShareableHandle"};
  F<int(Allocation*, void*, int)> allocation_import{library_, "cuMemImportFromShareableHandle"};
  F<int(Allocation*, void*)> allocation_at{library_, "cuMemRetainAllocationHandle"};
  F<int(AllocationProperties*, Allocation)> allocation_properties{
      library_, "cuMemGetAllocationPropertiesFromHandle"};

  // "Stream Management", "Event Management", "Stream Memory Operations"
  F<int(Stream*, unsigned)> stream_create{library_, "cuStreamCreate"};
  F<int(Stream)> stream_destroy{library_, "cuStreamDestroy_v2"};
  F<int(Stream, Context*)> stream_get_context{library_, "cuStreamGetCtx"};
  F<int(Stream, int*)> stream_is_capturing{library_, "cuStreamIsCapturing"};
  F<int(Stream)> stream_synchronize{library_, "cuStreamSynchronize"};
  F<int(Stream, Event, unsigned)> stream_wait_event{library_, "cuStreamWaitEvent"};
  F<int(Stream, unsigned, ValueOperation*, unsigned)> stream_values{library_,
                                                                    "cuStreamBatchMemOp_v2"};
  F<int(Event*, unsigned)> event_create{library_, "cuEventCreate"};
  F<int(Event)> event_destroy{library_, "cuEventDestroy_v2"};
  F<int(Event, Stream)> event_record{library_, "cuEventRecord"};
  F<int(Event)> event_query{library_, "cuEventQuery"};
  F<int(Event)> event_synchronize{library_, "cuEventSynchronize"};

  // "Module Management", "Execution Control"
  F<int(Module*, const void*)> module_load{library_, "cuModuleLoadData"};
  F<int(Module)> module_unload{library_, "cuModuleUnload"};
  F<int(Kernel*, Module, const char*)> module_get_kernel{library_, "cuModuleGetFunction"};
  F<int(Kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,
        void**, void**)>
      launch{library_, "cuLaunchKernel"};
};

}  // namespace tonari::cuda
