// SPDX-License-Identifier: BSD-3-Clause
// Every call that makes something begins like this: each rank reads its arguments. Then all agree
// on errors, and on what must be the same everywhere.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/wait/agree.hpp"
#include "request/guard.hpp"
#include "request/refusal.hpp"

namespace tonari {

// Where the program wants the result, with the argument's name as the function declares it.
struct Output {
  const void* address;
  const char* name;
};
// Calls of the library itself need no such argument.
inline constexpr Output inside{nullptr, nullptr};

// A value that ranks compare, and the sentence (Errc::mismatch) for a difference; if that is null,
// a difference is no error.
struct Alike {
  Ballot ballot;
  const char* otherwise = nullptr;
};
// Compares settings: the sentence names the one that differs, two ranks and their values.
inline constexpr char other_settings[] = "";

struct Compared {  // for each thing that was compared
  std::size_t count = 0;
  std::array<bool, Vote::ballots_at_once> same{};
  std::array<std::uint64_t, Vote::ballots_at_once> said{};  // the `values` of agree()
};

// What is wrong with this rank's arguments, which `read` reads. Local.
template <class Read>
std::optional<Error> wrong_argument(Output output, Read read) {
  return error_of([&] {
    throw_refusal();
    if (output.name) require(output.address, output.name);
    read();
  });
}

// Collective. `wrong`: of this rank. Compares at most Vote::ballots_at_once things, which are there
// even if something is wrong. Throws the same on all ranks.
Compared agree_on_arguments(MPI_Comm comm, MPI_Info info, const std::optional<Error>& wrong,
                            std::span<const Alike> things);

}  // namespace tonari
