// How every call that makes something begins: each rank reads its arguments, then all agree on
// errors, and on what must be the same everywhere.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "api/guard.hpp"
#include "engine/agree.hpp"

namespace tonari {

// Where the program wants what a call makes, by the name that the function declares.
struct Output {
  const void* address;
  const char* name;
};
// Calls of the library itself need none.
inline constexpr Output inside{nullptr, nullptr};

// What ranks compare, and the sentence (Errc::mismatch) for where it differs; null: that is no
// error.
struct Alike {
  Ballot ballot;
  const char* otherwise = nullptr;
};
// For settings: the sentence then names the one that differs, two ranks and their values.
inline constexpr char other_settings[] = "";

struct Compared {
  std::vector<bool> same;           // of each thing that was compared
  std::vector<std::uint64_t> said;  // as `values` of agree()
};

// Collective: one compared. At most Vote::ballots_at_once things.
Compared agree_on_arguments(MPI_Comm comm, MPI_Info info, const std::optional<Error>& error,
                            std::span<const Alike> things);

// Collective. read: reads this rank's arguments, may throw. things: what to compare afterwards, an
// array; also called where reading failed. Throws the same on all ranks.
template <class Read, class Things>
Compared agree_on_arguments(MPI_Comm comm, MPI_Info info, Output output, Read read, Things things) {
  const std::optional<Error> error = error_of([&] {
    if (output.name) require(output.address, output.name);
    read();
  });
  return agree_on_arguments(comm, info, error, std::span<const Alike>(things()));
}

}  // namespace tonari
