// SPDX-License-Identifier: BSD-3-Clause
#include "device/simulated_order.hpp"

namespace tonari {
namespace {

constexpr int stream_bits = 5;
static_assert(most_simulated_streams == 1 << stream_bits);

std::uint32_t moment(int stream, std::uint32_t time) {
  return time << stream_bits | static_cast<std::uint32_t>(stream);
}
int stream_of(std::uint32_t moment) {
  return static_cast<int>(moment & (most_simulated_streams - 1));
}

// Neighboring bytes mostly have the same past, which is looked at once.
class Past {
 public:
  explicit Past(const SimulatedClock& clock) : clock_(clock) {}
  bool ordered(std::uint32_t moment) {
    if (moment == last_) return true;
    if (moment >> stream_bits > clock_.of(stream_of(moment))) return false;
    last_ = moment;
    return true;
  }

 private:
  const SimulatedClock& clock_;
  std::uint32_t last_ = 0;
};

}  // namespace

int note_access(SimulatedTouch* touched, std::size_t bytes, const SimulatedAccess& access) {
  const std::uint32_t now = moment(access.stream, access.clock.of(access.stream));
  Past writes(access.clock), reads(access.clock);
  for (SimulatedTouch* touch = touched; touch != touched + bytes; ++touch) {
    if (!writes.ordered(touch->written)) return stream_of(touch->written);
    if (access.writes && !reads.ordered(touch->read)) return stream_of(touch->read);
    (access.writes ? touch->written : touch->read) = now;
  }
  return -1;
}

}  // namespace tonari
