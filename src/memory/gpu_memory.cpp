// SPDX-License-Identifier: BSD-3-Clause
#include "memory/gpu_memory.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <mutex>

#include "base/lasting.hpp"

namespace tonari {

std::atomic<bool> gpu_driver_known{false};

namespace {

// ---- CUDA's driver

// cuPointerGetAttribute(data, attribute, address), and from the enumerations of cuda.h:
using CudaAttribute = int(void*, int, unsigned long long);
constexpr int cuda_memory_type = 2, cuda_is_managed = 8, cuda_device = 2;

// An error means that the driver does not know the address, or is not in use yet.
bool only_cuda_reads(CudaAttribute* ask, const void* address) {
  const auto number = static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(address));
  unsigned type = 0, managed = 0;
  if (ask(&type, cuda_memory_type, number) != 0 || type != cuda_device) return false;
  return ask(&managed, cuda_is_managed, number) != 0 || !managed;
}

// ---- HIP's runtime

// hipPointerAttribute_t, and room for what versions add. The numbers of types differ between
// versions, so addresses tell.
struct HipAttributes {
  int type = 0, device = 0;
  void *on_device = nullptr, *on_host = nullptr;
  int managed = 0;
  char more[64] = {};
};
using HipAttributesOf = int(HipAttributes*, const void*);

bool only_hip_reads(HipAttributesOf* ask, const void* address) {
  HipAttributes found;
  return ask(&found, address) == 0 && found.on_device && !found.on_host && !found.managed;
}

// ---- which of them the program has

struct Drivers {
  std::mutex mutex;
  std::atomic<unsigned long long> loads{0};  // of libraries, ever, when they were looked for
  std::atomic<CudaAttribute*> cuda{nullptr};
  std::atomic<HipAttributesOf*> hip{nullptr};
  std::atomic<OnOtherGpu*> other{nullptr};

  bool any() const { return cuda || hip || other; }
};
Drivers& drivers() { return lasting<Drivers>(); }

int take_loads(dl_phdr_info* library, std::size_t, void* loads) {
  *static_cast<unsigned long long*>(loads) = library->dlpi_adds;
  return 1;
}

struct Search {
  const char* name;  // how the library's file name begins
  const char* found = nullptr;
};

int take_if_named(dl_phdr_info* library, std::size_t, void* search) {
  auto& [name, found] = *static_cast<Search*>(search);
  const char* const slash = std::strrchr(library->dlpi_name, '/');
  const char* const file = slash ? slash + 1 : library->dlpi_name;
  if (std::strncmp(file, name, std::strlen(name)) != 0) return 0;
  found = library->dlpi_name;
  return 1;
}

// A library may have loaded the driver for itself (RTLD_LOCAL), so names alone do not find it.
template <class Function>
Function* function(const char* name, const char* library) {
  if (void* const global = dlsym(RTLD_DEFAULT, name)) return reinterpret_cast<Function*>(global);
  Search search{library};
  if (!dl_iterate_phdr(take_if_named, &search)) return nullptr;
  void* const handle = dlopen(search.found, RTLD_LAZY | RTLD_NOLOAD);
  return handle ? reinterpret_cast<Function*>(dlsym(handle, name)) : nullptr;
}

}  // namespace

void look_for_gpu_drivers() noexcept {
  unsigned long long loads = 0;
  dl_iterate_phdr(take_loads, &loads);
  Drivers& all = drivers();
  if (all.loads.load(std::memory_order_acquire) == loads) return;
  const std::lock_guard lock(all.mutex);
  if (!all.cuda) all.cuda = function<CudaAttribute>("cuPointerGetAttribute", "libcuda.so");
  if (!all.hip) all.hip = function<HipAttributesOf>("hipPointerGetAttributes", "libamdhip64.so");
  gpu_driver_known = all.any();
  all.loads.store(loads, std::memory_order_release);
}

void ask_of_gpu_memory(OnOtherGpu* other) noexcept {
  Drivers& all = drivers();
  const std::lock_guard lock(all.mutex);
  all.other = other;
  gpu_driver_known = all.any();
}

bool asks_gpu_drivers(const void* address) noexcept {
  if (!address) return false;
  CudaAttribute* const cuda = drivers().cuda;
  HipAttributesOf* const hip = drivers().hip;
  OnOtherGpu* const other = drivers().other;
  return (cuda && only_cuda_reads(cuda, address)) || (hip && only_hip_reads(hip, address)) ||
         (other && other(address));
}

}  // namespace tonari
