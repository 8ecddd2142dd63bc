// SPDX-License-Identifier: BSD-3-Clause
// How a packed exchange ends where something has failed. It orders nothing that is right, so it
// does not stand among the calls that do (tests/packing/packed_orders_test.cpp counts those, and
// tests/packing/packed_give_up_test.cpp these).
#include "packing/packed_exchange.hpp"

namespace tonari {

// Flags beyond all that anything waits for. Peers may write smaller values afterwards; those are
// enough for what waited for them.
void PackedExchange::give_up(DeviceStream by) noexcept {
  (void)error_of([&] {
    device_.write_flags(by, all_here(static_cast<std::uint64_t>(started_) + 2));
    device_.wait_event(own_, unpacked_);
  });
  // Those in flight. There is none of a start that has failed before.
  for (std::int64_t k = std::exchange(waited_, started_) + 1; k <= started_; ++k)
    (void)error_of([&] { device_.wait_event(own_, parities_[k % 2].packed); });
  // Peers may have written the same flags, so nothing else waits for those of `by`.
  (void)error_of([&] {
    device_.record(by, unpacked_);
    device_.wait_event(own_, unpacked_);
  });
  (void)error_of([&] { device_.record(own_, unpacked_); });
}

}  // namespace tonari
