// SPDX-License-Identifier: BSD-3-Clause
// Plays CUDA's driver for programs that have no simulated devices of their own, as those in Python:
// it makes them. And what such programs and their libraries ask of it beside this library.
#include <memory>
#include <string>

#include "device/cuda/fake_state.hpp"

using namespace tonari;
using namespace tonari::test;
using namespace tonari::cuda;

// Devices from now on, and an order in which their streams run.
VISIBLE void tonari_fake_devices(int devices, unsigned long long seed) {
  static std::unique_ptr<SimulatedDevice>& made = *new std::unique_ptr<SimulatedDevice>;
  SimulatedOptions options;
  options.devices = devices;
  auto next = std::make_unique<SimulatedDevice>(options, seed);
  fake().drive(*next);
  made = std::move(next);
}

// What was taken and not given back, in words. Valid until the next call.
VISIBLE const char* tonari_fake_held() {
  static std::string& words = *new std::string;
  words.clear();
  for (const std::string& some : fake().held()) words += (words.empty() ? "" : ", ") + some;
  return words.c_str();
}

// Of what the simulation refused last, in words. Valid until it refuses something else.
VISIBLE const char* tonari_fake_said() { return fake().said.c_str(); }

// Unlike the function for several attributes, it fails for memory of the host.
VISIBLE int cuPointerGetAttribute(void* to, int which, Address address) {
  return fake().call("cuPointerGetAttribute", [&] {
    const bool known =
        fake().sim && (fake().shown_at(address) ||
                       fake().sim->memory_at(bytes_at(address)).kind != MemoryKind::host);
    if (!known) throw Result{invalid_value};
    fake().answer(which, to, address);
  });
}
