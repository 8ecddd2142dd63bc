// SPDX-License-Identifier: BSD-3-Clause
// The device of these tests: one of CUDA if TONARI_TEST_DEVICE is cuda, which the library then
// opens for itself, and otherwise a simulated one. Tests use nothing but the interface of devices,
// so they run on both. `make test-gpu` runs them on a GPU that all ranks share.
#pragma once

#include <cstdlib>
#include <string_view>

#include "device/any_device.hpp"
#include "device/cuda_device.hpp"
#include "device/present_device.hpp"
#include "device/simulated_device.hpp"
#include "support/graph_exchange.hpp"

namespace tonari::test {

inline bool on_cuda() {
  const char* const wanted = std::getenv("TONARI_TEST_DEVICE");
  return wanted && std::string_view(wanted) == "cuda";
}

class OnDeviceOfAnyKind : public GraphExchange {
 protected:
  // The driver of CUDA stays open, as in a program.
  static void SetUpTestSuite() {
    if (on_cuda())
      made() = std::make_shared<CudaDevice>();
    else
      use_device(made() = std::make_shared<SimulatedDevice>());
    program() = std::make_unique<ProgramOnDevice>(made());
  }
  static void TearDownTestSuite() {
    program().reset();
    use_device(nullptr);
    made().reset();
  }
  static ProgramOnDevice& on() { return *program(); }

 private:
  static std::shared_ptr<Device>& made() {
    static std::shared_ptr<Device> device;
    return device;
  }
  static std::unique_ptr<ProgramOnDevice>& program() {
    static std::unique_ptr<ProgramOnDevice> program;
    return program;
  }
};

// A side of a call in memory of the device; the host's is the copy that is looked at.
class SideOnDevice {
 public:
  SideOnDevice(ProgramOnDevice& program, Side& side)
      : program_(program),
        held_(program.device),
        side_(side),
        at_(held_.allocate(MemoryKind::device, 0, side.memory.size())) {
    side.elsewhere = reinterpret_cast<Byte*>(at_);
  }
  void put() {
    through_pinned([&](std::byte* here, std::size_t bytes) {
      std::memcpy(here, side_.memory.data(), bytes);
      copy(at_, here, bytes);
    });
  }
  void get() {
    through_pinned([&](std::byte* here, std::size_t bytes) {
      copy(here, at_, bytes);
      std::memcpy(side_.memory.data(), here, bytes);
    });
  }

 private:
  template <class Use>
  void through_pinned(const Use& use) {
    HeldOnDevice pinned(program_.device);
    const std::size_t bytes = side_.memory.size();
    use(pinned.allocate(MemoryKind::pinned, 0, bytes), bytes);
  }
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    program_.device.copy(program_.first, to, from, bytes);
    program_.device.synchronize(program_.first);
  }

  ProgramOnDevice& program_;
  HeldOnDevice held_;
  Side& side_;
  std::byte* at_;
};

}  // namespace tonari::test
