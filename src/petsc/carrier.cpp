// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/carrier.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/classic.hpp"
#include "petsc/sentences.hpp"

namespace tonari::petsc {
namespace {

MPI_Comm comm_of(PetscSF sf) { return PetscObjectComm(reinterpret_cast<PetscObject>(sf)); }

// Of each flag, whether it is set on any rank.
template <std::size_t n>
PetscErrorCode any_rank(PetscSF sf, std::array<int, n>* flags) {
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, flags->data(), static_cast<int>(n), MPI_INT, MPI_LOR,
                             comm_of(sf)));
  PetscFunctionReturn(success);
}

// What tonari can combine; other operations have no unit that is possible.
PetscErrorCode kind_of(const Call& call, Kind* kind) {
  PetscFunctionBegin;
  *kind = {call.way, call.op, {}};
  if (call.op == MPI_REPLACE)
    PetscCall(unit_of_bytes(call.unit, &kind->unit));
  else if (call.op == MPI_SUM || call.op == MPI_MIN || call.op == MPI_MAX)
    PetscCall(unit_of_numbers(call.unit, call.op, &kind->unit));
  PetscFunctionReturn(success);
}

std::string microseconds(const Race& race, Runner runner) {
  return with_decimals(race.seconds(runner) * 1e6, 1);
}

// Those of star forests that were asked for last, by their addresses: to look into the table below
// takes longer than all else that is done to pass an exchange on.
struct Recent {
  PetscSF sf = nullptr;
  Carrier* carrier = nullptr;
};

Recent& recent(PetscSF sf) {
  static std::array<Recent, 64> all;
  const auto address = reinterpret_cast<std::uintptr_t>(sf);
  return all[(address >> 6U ^ address >> 12U) % all.size()];
}

using Carriers = std::unordered_map<PetscSF, std::unique_ptr<Carrier>>;

Carriers& carriers() {
  static auto* const all = new Carriers;  // star forests may outlive static objects
  return *all;
}

}  // namespace

Carrier* carrier_of(PetscSF sf) {
  Recent& known = recent(sf);
  if (known.sf == sf) return known.carrier;
  const auto found = carriers().find(sf);
  if (found == carriers().end()) return nullptr;
  known = {sf, found->second.get()};
  return known.carrier;
}

Carrier& add_carrier(PetscSF sf, const _PetscSFOps& basic) {
  recent(sf) = {};
  return *(carriers()[sf] = std::make_unique<Carrier>(basic));
}

void remove_carrier(PetscSF sf) {
  recent(sf) = {};
  carriers().erase(sf);
}

PetscErrorCode Carrier::basic_begin(PetscSF sf, const Call& call) const {
  const PetscMemType host = PETSC_MEMTYPE_HOST;
  const auto begin = call.way == Way::bcast ? basic_.BcastBegin : basic_.ReduceBegin;
  PetscFunctionBegin;
  PetscCall((*begin)(sf, call.unit, host, call.source, host, call.target, call.op));
  PetscFunctionReturn(success);
}

PetscErrorCode Carrier::basic_end(PetscSF sf, const Call& call) const {
  const auto end = call.way == Way::bcast ? basic_.BcastEnd : basic_.ReduceEnd;
  PetscFunctionBegin;
  PetscCall((*end)(sf, call.unit, call.source, call.target, call.op));
  PetscFunctionReturn(success);
}

void Carrier::forget() {
  exchanges_.clear(), last_found_ = nullptr;
  passed_ = {};
  vectors_.reset();
  connected_ = useless_ = false;
}

// VecScatterRemap sets the sizes of vectors to -1; less is as unknown to PETSc, and tells that it
// was not called since ranks connected. The same on all ranks.
bool Carrier::was_remapped(PetscSF sf) const {
  return connected_ && !useless_ && sf->vscat.from_n == -1;
}

