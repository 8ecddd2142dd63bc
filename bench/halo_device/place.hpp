// SPDX-License-Identifier: BSD-3-Clause
// Where the benchmark of devices runs: a device, and what programs do there without tonari.
#pragma once

#include <memory>
#include <string>

#include "device/device.hpp"
#include "halo_device/stencils.hpp"

namespace bench::halo {

class Place {
 public:
  virtual ~Place() = default;
  virtual tonari::Device& device() = 0;
  virtual std::string name() const = 0;
  virtual bool simulated() const = 0;  // then times mean nothing

  // What a program's own call of its driver does, without checks in between.
  virtual void copy(tonari::DeviceStream stream, std::byte* to, const std::byte* from,
                    tonari::Bytes bytes) = 0;
  // One block of threads that finds nothing to do.
  virtual void launch_nothing(tonari::DeviceStream stream) = 0;
  virtual void run(tonari::DeviceStream stream, const Stencil& stencil,
                   const StencilCall& call) = 0;
};

// `name`: cuda, simulated, or auto: CUDA where it has a device. Throws tonari::Error.
std::unique_ptr<Place> make_place(const std::string& name);

}  // namespace bench::halo
