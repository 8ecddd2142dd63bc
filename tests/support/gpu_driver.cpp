// SPDX-License-Identifier: BSD-3-Clause
// Plays a driver that a program loads: CUDA's, or HIP's runtime if TONARI_PLAYS_HIP is defined.
// What it calls memory of a GPU is memory of the host, so that tests have an address that works.
#include <cstdint>
#include <cstring>

namespace {

enum class Kind : int { unknown, device, managed, pinned };

struct Known {
  std::uintptr_t first = 0, end = 0;
  Kind kind = Kind::unknown;
} known;

Kind kind_of(std::uintptr_t address) {
  return address >= known.first && address < known.end ? known.kind : Kind::unknown;
}

}  // namespace

#define VISIBLE extern "C" __attribute__((visibility("default")))

// From now on this piece of memory is of a kind (1: device, 2: managed, 3: pinned), and no other.
VISIBLE void gpu_driver_knows(const void* address, std::size_t bytes, int kind) {
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  known = {first, first + bytes, static_cast<Kind>(kind)};
}

#ifndef TONARI_PLAYS_HIP
VISIBLE int cuPointerGetAttribute(void* data, int attribute, unsigned long long address) {
  constexpr int invalid_value = 1;
  const Kind kind = kind_of(address);
  if (kind == Kind::unknown) return invalid_value;
  unsigned value = 0;
  if (attribute == 2) value = kind == Kind::pinned ? 1 : 2;
  if (attribute == 8) value = kind == Kind::managed;
  std::memcpy(data, &value, sizeof value);
  return 0;
}
#else
struct Attributes {
  int type, device;
  void *on_device, *on_host;
  int managed;
  unsigned flags;
};
// Versions disagree on what they say of other memory: that it is not known, or an error.
VISIBLE int hipPointerGetAttributes(Attributes* found, const void* address) {
  auto* const at = const_cast<void*>(address);
  const Kind kind = kind_of(reinterpret_cast<std::uintptr_t>(address));
  *found = {};
  if (kind == Kind::unknown) return 0;
  *found = {2, 0, at, kind == Kind::device ? nullptr : at, kind == Kind::managed, 0};
  return 0;
}
#endif
