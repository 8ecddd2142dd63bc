// SPDX-License-Identifier: BSD-3-Clause
// tonari for C++20: tonari.h with owners, spans and exceptions. Header only.
//
//   tonari::Neighborhood near(cart, offsets);
//   tonari::Request swap = near.alltoall_init(out, in);  // any contiguous ranges: see ranges.hpp
//   for (...) { swap.start(); compute_interior(); swap.wait(); compute_border(); }
//
// What the operations do, which are collective, and what may overlap is said in tonari.h. Here in
// addition:
//  - A function that fails throws tonari::Failure, on all ranks if it is collective. It carries the
//    code and the sentence.
//  - Destructors free. That of Neighborhood is collective: let neighborhoods of one communicator go
//    in the same order on all ranks. A Request that is active is waited for, because other ranks
//    may depend on blocks that pass through this one.
//  - Counts, displacements and types must have one entry per neighbor (in place: per rank); their
//    length is checked. Counts are int or MPI_Count (ranges.hpp); if one side has these and the
//    other those, the call copies one list.
#pragma once

#include <tonari/in_place.hpp>
#include <tonari/neighborhood.hpp>
#include <tonari/request.hpp>
