// SPDX-License-Identifier: BSD-3-Clause
// What src/device/cuda_driver.hpp says of CUDA's driver, beside NVIDIA's own header where the
// machine has it: this is compiled, and then there is nothing left to run.
#include <gtest/gtest.h>

#if __has_include(<cuda.h>)
#include <cuda.h>

#include <cstddef>
#include <type_traits>

#include "device/cuda_driver.hpp"

namespace tonari::cuda {
namespace {

// Alike where calls are concerned: both are pointers, or numbers of one size, or structures.
template <class Ours, class Theirs>
constexpr bool alike =
    sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
    std::is_class_v<Ours> == std::is_class_v<Theirs> &&
    std::is_signed_v<Ours> <= (std::is_signed_v<Theirs> || std::is_enum_v<Theirs>);

template <class Ours, class Theirs>
struct Same : std::false_type {};
template <class... Ours, class... Theirs>
struct Same<int(Ours...), CUresult(Theirs...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(Ours) == sizeof...(Theirs))
      return (alike<Ours, Theirs> && ...);
    else
      return false;
  }();
};
template <class Function, class Theirs>
constexpr bool same = Same<typename Function::Signature, Theirs>::value;

#define SAME(ours, theirs) static_assert(same<decltype(Driver::ours), decltype(theirs)>, #theirs)
SAME(get_error_name, cuGetErrorName);
SAME(get_error_string, cuGetErrorString);
SAME(init, cuInit);
SAME(driver_get_version, cuDriverGetVersion);
SAME(device_get_count, cuDeviceGetCount);
SAME(device_get, cuDeviceGet);
SAME(device_get_attribute, cuDeviceGetAttribute);
SAME(device_get_uuid, cuDeviceGetUuid);
SAME(primary_context_retain, cuDevicePrimaryCtxRetain);
SAME(primary_context_release, cuDevicePrimaryCtxRelease);
SAME(context_push_current, cuCtxPushCurrent);
SAME(context_pop_current, cuCtxPopCurrent);
SAME(device_can_access_peer, cuDeviceCanAccessPeer);
SAME(context_enable_peer_access, cuCtxEnablePeerAccess);
SAME(pointer_get_attributes, cuPointerGetAttributes);
SAME(memory_get_info, cuMemGetInfo);
SAME(memory_allocate, cuMemAlloc);
SAME(memory_free, cuMemFree);
SAME(host_allocate, cuMemHostAlloc);
SAME(host_free, cuMemFreeHost);
SAME(managed_allocate, cuMemAllocManaged);
SAME(copy_async, cuMemcpyAsync);
SAME(ipc_get_handle, cuIpcGetMemHandle);
SAME(ipc_open_handle, cuIpcOpenMemHandle);
SAME(ipc_close_handle, cuIpcCloseMemHandle);
SAME(allocation_granularity, cuMemGetAllocationGranularity);
SAME(allocation_create, cuMemCreate);
SAME(allocation_release, cuMemRelease);
SAME(address_reserve, cuMemAddressReserve);
SAME(address_free, cuMemAddressFree);
SAME(map, cuMemMap);
SAME(unmap, cuMemUnmap);
SAME(set_access, cuMemSetAccess);
SAME(allocation_export, cuMemExportToShareableHandle);
SAME(allocation_import, cuMemImportFromShareableHandle);
SAME(allocation_at, cuMemRetainAllocationHandle);
SAME(allocation_properties, cuMemGetAllocationPropertiesFromHandle);
SAME(stream_create, cuStreamCreate);
SAME(stream_destroy, cuStreamDestroy);
SAME(stream_is_capturing, cuStreamIsCapturing);
SAME(stream_synchronize, cuStreamSynchronize);
SAME(stream_wait_event, cuStreamWaitEvent);
SAME(stream_values, cuStreamBatchMemOp);
SAME(event_create, cuEventCreate);
SAME(event_destroy, cuEventDestroy);
SAME(event_record, cuEventRecord);
SAME(event_query, cuEventQuery);
SAME(event_synchronize, cuEventSynchronize);
SAME(module_load, cuModuleLoadData);
SAME(module_unload, cuModuleUnload);
SAME(module_get_kernel, cuModuleGetFunction);
SAME(launch, cuLaunchKernel);

