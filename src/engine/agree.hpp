// Agreement between ranks: all succeed, or all fail with the same sentence (nothing hangs, nobody goes on alone).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace tonari {

// The largest value that ranks can compare; of larger ones the two highest bits are lost. MPICH 4.0.2 takes the maximum of MPI_UINT64_T as if it had a sign.
inline constexpr std::uint64_t largest_ballot = (std::uint64_t{1} << 62) - 1;

// What ranks should have the same value of. Those that abstain go with all others; if all do, it counts as different.
struct Ballot {
  Ballot(std::uint64_t v) : value(v) {}
  Ballot(std::uint64_t v, bool abstain) : value(v), abstains(abstain) {}
  std::uint64_t value;
  bool abstains = false;
};

// Collective. If `local` holds an error on some rank, throws the error of the lowest such rank on all ranks.
// Otherwise returns, for every ballot, whether it has the same value on all ranks. One MPI_Iallreduce if all is well; while it lasts the exchanges in flight
// are driven on (engine/in_flight.hpp), so calls that begin with an agreement may be made between start and completion of others. values: what the ballots say
// where they are the same, also for ranks that abstained.
std::vector<bool> agree(MPI_Comm comm, const std::optional<Error>& local, std::span<const Ballot> ballots = {},
                        std::vector<std::uint64_t>* values = nullptr);

// Waits for a non-blocking collective; while it lasts the exchanges in flight are driven on, as in agree.
void complete_while_driving(MPI_Request& request);

// Collective: runs `work` and agrees on how it went. std::bad_alloc becomes Errc::memory.
void together(MPI_Comm comm, const std::function<void()>& work);

// What the callable throws, as an Error; nothing if it returns.
std::optional<Error> caught(const std::function<void()>& work);

// Collective: rank 0's text on all ranks.
std::string broadcast(MPI_Comm comm, std::string text);

}  // namespace tonari
