// SPDX-License-Identifier: BSD-3-Clause
#include "grid/ghost_turns.hpp"

#include <limits>

#include "base/error.hpp"
#include "memory/program_stores.hpp"

namespace tonari {
namespace {

using Turn = std::uint64_t;
constexpr Turn gave_up = std::numeric_limits<Turn>::max();

std::atomic_ref<Turn> word(std::byte* words, int copy) {
  return std::atomic_ref<Turn>(
      *reinterpret_cast<Turn*>(words + GhostTurns::apart * static_cast<std::size_t>(copy)));
}

}  // namespace

void GhostTurns::check_turn(int copy) const {
  if (gave_up_)
    fail(Errc::peer,
         "an exchange of this grid has failed before, and the neighbors know; free the grid");
  if (const Turn since = since_[static_cast<std::size_t>(copy)];
      since > 0 && since >= seen_.load(std::memory_order_relaxed))
    fail(Errc::active, "copy ", copy,
         " is exchanged twice, and no exchange of another copy that was started in between is "
         "complete; ghosts are the neighbors' pages, which may still be read: write and exchange "
         "the copies in turn");
}

void GhostTurns::publish(int copy) {
  since_[static_cast<std::size_t>(copy)] = ++publications_;
  order_program_stores();
  word(mine_, copy).store(++times_[static_cast<std::size_t>(copy)], std::memory_order_relaxed);
}

bool GhostTurns::complete(int copy) const {
  for (const auto& [peer, words] : theirs_) {
    const Turn said = word(words, copy).load(std::memory_order_acquire);
    if (said == gave_up)
      fail(Errc::peer, "rank ", peer, " has given up an exchange of this grid; its error says why");
    if (said < times_[static_cast<std::size_t>(copy)]) return false;
  }
  return true;
}

// For reports: nobody reads cells because of it.
bool GhostTurns::waits_for(int peer, int copy) const {
  return word(theirs_.at(peer), copy).load(std::memory_order_relaxed) <
         times_[static_cast<std::size_t>(copy)];
}

// Neighbors published it after they had read their ghosts of all that this rank published earlier.
void GhostTurns::finish(int copy) {
  const Turn mine = since_[static_cast<std::size_t>(copy)];
  for (Turn seen = seen_.load(std::memory_order_relaxed); seen < mine;)
    if (seen_.compare_exchange_weak(seen, mine, std::memory_order_relaxed)) return;
}

// Who sees it reads no cells any more.
void GhostTurns::give_up() {
  gave_up_ = true;
  for (std::size_t c = 0; c < times_.size(); ++c)
    word(mine_, static_cast<int>(c)).store(gave_up, std::memory_order_relaxed);
}

}  // namespace tonari