#define NUMBER(ours, theirs) static_assert(int(ours) == int(theirs), #theirs)
NUMBER(invalid_value, CUDA_ERROR_INVALID_VALUE);
NUMBER(out_of_memory, CUDA_ERROR_OUT_OF_MEMORY);
NUMBER(no_device, CUDA_ERROR_NO_DEVICE);
NUMBER(invalid_device, CUDA_ERROR_INVALID_DEVICE);
NUMBER(invalid_image, CUDA_ERROR_INVALID_IMAGE);
NUMBER(invalid_context, CUDA_ERROR_INVALID_CONTEXT);
NUMBER(no_binary_for_device, CUDA_ERROR_NO_BINARY_FOR_GPU);
NUMBER(ecc_uncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
NUMBER(invalid_assembly, CUDA_ERROR_INVALID_PTX);
NUMBER(no_assembler, CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
NUMBER(newer_assembly, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
NUMBER(invalid_handle, CUDA_ERROR_INVALID_HANDLE);
NUMBER(not_ready, CUDA_ERROR_NOT_READY);
NUMBER(illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS);
NUMBER(peer_access_already_enabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
NUMBER(launch_timeout, CUDA_ERROR_LAUNCH_TIMEOUT);
NUMBER(failed_assertion, CUDA_ERROR_ASSERT);
NUMBER(hardware_stack_error, CUDA_ERROR_HARDWARE_STACK_ERROR);
NUMBER(launch_failed, CUDA_ERROR_LAUNCH_FAILED);
NUMBER(first_of_capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
NUMBER(last_of_capture, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
NUMBER(unified_addressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
NUMBER(capability_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
NUMBER(capability_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
NUMBER(flushes_remote_writes, CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES);
NUMBER(virtual_memory, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
NUMBER(handles_by_descriptor, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
NUMBER(shown_to_adapters, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED);
NUMBER(exported_as_dma_buf, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED);
NUMBER(value_operations, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS);
NUMBER(attribute_type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
NUMBER(attribute_is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED);
NUMBER(attribute_device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
NUMBER(attribute_is_legacy_capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE);
NUMBER(attribute_range_start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
NUMBER(attribute_range_size, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
NUMBER(attribute_pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE);
NUMBER(attribute_mapping_size, CU_POINTER_ATTRIBUTE_MAPPING_SIZE);
NUMBER(attribute_mapping_base, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR);
NUMBER(type_host, CU_MEMORYTYPE_HOST);
NUMBER(type_device, CU_MEMORYTYPE_DEVICE);
NUMBER(lazy_peer_access, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
NUMBER(pinned_allocation, CU_MEM_ALLOCATION_TYPE_PINNED);
NUMBER(at_device, CU_MEM_LOCATION_TYPE_DEVICE);
NUMBER(by_descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
NUMBER(read_write, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
NUMBER(minimum_granularity, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
NUMBER(wait_value_64, CU_STREAM_MEM_OP_WAIT_VALUE_64);
NUMBER(write_value_64, CU_STREAM_MEM_OP_WRITE_VALUE_64);
NUMBER(wait_until_at_least, CU_STREAM_WAIT_VALUE_GEQ);
NUMBER(wait_then_flush, CU_STREAM_WAIT_VALUE_FLUSH);
NUMBER(write_behind_all, CU_STREAM_WRITE_VALUE_DEFAULT);
NUMBER(portable_host_memory, CU_MEMHOSTALLOC_PORTABLE);
NUMBER(mapped_host_memory, CU_MEMHOSTALLOC_DEVICEMAP);
NUMBER(attached_globally, CU_MEM_ATTACH_GLOBAL);
NUMBER(stream_beside_the_null_stream, CU_STREAM_NON_BLOCKING);
NUMBER(event_without_time, CU_EVENT_DISABLE_TIMING);

#define PLACE(ours, member, theirs, other) \
  static_assert(offsetof(ours, member) == offsetof(theirs, other), #theirs "." #other)
static_assert(sizeof(AllocationProperties) == sizeof(CUmemAllocationProp));
PLACE(AllocationProperties, handle_types, CUmemAllocationProp, requestedHandleTypes);
PLACE(AllocationProperties, location, CUmemAllocationProp, location);
PLACE(AllocationProperties, windows, CUmemAllocationProp, win32HandleMetaData);
PLACE(AllocationProperties, usage, CUmemAllocationProp, allocFlags.usage);
static_assert(sizeof(Location) == sizeof(CUmemLocation));
PLACE(Location, number, CUmemLocation, id);
static_assert(sizeof(Access) == sizeof(CUmemAccessDesc));
PLACE(Access, flags, CUmemAccessDesc, flags);
static_assert(sizeof(ValueOperation) == sizeof(CUstreamBatchMemOpParams));
PLACE(ValueOperation, address, CUstreamBatchMemOpParams, waitValue.address);
PLACE(ValueOperation, value, CUstreamBatchMemOpParams, waitValue.value64);
PLACE(ValueOperation, flags, CUstreamBatchMemOpParams, waitValue.flags);
PLACE(ValueOperation, value, CUstreamBatchMemOpParams, writeValue.value64);
static_assert(sizeof(Uuid) == sizeof(CUuuid) && sizeof(IpcHandle) == sizeof(CUipcMemHandle));

}  // namespace
}  // namespace tonari::cuda

TEST(CudaPrototypes, AreThoseOfTheHeader) {}
#else
TEST(CudaPrototypes, AreThoseOfTheHeader) { GTEST_SKIP() << "there is no cuda.h"; }
#endif
