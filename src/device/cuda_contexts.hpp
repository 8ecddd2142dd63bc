// SPDX-License-Identifier: BSD-3-Clause
// The devices that CUDA's driver shows this process, and the context of each: the primary one,
// which CUDA's runtime and frameworks use, too. It is taken when the device is first used.
#pragma once

#include <vector>

#include "device/cuda_driver.hpp"
#include "device/device.hpp"

namespace tonari::cuda {

// One context is current for the calling thread meanwhile, and what was current before is again
// afterwards.
class Current {
 public:
  // To give something back: that goes on where the driver refuses the context.
  enum class IfPossible : std::uint8_t { if_possible };

  Current(const Driver& driver, Context context) : driver_(driver), pushed_(true) {
    driver.context_push_current(context);
  }
  Current(const Driver& driver, Context context, IfPossible)
      : driver_(driver),
        pushed_(context && driver.context_push_current.result(context) == success) {}
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    Context popped = nullptr;
    if (pushed_) (void)driver_.context_pop_current.result(&popped);
  }

 private:
  const Driver& driver_;
  bool pushed_;
};

class Contexts {
 public:
  explicit Contexts(const Driver& driver);
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;
  ~Contexts();

  const Driver& driver() const { return driver_; }
  int count() const { return static_cast<int>(devices_.size()); }
  void check(int device) const;  // throws Errc::argument if there is none of this number
  int attribute(int device, int which) const;
  const Uuid& uuid(int device) const { return devices_[static_cast<std::size_t>(device)].uuid; }
  int find(const Uuid& uuid) const;  // -1: this process does not see it
  // Whether all devices have it; then it is not 0.
  bool all_have(int attribute) const;

  Context of(int device) const;
  // Of the program's streams, also of the special ones. Throws Errc::argument where the stream is
  // one of another context than the device's primary one.
  int device_of(DeviceStream stream) const;
  Context context_of(DeviceStream stream) const;

  bool reaches(int device, int other) const;
  // From now on work of `device` reaches memory of `other`. Throws Errc::argument if it cannot.
  void enable(int device, int other) const;

 private:
  struct One {
    Ordinal ordinal;
    Uuid uuid;
    mutable Context context = nullptr;
    mutable std::vector<bool> enabled;  // for these others
  };
  const One& at(int device) const;

  const Driver& driver_;
  std::vector<One> devices_;
};

inline Stream stream_of(DeviceStream stream) { return reinterpret_cast<Stream>(stream.value); }

}  // namespace tonari::cuda