PetscErrorCode Carrier::connect(PetscSF sf) {
  Lists lists;
  PetscMPIInt ranks = 0;
  PetscFunctionBegin;
  connected_ = true;
  PetscCallMPI(MPI_Comm_size(comm_of(sf), &ranks));
  useless_ = ranks == 1;
  if (useless_) PetscFunctionReturn(success);
  PetscCall(read_lists(sf, &lists));
  std::array<int, 2> found{lists.remote, !lists.staying.empty()};
  PetscCall(any_rank(sf, &found));
  useless_ = !found[0];
  if (sf->vscat.from_n < 0) sf->vscat.from_n = -2;
  vectors_ = std::make_unique<Vectors>();
  vectors_->set(comm_of(sf), std::move(lists), found[1]);
  PetscCall(PetscObjectGetNewTag(reinterpret_cast<PetscObject>(sf), &name_));
  PetscFunctionReturn(success);
}

PetscErrorCode Carrier::add(PetscSF sf, const Kind& kind, Exchange** exchange) {
  const bool repeats = kind.copied() && vectors_->target(kind.way).repeats;
  std::array<int, 1> refused{repeats || !kind.unit.possible()};
  PetscFunctionBegin;
  PetscCall(any_rank(sf, &refused));
  exchanges_.push_back(std::make_unique<Exchange>(kind, static_cast<int>(exchanges_.size())));
  *exchange = exchanges_.back().get();
  (*exchange)->by_tonari = !refused[0];
  if (!races)
    (*exchange)->race.call_off();
  else if ((*exchange)->by_tonari)
    PetscCall(Race::prepare(comm_of(sf)));
  PetscFunctionReturn(success);
}

// Looks at the unit only if it is not the last one, or one of the program's that it may have freed.
PetscErrorCode Carrier::find(PetscSF sf, const Call& call, Exchange** exchange) {
  PetscFunctionBegin;
  if (last_found_ && call.unit == last_call_.unit && call.op == last_call_.op &&
      call.way == last_call_.way) {
    *exchange = last_found_;
    PetscFunctionReturn(success);
  }
  PetscCall(find_kind(sf, call, exchange));
  const bool stays = call.unit == MPIU_SCALAR || call.unit == MPIU_INT ||
                     (sf->vscat.bs > 0 && call.unit == sf->vscat.unit);
  last_call_ = call, last_found_ = stays ? *exchange : nullptr;
  PetscFunctionReturn(success);
}

// Units that tonari does not have are one kind for each operation.
PetscErrorCode Carrier::find_kind(PetscSF sf, const Call& call, Exchange** exchange) {
  Kind kind;
  PetscFunctionBegin;
  PetscCall(kind_of(call, &kind));
  const auto known = std::ranges::find_if(
      exchanges_, [&](const std::unique_ptr<Exchange>& e) { return e->kind == kind; });
  if (known != exchanges_.end())
    *exchange = known->get();
  else
    PetscCall(add(sf, kind, exchange));
  PetscFunctionReturn(success);
}

PetscErrorCode Carrier::begin(PetscSF sf, const Call& call, bool* begun) {
  Exchange* exchange = nullptr;
  PetscFunctionBegin;
  *begun = false;
  if (was_remapped(sf) && idle()) forget();
  ++uses_, count_passed_on();
  if (useless_ || !call.on_host || uses_ < connects_at) PetscFunctionReturn(success);
  if (!connected_) PetscCall(connect(sf));
  if (useless_) PetscFunctionReturn(success);
  PetscCall(find(sf, call, &exchange));
  if (exchange->passed_on_for_good()) {
    if (exchange == last_found_) passed_[static_cast<std::size_t>(call.way)] = {call.unit, call.op};
    PetscFunctionReturn(success);
  }

  const bool timed = exchange->race.timing() && idle();
  const Runner runner = timed ? exchange->race.next() : Runner::tonari;
  Lane* const lane = runner == Runner::tonari ? exchange->take() : nullptr;
  if (!lane && !timed) PetscFunctionReturn(success);
  PetscCall(start(sf, call, *exchange, lane, timed));
  *begun = true;
  PetscFunctionReturn(success);
}

// By tonari if there is a lane, else by basic.
PetscErrorCode Carrier::start(PetscSF sf, const Call& call, Exchange& exchange, Lane* lane,
                              bool timed) {
  const double start = timed ? exchange.race.now() : 0;
  PetscFunctionBegin;
  if (lane)
    PetscCall(exchange.start(comm_of(sf), *vectors_, *lane, call.source, call.target));
  else
    PetscCall(basic_begin(sf, call));
  const bool asks = lane && exchange.race.asks();
  flights_.push_back({call, &exchange, lane, timed ? exchange.race.now() - start : -1, asks});
  if (lane) --passed_on_, --counter().passed_on, ++carried_, ++counter().exchanges;
  if (asks) PetscCall(exchange.race.ask(comm_of(sf), {name_, exchange.number}));
  PetscFunctionReturn(success);
}

