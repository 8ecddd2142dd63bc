// SPDX-License-Identifier: BSD-3-Clause
#include "packing/packed_exchange.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace tonari {
namespace {

std::vector<PackedKey> keys(std::span<const PackedMessage> messages) {
  std::vector<PackedKey> keys;
  for (const PackedMessage& message : messages)
    keys.push_back(
        {message.peer, message.tag, message.layout.bytes(), message.piece, message.step});
  return keys;
}

bool has_slot(const PackedMessage& in) { return in.from < 0; }

std::vector<PackedKey> keys_with_slots(std::span<const PackedMessage> in) {
  std::vector<PackedMessage> with;
  std::ranges::copy_if(in, std::back_inserter(with), has_slot);
  return keys(with);
}

std::vector<std::size_t> slots_of(std::span<const PackedMessage> in) {
  std::vector<std::size_t> slots;
  std::size_t next = 0;
  for (const PackedMessage& message : in) slots.push_back(has_slot(message) ? next++ : 0);
  for (std::size_t k = 0; k < in.size(); ++k)
    if (!has_slot(in[k])) slots[k] = slots[static_cast<std::size_t>(in[k].from)];
  return slots;
}

Layout contiguous(Bytes bytes) {
  Layout layout;
  layout.add(0, bytes);
  return layout;
}

std::byte* shifted(std::byte* base, std::ptrdiff_t by) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) +
                                      static_cast<std::uintptr_t>(by));
}

std::uint64_t* word(std::byte* memory, Bytes at) {
  return reinterpret_cast<std::uint64_t*>(memory + at);
}

}  // namespace

PackedExchange::PackedExchange(Device& device, int number, std::int32_t rank,
                               std::vector<PackedMessage> in, std::vector<PackedMessage> out)
    : device_(device),
      number_(number),
      rank_(rank),
      in_(std::move(in)),
      out_(std::move(out)),
      slots_of_(slots_of(in_)),
      inbox_(lay_out_inbox(rank, keys_with_slots(in_), keys(out_))),
      held_(device),
      theirs_(device),
      gathers_(device),
      scatters_(device) {
  check_abilities();
  memory_ = held_.allocate(MemoryKind::device, number, inbox_.bytes);
  own_ = held_.stream(number);
  unpacked_ = held_.event(number);
  for (Parity& parity : parities_) parity.packed = held_.event(number);
  find_forwards();
  find_flags_here();
  clear_flags();
}

// Ascending, and only those that this rank has something to send in.
void PackedExchange::find_forwards() {
  std::set<std::int32_t> steps;
  for (const PackedMessage& message : out_)
    if (message.step > 0) steps.insert(message.step);
  for (const std::int32_t step : steps) forwards_.emplace_back(device_, step);
  if (!forwards_.empty()) forwarded_ = held_.event(number_);
}

// The first that needs what a flag tells of waits for it, and what follows is behind that.
PackedExchange::Flags& PackedExchange::awaiting(const PackedFlags& flags, std::size_t parity) {
  const auto told = [&](const PackedMessage& in) {
    return in.peer == flags.peer && in.step == flags.step;
  };
  for (Forward& forward : forwards_)
    for (const PackedMessage& message : out_)
      if (message.step == forward.step && message.from >= 0 &&
          told(in_[static_cast<std::size_t>(message.from)]))
        return forward.awaited[parity];
  return parities_[parity].arrived;
}

void PackedExchange::find_flags_here() {
  for (std::size_t p = 0; p < 2; ++p) {
    for (const PackedFlags& flags : inbox_.arrived)
      awaiting(flags, p).push_back(word(memory_, flags.flag(p)));
    for (const PackedFlags& flags : inbox_.taken)
      parities_[p].taken.push_back(word(memory_, flags.flag(p)));
  }
}

std::span<const FlagValue> PackedExchange::all_here(std::uint64_t value) {
  values_.clear();
  for (std::size_t p = 0; p < 2; ++p)
    for (const std::vector<PackedFlags>* flags : {&inbox_.arrived, &inbox_.taken})
      for (const PackedFlags& one : *flags) values_.push_back({word(memory_, one.flag(p)), value});
  return values_;
}

// Before any peer knows of them.
void PackedExchange::clear_flags() {
  device_.write_flags(own_, all_here(0));
  device_.record(own_, unpacked_);
  device_.synchronize(unpacked_);
}

// A rank that exchanges with itself alone needs none.
void PackedExchange::check_abilities() const {
  if (inbox_.arrived.empty() && inbox_.taken.empty()) return;
  for (const Ability needed : {Ability::flags_in_order, Ability::export_memory})
    if (const Capability has = device_.ability(needed); !has) fail(Errc::argument, has.why_not);
}

