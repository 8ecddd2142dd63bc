// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/device_copies.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tonari {
namespace {

// Copies lie as their blocks do within so many bytes.
constexpr std::uintptr_t aligned = 256;

std::map<std::size_t, AddressSpan> spaces_of(const Binding& binding) {
  std::map<std::size_t, AddressSpan> spaces;
  for (const auto* side : {&binding.send, &binding.recv})
    for (const Block& block : *side)
      if (block.bytes > 0) spaces[block.space].add(span_of(block));
  return spaces;
}

}  // namespace

DeviceCopies::DeviceCopies(std::shared_ptr<PresentDevice> devices, int number,
                           const Binding& blocks)
    : devices_(std::move(devices)), held_(**devices_) {
  for (const auto& [space, span] : spaces_of(blocks)) {
    if (space == fixed_space)
      fail(Errc::argument, "some of its blocks have addresses that cannot be replaced");
    shifts_.resize(std::max(shifts_.size(), space + 1));
    const std::byte* const copy =
        held_.allocate(MemoryKind::device, number, span.high - span.low + aligned);
    const auto at = (reinterpret_cast<std::uintptr_t>(copy) + aligned - 1) / aligned * aligned;
    shifts_[space] = static_cast<std::ptrdiff_t>(at + span.low % aligned - span.low);
  }
}

}  // namespace tonari
