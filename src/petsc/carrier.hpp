// SPDX-License-Identifier: BSD-3-Clause
// What tonari knows of one star forest: how often it was used, the exchanges that it has for it,
// and those under way.
#pragma once

#include <petsc/private/sfimpl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "petsc/counter.hpp"
#include "petsc/exchange.hpp"

namespace tonari::petsc {

// The arguments of a call of PetscSFBcastBegin or PetscSFReduceBegin.
struct Call {
  Way way;
  MPI_Datatype unit;
  const void* source;
  void* target;
  MPI_Op op;
  bool on_host;
};

class Carrier {
 public:
  // basic: what a star forest of that type does.
  explicit Carrier(const _PetscSFOps& basic) : basic_(basic) {}
  const _PetscSFOps& basic() const { return basic_; }

  bool races = true;
  PetscInt connects_at = 3;  // the use by which ranks connect
  void take_settings(const Carrier& other) { races = other.races, connects_at = other.connects_at; }

  // Whether basic does all calls like this, and nothing is left to find out: then it is counted,
  // and basic is to begin it. A few instructions.
  bool passes_on(Way way, MPI_Datatype unit, MPI_Op op) {
    const Passed& known = passed_[static_cast<std::size_t>(way)];
    if (!useless_ && (unit != known.unit || op != known.op)) return false;
    count_passed_on();
    return true;
  }
  // Collective, as the functions of PETSc: begins it by tonari, or says that basic is to.
  PetscErrorCode begin(PetscSF sf, const Call& call, bool* begun);
  // Whether tonari or basic is to end it; by tonari it is complete then. Not if idle: basic is to.
  PetscErrorCode end(PetscSF sf, const Call& call, bool* ended);
  // There is another graph. None may be under way.
  void begin_anew() { forget(), uses_ = 0; }
  bool idle() const { return flights_.empty(); }
  PetscErrorCode view(PetscViewer viewer) const;

 private:
  // An exchange that was begun; without a lane by basic, and only timed here.
  struct Flight {
    Call call;
    Exchange* exchange;
    Lane* lane;
    double seconds;  // so far; negative: not timed
    bool asks;       // its end hears who has won the heat
  };
  // The last calls of a way that basic does for good, if their unit cannot become another one.
  struct Passed {
    MPI_Datatype unit = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL;
  };
  void count_passed_on() { ++passed_on_, ++counter().passed_on; }
  // Gives up all that was made for the graph of before.
  void forget();
  PetscErrorCode connect(PetscSF sf);
  PetscErrorCode find(PetscSF sf, const Call& call, Exchange** exchange);
  PetscErrorCode find_kind(PetscSF sf, const Call& call, Exchange** exchange);
  PetscErrorCode find_flight(const Call& call, std::size_t* flight) const;
  PetscErrorCode add(PetscSF sf, const Kind& kind, Exchange** exchange);
  PetscErrorCode basic_begin(PetscSF sf, const Call& call) const;
  PetscErrorCode basic_end(PetscSF sf, const Call& call) const;
  PetscErrorCode start(PetscSF sf, const Call& call, Exchange& exchange, Lane* lane, bool timed);
  PetscErrorCode complete(PetscSF sf, Flight& flight);
  PetscErrorCode tell_race(PetscSF sf, const Flight& flight, double seconds);
  bool was_remapped(PetscSF sf) const;

  const _PetscSFOps basic_;
  PetscInt uses_ = 0;
  PetscMPIInt name_ = 0;  // of the star forest, as races have it
  bool connected_ = false, useless_ = false;
  std::unique_ptr<Vectors> vectors_;
  std::vector<std::unique_ptr<Exchange>> exchanges_;
  std::vector<Flight> flights_;
  // The last call whose unit cannot become another one, and what it found.
  Call last_call_{};
  Exchange* last_found_ = nullptr;
  std::array<Passed, 2> passed_{};  // by way
  std::int64_t carried_ = 0, passed_on_ = 0;
};

// That of a star forest; it has none unless tonari is in front of it.
Carrier* carrier_of(PetscSF sf);
Carrier& add_carrier(PetscSF sf, const _PetscSFOps& basic);
void remove_carrier(PetscSF sf);

}  // namespace tonari::petsc
