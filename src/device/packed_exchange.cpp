// SPDX-License-Identifier: BSD-3-Clause
#include "device/packed_exchange.hpp"

#include <algorithm>

namespace tonari {
namespace {

std::vector<PackedKey> keys(std::span<const PackedMessage> messages) {
  std::vector<PackedKey> keys;
  for (const PackedMessage& message : messages)
    keys.push_back({message.peer, message.tag, message.layout.bytes()});
  return keys;
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
      inbox_(lay_out_inbox(rank, keys(in_), keys(out_))),
      held_(device),
      theirs_(device),
      gathers_(device),
      scatters_(device) {
  check_abilities();
  memory_ = held_.allocate(MemoryKind::device, number, inbox_.bytes);
  own_ = held_.stream(number);
  unpacked_ = held_.event(number);
  for (Parity& parity : parities_) parity.packed = held_.event(number);
  find_flags_here();
  clear_flags();
}

void PackedExchange::find_flags_here() {
  for (std::size_t p = 0; p < 2; ++p) {
    for (const PackedFlags& flags : inbox_.arrived)
      parities_[p].arrived.push_back(word(memory_, flags.flag(p)));
    for (const PackedFlags& flags : inbox_.taken)
      parities_[p].taken.push_back(word(memory_, flags.flag(p)));
  }
}

// Before any peer knows of them.
void PackedExchange::clear_flags() {
  values_.clear();
  for (const Parity& parity : parities_)
    for (const Flags* flags : {&parity.arrived, &parity.taken})
      for (std::uint64_t* flag : *flags) values_.push_back({flag, 0});
  device_.write_flags(own_, values_);
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
  const auto find = [&](std::int32_t to, auto theirs, auto mine) {
    const auto [inbox, memory] = peer(to, offers);
    const PackedFlags& flags = find_flags(inbox.*theirs, rank_, inbox.bytes);
    for (std::size_t p = 0; p < 2; ++p) (parities_[p].*mine).push_back(word(memory, flags.flag(p)));
  };
  for (const PackedFlags& flags : inbox_.taken)
    find(flags.peer, &PackedInbox::arrived, &Parity::arrived_at_peers);
  for (const PackedFlags& flags : inbox_.arrived)
    find(flags.peer, &PackedInbox::taken, &Parity::taken_at_peers);
}

void PackedExchange::find_slots_there(const PackedOffers& offers) {
  for (const PackedMessage& message : out_) {
    const auto [inbox, memory] = peer(message.peer, offers);
    const PackedSlots& slots = find_slots(inbox, {rank_, message.tag, message.layout.bytes()});
    slots_there_.push_back({memory + slots.slot(0), memory + slots.slot(1)});
  }
}

std::vector<Move> PackedExchange::gather(std::size_t parity, const Shifts& shifts) const {
  std::vector<Move> moves;
  for (std::size_t k = 0; k < out_.size(); ++k)
    make_moves(moves, slots_there_[k][parity], contiguous(out_[k].layout.bytes()),
               shifted(out_[k].base, shifts[k]), out_[k].layout);
  return moves;
}

std::vector<Move> PackedExchange::scatter(std::size_t parity, const Shifts& shifts) const {
  std::vector<Move> moves;
  for (std::size_t k = 0; k < in_.size(); ++k)
    make_moves(moves, shifted(in_[k].base, shifts[k]), in_[k].layout,
               memory_ + inbox_.slots[k].slot(parity), contiguous(in_[k].layout.bytes()));
  return moves;
}

void PackedExchange::compile(Shifts out, Shifts in, const std::function<void()>& check) {
  const bool gathers = !gathers_.use(out), scatters = !scatters_.use(in);
  const bool replaces = (gathers && gathers_.full()) || (scatters && scatters_.full());
  while (replaces && !complete()) check();
  if (gathers)
    gathers_.add(std::move(out), number_,
                 [&](std::size_t p, const Shifts& to) { return gather(p, to); });
  if (scatters)
    scatters_.add(std::move(in), number_,
                  [&](std::size_t p, const Shifts& to) { return scatter(p, to); });
}

void PackedExchange::move_to(std::span<const std::ptrdiff_t> shifts,
                             const std::function<void()>& check) {
  const auto of = [&](const std::vector<PackedMessage>& messages) {
    Shifts all;
    for (const PackedMessage& message : messages) all.push_back(shifts[message.space]);
    return all;
  };
  compile(of(out_), of(in_), check);
}

void PackedExchange::connect(const PackedOffers& offers) {
  find_flags_there(offers);
  find_slots_there(offers);
  compile(Shifts(out_.size()), Shifts(in_.size()), [] {});
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
  device_.wait_event(stream, parity.packed);  // the program's bytes may be both sent and received
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
