// SPDX-License-Identifier: BSD-3-Clause
#include "device/cuda_contexts.hpp"

#include <algorithm>

namespace tonari::cuda {

Contexts::Contexts(const Driver& driver) : driver_(driver) {
  int count = 0;
  driver.device_get_count(&count);
  for (int number = 0; number < count; ++number) {
    One one{};
    driver.device_get(&one.ordinal, number);
    driver.device_get_uuid(&one.uuid, one.ordinal);
    one.enabled.assign(static_cast<std::size_t>(count), false);
    devices_.push_back(std::move(one));
  }
  if (devices_.empty()) driver.device_get_count.check(no_device);
}

Contexts::~Contexts() {
  for (const One& one : devices_)
    if (one.context) (void)driver_.primary_context_release.result(one.ordinal);
}

void Contexts::check(int device) const {
  if (device < 0 || device >= count())
    fail(Errc::argument, "there is no device ", device, ", only ", count(), " from 0 on");
}

const Contexts::One& Contexts::at(int device) const {
  check(device);
  return devices_[static_cast<std::size_t>(device)];
}

int Contexts::attribute(int device, int which) const {
  int value = 0;
  driver_.device_get_attribute(&value, which, at(device).ordinal);
  return value;
}

bool Contexts::all_have(int which) const {
  for (int device = 0; device < count(); ++device)
    if (attribute(device, which) == 0) return false;
  return true;
}

int Contexts::find(const Uuid& uuid) const {
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const One& one) { return one.uuid == uuid; });
  return found == devices_.end() ? -1 : static_cast<int>(found - devices_.begin());
}

Context Contexts::of(int device) const {
  const One& one = at(device);
  if (!one.context) driver_.primary_context_retain(&one.context, one.ordinal);
  return one.context;
}

// ---- streams

// The special streams are those of the current context, and of the first device where none is.
Context Contexts::context_of(DeviceStream stream) const {
  Context context = nullptr;
  const int result = driver_.stream_get_context.result(stream_of(stream), &context);
  if (result == invalid_context) return of(0);
  driver_.stream_get_context.check(result);
  return context;
}

int Contexts::device_of(DeviceStream stream) const {
  const Context context = context_of(stream);
  for (const One& one : devices_)
    if (one.context == context) return static_cast<int>(&one - devices_.data());
  Ordinal ordinal = -1;
  {
    const Current current(driver_, context);
    driver_.context_get_device(&ordinal);
  }
  for (int device = 0; device < count(); ++device)
    if (at(device).ordinal == ordinal && of(device) == context) return device;
  fail(Errc::argument,
       "the stream is one of a context of its own; make it in the device's primary context, which "
       "CUDA's runtime uses");
}

// ---- peers

bool Contexts::reaches(int device, int other) const {
  if (device == other) return true;
  int can = 0;
  driver_.device_can_access_peer(&can, at(device).ordinal, at(other).ordinal);
  return can != 0;
}

void Contexts::enable(int device, int other) const {
  if (device == other) return;
  auto enabled = at(device).enabled.begin() + other;
  if (*enabled) return;
  if (!reaches(device, other))
    fail(Errc::argument, "work of device ", device, " uses memory of device ", other,
         ", and has no access to it");
  const Current current(driver_, of(device));
  const int result = driver_.context_enable_peer_access.result(of(other), 0);
  if (result != peer_access_already_enabled) driver_.context_enable_peer_access.check(result);
  *enabled = true;
}

}  // namespace tonari::cuda
