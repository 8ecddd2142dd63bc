// SPDX-License-Identifier: BSD-3-Clause
// Packed exchanges whose requests were freed. That is local, and ranks free requests in any order;
// but the memory of one is mapped by others. So it stays here until all of them have closed their
// part. Each later call that makes or frees something looks, and none waits.
#pragma once

#include <cstddef>
#include <memory>

#include "device/present_device.hpp"
#include "packing/packed_exchange.hpp"
#include "request/packed_notices.hpp"

namespace tonari {

// What a packed exchange needs as long as it is there. The exchange goes first.
struct PackedParts {
  std::shared_ptr<PresentDevice> devices;
  std::unique_ptr<PackedNotices> notices;
  std::unique_ptr<PackedExchange> packed;
  bool gave_up = false;
};

// The room that end_later needs. Throws std::bad_alloc.
class EndedExchange;
std::unique_ptr<EndedExchange> room_to_end();
// From now on the parts belong to the list. It was left or given up. Throws nothing.
void end_later(std::unique_ptr<EndedExchange> room, PackedParts parts) noexcept;

// Gives back what no other rank uses any more. Returns how many are left.
std::size_t look_at_ended() noexcept;

class EndedExchange {
 private:
  friend std::unique_ptr<EndedExchange> room_to_end();
  friend void end_later(std::unique_ptr<EndedExchange>, PackedParts) noexcept;
  friend std::size_t look_at_ended() noexcept;

  bool complete();
  bool proceed();

  PackedParts parts_;
  bool told_ = false;
  int failures_ = 0;
  std::unique_ptr<EndedExchange> next_;
};

}  // namespace tonari
