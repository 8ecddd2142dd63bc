// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <map>

#include "device/cuda_compiler.hpp"
#include "device/cuda_contexts.hpp"
#include "device/cuda_device.hpp"
#include "device/simulated_device.hpp"
#include "halo_device/place.hpp"
#include "select/cache.hpp"

namespace bench::halo {
namespace {

using tonari::Bytes;
using tonari::DeviceStream;
namespace cuda = tonari::cuda;

class CudaPlace final : public Place {
 public:
  CudaPlace() : device_(tonari::cache_directory()), contexts_(driver_) {
    const cuda::Current current(driver_, contexts_.of(0));
    const int capability = 10 * contexts_.attribute(0, cuda::capability_major) +
                           contexts_.attribute(0, cuda::capability_minor);
    const std::string image = cuda::compiled_kernels(stencils_source, capability, driver_.version(),
                                                     tonari::cache_directory());
    driver_.module_load(&module_, image.c_str());
  }
  ~CudaPlace() override {
    const cuda::Current current(driver_, contexts_.of(0), cuda::Current::IfPossible::if_possible);
    (void)driver_.module_unload.result(module_);
  }

  tonari::Device& device() override { return device_; }
  bool simulated() const override { return false; }
  std::string name() const override {
    const auto quiet = [](const char*, int) { return tonari::Error(tonari::Errc::internal, ""); };
    const tonari::ForeignLibrary library({"libcuda.so.1"}, "", quiet);
    const tonari::ForeignFunction<int(char*, int, cuda::Ordinal)> get_name(library,
                                                                           "cuDeviceGetName");
    std::array<char, 256> name{};
    get_name(name.data(), static_cast<int>(name.size()) - 1, 0);
    return name.data();
  }

  void copy(DeviceStream stream, std::byte* to, const std::byte* from, Bytes bytes) override {
    const cuda::Current current(driver_, contexts_.of(0));
    driver_.copy_async(reinterpret_cast<std::uintptr_t>(to), reinterpret_cast<std::uintptr_t>(from),
                       bytes, cuda::stream_of(stream));
  }
  void launch_nothing(DeviceStream stream) override {
    StencilCall nothing{};
    launch(stream, "seven_on_bricks", 1, nothing);
  }
  void run(DeviceStream stream, const Stencil& stencil, const StencilCall& call) override {
    StencilCall copy = call;
    launch(stream, stencil.kernel(), stencil.blocks(call), copy);
  }

 private:
  void launch(DeviceStream stream, const char* name, unsigned blocks, StencilCall& call) {
    const cuda::Current current(driver_, contexts_.of(0));
    cuda::Kernel& kernel = kernels_[name];
    if (!kernel) driver_.module_get_kernel(&kernel, module_, name);
    std::array<void*, 1> arguments{&call};
    driver_.launch(kernel, blocks, 1, 1, 256, 1, 1, 0, cuda::stream_of(stream), arguments.data(),
                   nullptr);
  }

  tonari::CudaDevice device_;
  cuda::Driver driver_;
  cuda::Contexts contexts_;
  cuda::Module module_ = nullptr;
  std::map<std::string, cuda::Kernel> kernels_;
};

class SimulatedPlace final : public Place {
 public:
  tonari::Device& device() override { return device_; }
  bool simulated() const override { return true; }
  std::string name() const override { return "simulated"; }
  void copy(DeviceStream stream, std::byte* to, const std::byte* from, Bytes bytes) override {
    device_.copy(stream, to, from, bytes);
  }
  void launch_nothing(DeviceStream stream) override {
    device_.launch(stream, {}, {}, [] {});
  }
  // Its order is that of a program which waits.
  void run(DeviceStream stream, const Stencil& stencil, const StencilCall& call) override {
    device_.synchronize(stream);
    StencilCall there = call;
    there.in = on_device(call.in), there.out = on_device(call.out);
    there.neighbors = on_device(call.neighbors), there.place = on_device(call.place);
    run_on_host(stencil, there);
  }

 private:
  template <class Value>
  Value* on_device(Value* at) const {
    const auto* const address = reinterpret_cast<const std::byte*>(at);
    return at ? reinterpret_cast<Value*>(device_.on_device(address)) : nullptr;
  }
  tonari::SimulatedDevice device_;
};

}  // namespace

std::unique_ptr<Place> make_place(const std::string& name) {
  if (name == "simulated") return std::make_unique<SimulatedPlace>();
  std::unique_ptr<Place> place;
  const auto none = tonari::error_of([&] { place = std::make_unique<CudaPlace>(); });
  if (none && name == "auto") return std::make_unique<SimulatedPlace>();
  if (none) throw *none;
  return place;
}

}  // namespace bench::halo
