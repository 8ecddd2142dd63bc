// SPDX-License-Identifier: BSD-3-Clause
#include "planners/in_place/rearrangement.hpp"

#include <algorithm>
#include <iterator>

#include "base/checked.hpp"

namespace tonari {
namespace {

// At most so many runs are tried to find a long one, and make up one piece: each step stays
// cheap, however scattered the slots are.
constexpr int most_looks = 8, most_runs = 64;

// Data that a rank keeps in the same place takes no part at all.
void leave_out_what_stays(int rank, Blocks& blocks) {
  Slots &send = blocks.send[rank], &recv = blocks.recv[rank];
  if (send == recv) send = recv = {};
}

std::uint64_t sum(std::span<const Slots> blocks) {
  std::uint64_t all = 0;
  for (const Slots& block : blocks)
    all = checked_add(all, block.size(), "the size of all blocks of a rank");
  return all;
}

}  // namespace

Rearrangement::Rearrangement(int rank, Blocks blocks, Limits limits)
    : rank_(rank), blocks_(std::move(blocks)), limits_(limits) {
  by_place(blocks_.send, "send"), by_place(blocks_.recv, "receive");
  leave_out_what_stays(rank_, blocks_);
  const ByPlace send = by_place(blocks_.send, "send");
  receive_ = by_place(blocks_.recv, "receive");

  for (const Block& block : receive_) initially_unasked_.add(block.slots);
  initially_free_ = initially_blocked_ = initially_unasked_;
  for (const Block& block : send) initially_free_.remove(block.slots);
  for (Slot slot = 0; !initially_free_.from(slot).empty(); slot = initially_free_.from(slot).end)
    initially_blocked_.remove(initially_free_.from(slot));

  const auto end_of = [](const ByPlace& side) { return side.empty() ? 0 : side.back().slots.end; };
  const Slot end = std::max(end_of(send), end_of(receive_));
  // More than all that can ever be in the way is never used.
  const std::uint64_t room =
      std::min(std::max<std::uint64_t>(limits_.room, 1), initially_blocked_.size());
  // no run of slots leads from the buffer into the room
  const Slot begin = checked_add<Slot>(end, 1, "a buffer and its room");
  room_ = {begin, checked_add(begin, room, "a buffer and its room")};
  limits_.piece = std::max<std::uint64_t>(limits_.piece, 1);
  step_ = std::clamp<std::uint64_t>(limits_.room / 4, 1, limits_.piece);

  // Ranks begin with different senders, each with the next one.
  const auto ranks = static_cast<int>(blocks_.recv.size());
  first_ = 0;
  for (int k = ranks; k > 0; --k)
    if (const Slots& block = blocks_.recv[(rank_ + k) % ranks]; !block.empty())
      first_ = block.begin;
  start();
}

Rearrangement::ByPlace Rearrangement::by_place(std::span<const Slots> blocks, const char* what) {
  ByPlace all;
  for (std::size_t peer = 0; peer < blocks.size(); ++peer)
    if (!blocks[peer].empty()) all.push_back({blocks[peer], static_cast<int>(peer)});
  std::sort(all.begin(), all.end(),
            [](const Block& a, const Block& b) { return a.slots.begin < b.slots.begin; });
  for (std::size_t k = 1; k < all.size(); ++k)
    if (all[k].slots.begin < all[k - 1].slots.end)
      fail(Errc::buffers, "the ", what, " blocks for the ranks ",
           std::min(all[k - 1].peer, all[k].peer), " and ", std::max(all[k - 1].peer, all[k].peer),
           " overlap; only send blocks with receive blocks may");
  return all;
}

void Rearrangement::start() {
  unasked_ = initially_unasked_;
  lacking_free_ = initially_free_;
  lacking_blocked_ = initially_blocked_;
  parking_.clear();
  parking_.add(room_);
  parked_.clear();
  cursor_ = first_;
  asked_ = parked_in_all_ = pieces_ = 0;
  lacking_ = unasked_.size();
  untaken_ = unsent_ = sum(blocks_.send);
}

// The receive block that holds the slot, else the next one behind it.
Rearrangement::ByPlace::const_iterator Rearrangement::receive_from(Slot slot) const {
  return std::upper_bound(receive_.begin(), receive_.end(), slot,
                          [](Slot s, const Block& block) { return s < block.slots.end; });
}

// The lacking slots from `begin` on that could be asked for if at most this much is parked.
Slots Rearrangement::in_reach(Slot begin, std::uint64_t may_park) const {
  const Slot limit = std::min(receive_from(begin)->slots.end, begin + limits_.piece);
  Slot end = begin;
  for (int runs = 0; end < limit && runs < most_runs; ++runs) {
    if (const Slots free = lacking_free_.holding(end); !free.empty()) {
      end = std::min(free.end, limit);
      continue;
    }
    const Slots blocked = lacking_blocked_.holding(end);
    if (blocked.empty() || may_park == 0) break;
    const std::uint64_t parked = std::min(std::min(blocked.end, limit) - end, may_park);
    end += parked;
    may_park -= parked;
  }
  return {begin, end};
}

// Full pieces, rests, and what is not much shorter than a piece for which data has to be parked. Of
// N slots in b blocks with steps of s, at most b + 8 N / s pieces are asked for because they are
// worth it (a piece of s / 4 or more leaves at most one rest more behind), others only when nothing
// is under way.
bool Rearrangement::worth_it(Slots piece) const {
  if (4 * piece.size() >= step_) return true;
  const Slots rest = unasked_.holding(piece.begin), block = receive_from(piece.begin)->slots;
  return piece.begin == std::max(rest.begin, block.begin) &&
         piece.end == std::min(rest.end, block.end);
}

// Tries some runs of the set, from the cursor on and round.
template <class Look>
void Rearrangement::try_runs(const SlotSet& set, Look look) const {
  Slot at = cursor_;
  bool wrapped = false;
  for (int k = 0; k < most_looks && !set.empty(); ++k) {
    Slots run = set.from(at);
    if (run.empty() || (wrapped && run.begin >= cursor_)) {
      if (wrapped) return;
      wrapped = true;
      run = set.from(at = 0);
    }
    look(run.begin);
    at = run.end;
  }
}

std::optional<Rearrangement::Piece> Rearrangement::propose() const {
  Slots longest;
  const auto choose = [&](std::uint64_t may_park) {
    return [&, may_park](Slot begin) {
      if (longest.size() == limits_.piece) return;
      const Slots piece = in_reach(begin, may_park);
      if (piece.size() > longest.size()) longest = piece;
    };
  };
  try_runs(lacking_free_, choose(0));
  if (longest.empty() || !worth_it(longest)) {
    const std::uint64_t may_park = std::min(parking_.size(), step_);
    try_runs(lacking_free_, choose(may_park));
    if (may_park > 0) try_runs(lacking_blocked_, choose(may_park));
  }
  if (longest.empty() || (asked_ > 0 && !worth_it(longest))) return {};
  const Block& block = *receive_from(longest.begin);
  return Piece{block.peer, longest.begin - block.slots.begin, longest};
}

void Rearrangement::claim(const Piece& piece, std::vector<Park>& parks) {
  for (Slots own = lacking_blocked_.from(piece.to.begin); !own.empty() && own.begin < piece.to.end;
       own = lacking_blocked_.from(piece.to.begin))
    park({own.begin, std::min(own.end, piece.to.end)}, parks);
  lacking_free_.remove(piece.to);
  unasked_.remove(piece.to);
  asked_ += piece.to.size();
  cursor_ = piece.to.end;
  ++pieces_;
}

void Rearrangement::park(Slots slots, std::vector<Park>& parks) {
  lacking_blocked_.remove(slots);
  parked_in_all_ += slots.size();
  while (!slots.empty()) {
    const Slots free = parking_.last();
    const std::uint64_t size = std::min(free.size(), slots.size());
    parking_.remove({free.begin, free.begin + size});
    parks.push_back({{slots.begin, slots.begin + size}, free.begin});
    parked_.emplace(slots.begin, Parked{size, free.begin});
    slots.begin += size;
  }
}

void Rearrangement::received(const Piece& piece) {
  asked_ -= piece.to.size();
  lacking_ -= piece.to.size();
}

void Rearrangement::take(int to, std::uint64_t offset, std::uint64_t size,
                         std::vector<Slots>& places) {
  const Slots block = blocks_.send[to];
  if (offset > block.size() || size > block.size() - offset || size > untaken_)
    fail(Errc::internal, "rank ", to, " asks for ", size, " slots from ", offset, " on, of ",
         block.size(), "; please report this as a bug");
  untaken_ -= size;
  Slots home{block.begin + offset, block.begin + offset + size};
  auto parked = parked_.upper_bound(home.begin);
  if (parked != parked_.begin() &&
      std::prev(parked)->first + std::prev(parked)->second.size > home.begin)
    --parked;
  while (!home.empty()) {
    // up to the next that is parked it is at home
    if (parked == parked_.end() || parked->first > home.begin) {
      const Slots here{home.begin,
                       parked == parked_.end() ? home.end : std::min(home.end, parked->first)};
      lacking_blocked_.remove(here);
      places.push_back(here);
      home.begin = here.end;
      continue;
    }
    const Slot was = parked->first;
    const Parked all = parked->second;
    const std::uint64_t skip = home.begin - was, taken = std::min(all.size - skip, home.size());
    places.push_back({all.at + skip, all.at + skip + taken});
    parked = parked_.erase(parked);
    if (skip > 0) parked_.emplace(was, Parked{skip, all.at});
    if (skip + taken < all.size)
      parked =
          parked_
              .emplace(was + skip + taken, Parked{all.size - skip - taken, all.at + skip + taken})
              .first;
    home.begin += taken;
  }
}

void Rearrangement::sent(Slots place) {
  unsent_ -= place.size();
  for (auto block = receive_from(place.begin);
       block != receive_.end() && block->slots.begin < place.end; ++block) {
    const Slots inside{std::max(place.begin, block->slots.begin),
                       std::min(place.end, block->slots.end)};
    parking_.add({place.begin, inside.begin});
    lacking_free_.add(inside);
    place.begin = inside.end;
  }
  parking_.add(place);
}

}  // namespace tonari
