// SPDX-License-Identifier: BSD-3-Clause
// Agreement between ranks: all succeed, or all fail with the same sentence. Nothing hangs, and no
// rank goes on alone.
//
// What ranks do together, they do in a scope, `run_collectively`. A rank that fails anywhere in it,
// out of memory for instance, leaves it and enters an agreement with its error. So every collective
// step within a scope begins with an agreement, which the other ranks then have in common with that
// rank. That agreement is `stay_together` where there is nothing else to agree on. Between it and
// the end of the step nothing fails on one rank only: no memory is allocated there. Such a step may
// be a scope of its own on another communicator, or one whose errors are caught and not passed on.
// Then the same holds for its beginning.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "memory/wait.hpp"
#include "mpi/collective.hpp"
#include "mpi/mpi_error.hpp"

namespace tonari {

// The largest value that ranks can compare; of larger ones the two highest bits are lost. MPICH
// 4.0.2 takes the maximum of MPI_UINT64_T as if it had a sign.
inline constexpr std::uint64_t largest_ballot = (std::uint64_t{1} << 62) - 1;

// Ranks should have the same value of a ballot. Ranks that abstain agree with all others; if all
// abstain, it counts as different.
struct Ballot {
  Ballot(std::uint64_t v = 0) : value(v) {}
  Ballot(std::uint64_t v, bool abstain) : value(v), abstains(abstain) {}
  std::uint64_t value;
  bool abstains = false;
};

// Collective. If `local` holds an error on some rank, all ranks throw the error of the lowest such
// rank, whose number is in front of its sentence unless all ranks have the same one. Otherwise it
// returns for every ballot whether it has the same value on all ranks. `values` receives those same
// values, also on ranks that abstained. It takes one MPI_Iallreduce if there is no error and there
// are few ballots. Meanwhile it drives the exchanges in flight (engine/wait/in_flight.hpp). So
// calls that begin with an agreement may be made between start and completion of others. Any two
// agreements can meet, so a failing rank is heard whatever the others agree on. Without an error,
// all must bring equally many ballots.
std::vector<bool> agree(MPI_Comm comm, const std::optional<Error>& local,
                        std::span<const Ballot> ballots = {},
                        std::vector<std::uint64_t>* values = nullptr);

// Collective, before a collective step: throws on all ranks if one of them has failed before it
// came here.
inline void stay_together(MPI_Comm comm) { agree(comm, std::nullopt); }

// Looks in a loop that waits for all ranks of a communicator.
class AllAwaited {
 public:
  explicit AllAwaited(MPI_Comm comm) : comm_(comm) {}
  // Call this after a look that found nothing. It tells of a long wait. An error that it returns
  // (Errc::peer) says that a rank has ended; it holds unless the next look finds something.
  std::optional<Error> idle();
  void reset() { idle_.reset(); }

 private:
  MPI_Comm comm_;
  IdleTests idle_;
};

// Waits for a non-blocking collective, and meanwhile drives the exchanges in flight, as agree does.
// comm: the collective's. If given_up, it throws Errc::peer on each rank that sees that one on its
// node has ended; then the collective stays under way, and its buffers must stay where they are.
void complete_while_driving(MPI_Comm comm, MPI_Request& request, IfOneDies deaths);

// One agreement, for callers that have other things to do meanwhile. It must be completed, and then
// concluded.
class Vote {
 public:
  static constexpr std::size_t ballots_at_once = 17;  // few enough to cost no more than a word

  // Does not block. `error` is this rank's, and must live until the end.
  explicit Vote(MPI_Comm comm, const Error* error = nullptr, std::span<const Ballot> ballots = {});
  ~Vote();
  Vote(const Vote&) = delete;
  Vote& operator=(const Vote&) = delete;

  bool test() { return is_complete(request_); }
  // Drives exchanges in flight meanwhile. Throws Errc::peer if a rank has ended; then no scope
  // agrees on that again.
  void wait();
  // collective, after completion: throws the error of the lowest rank that has one
  void conclude();
  bool same(std::size_t ballot) const {
    return words_[1 + 2 * ballot] + words_[2 + 2 * ballot] == largest_ballot;
  }
  std::uint64_t said(std::size_t ballot) const { return words_[1 + 2 * ballot]; }

 private:
  using Words = std::array<std::uint64_t, 3 + 2 * ballots_at_once>;
  static Words* take_words();
  void vote(std::size_t ballot, std::uint64_t value);

  MPI_Comm comm_;
  const Error* error_;
  int rank_ = 0, size_ = 0;
  // The first word finds the lowest rank with an error. For a ballot v, the maxima of v and of
  // largest - v add up to largest only if v is the same everywhere. The last two words are a ballot
  // of the sentence.
  // They lie where an agreement that is given up may leave them; if too many are under way, here.
  Words own_{};
  Words* const taken_ = take_words();
  Words& words_ = taken_ ? *taken_ : own_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

// Collective: runs `work`, which may have collective steps, and agrees on its outcome.
template <class Work>
void run_collectively(MPI_Comm comm, Work&& work) {
  const std::optional<Error> error = error_of(std::forward<Work>(work));
  if (error && error->on_all_ranks()) throw *error;
  agree(comm, error);
}

// Collective: returns rank 0's text on all ranks.
std::string broadcast(MPI_Comm comm, const std::string& text);
// The same for what is mostly short: up to 118 bytes take one agreement.
std::string broadcast_line(MPI_Comm comm, const std::string& text);

}  // namespace tonari
