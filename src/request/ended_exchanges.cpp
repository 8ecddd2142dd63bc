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
// Work that has failed says so once, and a device that is lost always.
constexpr int most_failures = 3;

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

// A peer that has failed at the last exchange will not take what it got.
bool EndedExchange::complete() {
  auto& [devices, notices, packed, gave_up] = parts_;
  if (packed->complete()) return true;
  notices->look();
  if (gave_up || notices->lost() < 0) return false;
  gave_up = true;
  packed->give_up(devices->stream(packed->number()));
  return false;
}

// Whether it is over.
bool EndedExchange::proceed() {
  PackedNotices* const notices = parts_.notices.get();
  if (!told_) {
    if (!complete()) return false;
    parts_.packed->close();
    notices->tell(PackedNotices::Notice::closed);
    told_ = true;
  }
  notices->look();
  return notices->all_closed();
}

// What cannot be asked any more stays for good if other ranks may still use it.
std::size_t look_at_ended() noexcept {
  std::size_t left = 0;
  const std::lock_guard lock(ended().mutex);
  for (std::unique_ptr<EndedExchange>* at = &ended().first; *at && mpi_usable();) {
    bool over = false;
    if (error_of([&] { over = (*at)->proceed(); })) ++(*at)->failures_;
    const bool failed = (*at)->failures_ == most_failures;
    if (!over && !failed) {
      ++left;
      at = &(*at)->next_;
      continue;
    }
    std::unique_ptr<EndedExchange> out = std::exchange(*at, std::move((*at)->next_));
    if (failed && !out->parts_.notices->all_closed()) (void)out.release();
  }
  return left;
}

}  // namespace tonari
