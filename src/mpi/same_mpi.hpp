// SPDX-License-Identifier: BSD-3-Clause
// Tells whether the program runs with the MPI that this library was compiled for. Handles of Open
// MPI are pointers, and those of MPICH and its relatives are integers. Those of the standard ABI of
// MPI 5.0 are pointers with other values. So a call with a handle of another kind crashes, or does
// something else.
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>

namespace tonari {

// MPIs whose mpi.h gives handles and constants the same values. `unknown`: nothing can be said.
enum class MpiFamily { unknown, open_mpi, mpich, standard_abi };

// The family of an MPI with an ABI of its own, from what its MPI_Get_library_version returns.
MpiFamily family_of(std::string_view library_version);

// That of the mpi.h that this was compiled with, and that of the MPI that the program runs with.
MpiFamily compiled_family();
MpiFamily running_family();

// "was built for one, but the program runs with another"; empty if they fit, or if one of them is
// unknown.
std::string other_mpi_than(MpiFamily compiled_for, MpiFamily running,
                           const std::string& library_version);

// What to tell a program that runs with an MPI of this family and version, where the library was
// compiled for another family; empty if they fit, or if one of them is unknown.
std::string wrong_mpi(MpiFamily compiled_for, MpiFamily running,
                      const std::string& library_version);

// Throws Errc::mpi if the program runs with another MPI than that of this library, or if no MPI is
// initialized. It comes before the first handle of MPI is looked at. The first error is also
// printed: a program that ignores it would crash without a word.
//
// A program with sessions alone never calls MPI_Init, and MPI_Initialized says so. There `comm`
// proves that MPI runs: only a session makes a communicator that is neither null nor one of the
// world's.
void require_same_mpi(MPI_Comm comm);

// Whether calls of MPI are ours, and may be made: the world has begun, or a session was proved.
bool is_same_mpi();

// Notes what `comm` proves, if anything.
void note_session(MPI_Comm comm);

// Whether a number that Fortran has for a communicator can only come from a session, where no world
// has begun. False if it is of another MPI than ours.
bool is_number_of_session(int number);

// Whether a communicator was seen while no world ran: then sessions run, or ran.
bool sessions_proved();

}  // namespace tonari
