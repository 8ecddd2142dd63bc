// SPDX-License-Identifier: BSD-3-Clause
// What tests ask of the library that plays CUDA's driver (libcuda.so.1, fake_driver.cpp): it works
// on simulated devices, and can let any call fail.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "device/simulated_device.hpp"

namespace tonari::test {

// Memory that programs get of CUDA in ways that the device's interface has not.
enum class ForeignMemory { pool, without_handle };

class FakeDriver {
 public:
  virtual ~FakeDriver() = default;

  // Forgets everything, and works on these devices from now on.
  virtual void drive(SimulatedDevice& device) = 0;
  virtual SimulatedDevice& driven() = 0;

  int version = 12040;
  Bytes most = ~Bytes{0};          // of an allocation: what is beyond is not there
  std::map<int, int> attributes;   // of all devices, where they are not what most devices have
  int fails_at = -1;               // this call, counted from 0,
  int fails_with = 999;            // has this result
  std::vector<std::string> calls;  // by name
  std::string said;                // by the simulation, of what it refused last

  // What was taken and not given back, by name.
  virtual std::vector<std::string> held() const = 0;
  virtual std::byte* allocate(ForeignMemory kind, Bytes bytes) = 0;
  virtual void begin_capture(DeviceStream stream) = 0;
  virtual void end_capture(DeviceStream stream) = 0;
};

// The one that the dynamic linker finds: LD_LIBRARY_PATH begins with its folder.
inline FakeDriver& fake_driver() {
  static FakeDriver* const found = [] {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void* const fake = library ? dlsym(library, "tonari_fake_driver") : nullptr;
    if (!fake) throw std::runtime_error("the first libcuda.so.1 is not the tests' own");
    return reinterpret_cast<FakeDriver* (*)()>(fake)();
  }();
  return *found;
}

// The calls of the compiler that is played beside it, and which of them fails.
struct FakeCompiler {
  int version_minor = 4;
  std::vector<int> architectures{75, 80, 90};
  int calls = 0, compilations = 0, fails_at = -1;
  int programs = 0;  // that were made and not destroyed
};
inline FakeCompiler& fake_compiler() {
  static FakeCompiler* const found = [] {
    void* const library = dlopen("libnvrtc.so.12", RTLD_NOW | RTLD_LOCAL);
    void* const fake = library ? dlsym(library, "tonari_fake_compiler") : nullptr;
    if (!fake) throw std::runtime_error("the first libnvrtc.so.12 is not the tests' own");
    return reinterpret_cast<FakeCompiler* (*)()>(fake)();
  }();
  return *found;
}

}  // namespace tonari::test