// ---- connecting

PackedOffer PackedExchange::offer() const { return {device_.export_memory(memory_), inbox_}; }

// This rank needs no offer of its own.
PackedExchange::Peer PackedExchange::peer(std::int32_t rank, const PackedOffers& offers) {
  if (rank == rank_) return {inbox_, memory_};
  const auto offer = offers.find(rank);
  if (offer == offers.end())
    fail(Errc::mismatch, "rank ", rank, " has offered no memory for its messages");
  if (offer->second.inbox.bytes > offer->second.memory.bytes)
    fail(Errc::argument, "rank ", rank, " offers less memory than its messages take");
  std::byte*& memory = peers_[rank];
  if (!memory) memory = theirs_.import_memory(offer->second.memory);
  return {offer->second.inbox, memory};
}

void PackedExchange::find_flags_there(const PackedOffers& offers) {
  const auto find = [&](std::int32_t to, auto theirs, std::int32_t step, auto mine) {
    const auto [inbox, memory] = peer(to, offers);
    const PackedFlags& flags = find_flags(inbox.*theirs, rank_, step, inbox.bytes);
    for (std::size_t p = 0; p < 2; ++p) mine(p).push_back(word(memory, flags.flag(p)));
  };
  const auto tell = [&](std::int32_t step, auto mine) {
    std::set<std::int32_t> peers;
    for (const PackedMessage& message : out_)
      if (message.step == step && message.peer != rank_) peers.insert(message.peer);
    for (const std::int32_t to : peers) find(to, &PackedInbox::arrived, step, mine);
  };
  tell(0, [&](std::size_t p) -> Flags& { return parities_[p].arrived_at_peers; });
  for (Forward& forward : forwards_)
    tell(forward.step, [&](std::size_t p) -> Flags& { return forward.told[p]; });
  std::set<std::int32_t> senders;
  for (const PackedFlags& flags : inbox_.arrived) senders.insert(flags.peer);
  for (const std::int32_t from : senders)
    find(from, &PackedInbox::taken, 0,
         [&](std::size_t p) -> Flags& { return parities_[p].taken_at_peers; });
}

void PackedExchange::find_slots_there(const PackedOffers& offers) {
  for (const PackedMessage& message : out_) {
    const auto [inbox, memory] = peer(message.peer, offers);
    const PackedSlots& slots = find_slots(
        inbox, {rank_, message.tag, message.layout.bytes(), message.piece, message.step});
    slots_there_.push_back({memory + slots.slot(0), memory + slots.slot(1)});
  }
}

// Here, of one of in_.
std::byte* PackedExchange::slot(std::size_t in, std::size_t parity) const {
  return memory_ + inbox_.slots[slots_of_[in]].slot(parity);
}

std::vector<Move> PackedExchange::gather(std::int32_t step, std::size_t parity,
                                         const Shifts& shifts) const {
  std::vector<Move> moves;
  for (std::size_t k = 0; k < out_.size(); ++k) {
    const PackedMessage& out = out_[k];
    if (out.step != step) continue;
    const Layout packed = contiguous(out.layout.bytes());
    if (out.from < 0)
      make_moves(moves, slots_there_[k][parity], packed, shifted(out.base, shifts[k]), out.layout);
    else
      make_moves(moves, slots_there_[k][parity], packed,
                 slot(static_cast<std::size_t>(out.from), parity), packed);
  }
  return moves;
}

std::vector<Move> PackedExchange::scatter(std::size_t parity, const Shifts& shifts) const {
  std::vector<Move> moves;
  for (std::size_t k = 0; k < in_.size(); ++k)
    if (!in_[k].only_passed_on)
      make_moves(moves, shifted(in_[k].base, shifts[k]), in_[k].layout, slot(k, parity),
                 contiguous(in_[k].layout.bytes()));
  return moves;
}

void PackedExchange::compile(const Shifts& out, const Shifts& in,
                             const std::function<void()>& check) {
  using Gathers = std::pair<std::int32_t, PlacedTables*>;  // of a step
  std::vector<Gathers> gathers;
  bool replaces = false;
  const auto lacks = [&](PlacedTables& tables, const Shifts& place) {
    const bool lacking = !tables.use(place);
    replaces = replaces || (lacking && tables.full());
    return lacking;
  };
  if (lacks(gathers_, out)) gathers.emplace_back(0, &gathers_);
  for (Forward& forward : forwards_)
    if (lacks(forward.gathers, out)) gathers.emplace_back(forward.step, &forward.gathers);
  const bool scatters = lacks(scatters_, in);
  while (replaces && !complete()) check();
  for (const auto& [step, tables] : gathers)
    tables->add(out, number_, [&](std::size_t p, const Shifts& to) { return gather(step, p, to); });
  if (scatters)
    scatters_.add(in, number_, [&](std::size_t p, const Shifts& to) { return scatter(p, to); });
}

