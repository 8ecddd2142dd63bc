// SPDX-License-Identifier: BSD-3-Clause
#include "request/ended_exchanges.hpp"

#include <mutex>
#include <utility>

#include "base/lasting.hpp"
#include "mpi/mpi_usable.hpp"

namespace tonari {
namespace {

struct Ended {
  std::mutex mutex;
  std::unique_ptr<EndedExchange> first;
};
Ended& ended() { return lasting<Ended>(); }

}  // namespace

std::unique_ptr<EndedExchange> room_to_end() { return std::make_unique<EndedExchange>(); }

void end_later(std::unique_ptr<EndedExchange> room, PackedParts parts) noexcept {
  room->parts_ = std::move(parts);
  {
    const std::lock_guard lock(ended().mutex);
    room->next_ = std::exchange(ended().first, nullptr);
    ended().first = std::move(room);
  }
  (void)look_at_ended();
}

// Whether it is over.
bool EndedExchange::proceed() {
  auto& [devices, notices, packed, gave_up] = parts_;
  if (!told_) {
    if (!packed->complete()) return false;
    packed->close();
    notices->tell(PackedNotices::Notice::closed);
    told_ = true;
  }
  notices->look();
  return notices->all_closed();
}

// What cannot be asked any more stays for good: other ranks may still use it.
std::size_t look_at_ended() noexcept {
  std::size_t left = 0;
  const std::lock_guard lock(ended().mutex);
  for (std::unique_ptr<EndedExchange>* at = &ended().first; *at && mpi_usable();) {
    bool over = false;
    const bool failed = error_of([&] { over = (*at)->proceed(); }).has_value();
    if (!over && !failed) {
      ++left;
      at = &(*at)->next_;
      continue;
    }
    std::unique_ptr<EndedExchange> out = std::exchange(*at, std::move((*at)->next_));
    if (failed) (void)out.release();
  }
  return left;
}

}  // namespace tonari
