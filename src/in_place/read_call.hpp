// SPDX-License-Identifier: BSD-3-Clause
// A call of an exchange in place, and what one rank reads of it.
#pragma once

#include <mpi.h>

#include "in_place/general_exchange.hpp"
#include "in_place/in_place_choice.hpp"
#include "neighborhood/agree_on_call.hpp"

namespace tonari {

// Symmetric: block j is swapped with rank j. General: both sides in v form, of the same buffer and
// type.
struct InPlaceCall {
  BufferArguments blocks;  // general: those to receive
  BufferArguments send;    // general
  bool general;
  MPI_Comm comm;
  MPI_Info info;
};

// A channel that leads to other nodes, or uses derived datatypes, stands for the nearest one that
// exchanges in place have.
Settings read_in_place(const InPlaceCall& call);

// Block j for rank j. Throws Errc::argument (null, negative), Errc::buffers (blocks, or elements of
// one, share a byte), Errc::overflow, Errc::mpi. What is kept takes memory for one element of each
// type; only blocks whose spans interleave are looked at element by element. For use once nothing
// is measured.
SwapProblem read_symmetric(const InPlaceCall& call, Use use, const Context& context);
// Throws the same.
GeneralProblem read_general(const InPlaceCall& call, const Context& context);

}  // namespace tonari
