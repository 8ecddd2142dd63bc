// SPDX-License-Identifier: BSD-3-Clause
// The steps of a packed exchange in which ranks pass on what has come. They run in a stream of the
// exchange: in the program's stream, two exchanges that ranks wait for in different orders would
// wait for each other.
#include "packing/packed_exchange.hpp"

namespace tonari {

DeviceEvent PackedExchange::forward(std::int64_t exchange) {
  const std::size_t parity = static_cast<std::size_t>(exchange % 2);
  const DeviceEvent packed = parities_[parity].packed;
  if (forwards_.empty()) return packed;
  device_.wait_event(own_, packed);  // so slots of peers are free, and own blocks are there
  for (const Forward& step : forwards_) {
    device_.wait_flags(own_, all(step.awaited[parity], exchange));
    device_.move(own_, step.gathers.table(parity));
    device_.write_flags(own_, all(step.told[parity], exchange));
  }
  device_.record(own_, forwarded_);
  return forwarded_;
}

}  // namespace tonari