PetscErrorCode Carrier::complete(PetscSF sf, Flight& flight) {
  const Race& race = flight.exchange->race;
  const bool timed = flight.seconds >= 0;
  const double start = timed ? race.now() : 0;
  PetscFunctionBegin;
  if (flight.lane) {
    PetscCall(PetscLogEventBegin(counter().event, sf, 0, 0, 0));
    PetscCall(said(PETSC_COMM_SELF, tonari_wait(flight.lane->request)));
    PetscCall(PetscLogEventEnd(counter().event, sf, 0, 0, 0));
    flight.exchange->give_back();
  } else {
    PetscCall(basic_end(sf, flight.call));
  }
  PetscCall(tell_race(sf, flight, timed ? flight.seconds + race.now() - start : -1));
  PetscFunctionReturn(success);
}

// seconds: that it took; negative: not timed.
PetscErrorCode Carrier::tell_race(PetscSF sf, const Flight& flight, double seconds) {
  Race& race = flight.exchange->race;
  PetscFunctionBegin;
  if (seconds >= 0)
    race.finished(flight.lane ? Runner::tonari : Runner::basic, seconds);
  else if (flight.asks)
    PetscCall(race.hear(comm_of(sf)));
  else if (!race.timing() && !race.decided() && flight.lane)
    race.passed(flight.exchange->has_chosen());
  if (race.lost() && flight.exchange->idle()) flight.exchange->drop_lanes();
  PetscFunctionReturn(success);
}

PetscErrorCode Carrier::find_flight(const Call& call, std::size_t* flight) const {
  PetscFunctionBegin;
  for (*flight = 0; *flight < flights_.size(); ++*flight) {
    const Call& begun = flights_[*flight].call;
    PetscBool same = call.unit == begun.unit ? PETSC_TRUE : PETSC_FALSE;
    if (begun.way != call.way || begun.source != call.source || begun.target != call.target)
      continue;
    if (!same) PetscCall(MPIPetsc_Type_compare(call.unit, begun.unit, &same));
    if (same) break;
  }
  PetscFunctionReturn(success);
}

PetscErrorCode Carrier::end(PetscSF sf, const Call& call, bool* ended) {
  std::size_t found = 0;
  PetscFunctionBegin;
  PetscCall(find_flight(call, &found));
  *ended = found < flights_.size();
  if (*ended) {
    Flight arrived = flights_[found];
    flights_.erase(flights_.begin() + static_cast<std::ptrdiff_t>(found));
    PetscCall(complete(sf, arrived));
  }
  PetscFunctionReturn(success);
}

PetscErrorCode Carrier::view(PetscViewer viewer) const {
  PetscFunctionBegin;
  if (carried_ == 0) PetscFunctionReturn(success);
  std::size_t requests = 0;
  for (const std::unique_ptr<Exchange>& e : exchanges_) requests += e->lanes();
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  tonari: %" PetscInt64_FMT
                                   " exchanges by %d requests, %" PetscInt64_FMT
                                   " passed on to basic\n",
                                   static_cast<PetscInt64>(carried_), static_cast<int>(requests),
                                   static_cast<PetscInt64>(passed_on_)));
  for (const std::unique_ptr<Exchange>& e : exchanges_)
    if (e->race.seconds(Runner::basic) > 0)
      PetscCall(PetscViewerASCIIPrintf(
          viewer, "  tonari: %s of %" PetscInt64_FMT " bytes: %s us, by basic %s us%s\n",
          e->kind.way == Way::bcast ? "broadcasts" : "reductions", e->kind.unit.bytes,
          microseconds(e->race, Runner::tonari).c_str(),
          microseconds(e->race, Runner::basic).c_str(), e->race.lost() ? ": passed on" : ""));
  PetscFunctionReturn(success);
}

}  // namespace tonari::petsc