// Tables of the place before are there still, where those of the new one cannot be made.
void PackedExchange::place(Shifts out, Shifts in, const std::function<void()>& check) {
  try {
    compile(out, in, check);
  } catch (...) {
    gathers_.use(placed_out_), scatters_.use(placed_in_);
    for (Forward& forward : forwards_) forward.gathers.use(placed_out_);
    throw;
  }
  placed_out_ = std::move(out), placed_in_ = std::move(in);
}

void PackedExchange::move_to(std::span<const std::ptrdiff_t> shifts,
                             const std::function<void()>& check) {
  const auto of = [&](const std::vector<PackedMessage>& messages) {
    Shifts all;
    for (const PackedMessage& message : messages) all.push_back(shifts[message.space]);
    return all;
  };
  place(of(out_), of(in_), check);
}

void PackedExchange::connect(const PackedOffers& offers) {
  find_flags_there(offers);
  find_slots_there(offers);
  place(Shifts(out_.size()), Shifts(in_.size()), [] {});
  connected_ = true;
}

// ---- exchanging

// All with one value; a value below 0 is 0, which flags are from the beginning.
std::span<const FlagValue> PackedExchange::all(const Flags& flags, std::int64_t value) {
  values_.clear();
  for (std::uint64_t* flag : flags)
    values_.push_back({flag, static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0))});
  return values_;
}

// Before the stream gets anything, so that the exchange counts nothing that it did not get.
void PackedExchange::check_stream(DeviceStream stream) const {
  if (!connected_) fail(Errc::argument, "the exchange is not connected; connect it once before");
  if (const int other = device_.device_of(stream); other != number_)
    fail(Errc::argument, "the stream is one of device ", other, ", but the exchange is on device ",
         number_, "; give it a stream of that device");
  if (device_.captures(stream))
    fail(Errc::active,
         "an exchange cannot be captured, since its flags count exchanges; end the capture first");
}

void PackedExchange::start_on(DeviceStream stream) {
  check_stream(stream);
  if (started_ - waited_ == 2)
    fail(Errc::active, "two exchanges are in flight; wait for one before the next start");
  const std::int64_t exchange = ++started_;
  const Parity& parity = parities_[exchange % 2];
  device_.wait_event(stream, unpacked_);
  device_.wait_flags(stream, all(parity.taken, exchange - 2));
  device_.move(stream, gathers_.table(exchange % 2));
  device_.write_flags(stream, all(parity.arrived_at_peers, exchange));
  device_.record(stream, parity.packed);
}

void PackedExchange::wait_on(DeviceStream stream) {
  check_stream(stream);
  if (started_ == waited_) fail(Errc::active, "no exchange is in flight; start one first");
  const std::int64_t exchange = ++waited_;
  const Parity& parity = parities_[exchange % 2];
  // the program's bytes may be both sent and received
  device_.wait_event(stream, forward(exchange));
  device_.wait_event(stream, unpacked_);
  device_.wait_flags(stream, all(parity.arrived, exchange));
  device_.move(stream, scatters_.table(exchange % 2));
  device_.write_flags(stream, all(parity.taken_at_peers, exchange));
  device_.record(stream, unpacked_);
}

bool PackedExchange::complete() { return device_.query(unpacked_); }

// ---- ending

// An exchange that is taken follows those before it, so the last one tells of all.
void PackedExchange::leave() {
  if (started_ != waited_)
    fail(Errc::active, "an exchange is in flight; wait for it before it is freed");
  device_.wait_event(own_, unpacked_);
  device_.wait_flags(own_, all(parities_[started_ % 2].taken, started_));
  device_.record(own_, unpacked_);
}

void PackedExchange::close() {
  gathers_.clear();
  for (Forward& forward : forwards_) forward.gathers.clear();
  if (const std::optional<Error> error = theirs_.give_back()) throw *error;
}

void PackedExchange::finish(const std::function<void()>& check) {
  leave();
  while (!complete()) check();
  close();
  scatters_.clear();
  if (const std::optional<Error> error = held_.give_back()) throw *error;
}

}  // namespace tonari
