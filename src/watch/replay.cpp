// SPDX-License-Identifier: BSD-3-Clause
#include "watch/replay.hpp"

#include <mpi.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "watch/matches.hpp"
#include "watch/rehearsal.hpp"

namespace tonari::watch {
namespace {

using Words = std::vector<std::uint64_t>;

// Those of a rank that are compared with others', and from how many ranks on none are: each rank
// reads what all have.
constexpr std::size_t most_outlines = 64;
constexpr int most_ranks = 2048;

std::vector<Partner> partners(const Pattern& pattern) {
  std::map<int, Partner> by_rank;
  for (const Message& one : pattern.messages) {
    Partner& partner = by_rank[one.peer];
    partner.rank = one.peer;
    (one.sent ? partner.sent : partner.received) += 1;
    (one.sent ? partner.bytes : partner.room) += one.bytes;
  }
  std::vector<Partner> all;
  for (const auto& [rank, partner] : by_rank) all.push_back(partner);
  return all;
}

// ---- outlines as words

void write(const Candidate& one, Words& words) {
  const std::vector<Partner> all = partners(*one.pattern);
  words.insert(words.end(),
               {one.key, one.pattern->epochs, std::bit_cast<std::uint64_t>(one.seconds),
                std::uint64_t{one.pattern->varies}, one.parts, all.size()});
  for (const Partner& partner : all)
    words.insert(
        words.end(),
        {static_cast<std::uint64_t>(partner.rank + 1), static_cast<std::uint64_t>(partner.sent),
         static_cast<std::uint64_t>(partner.received), partner.bytes, partner.room});
}

Outline read(const std::uint64_t*& next, int rank) {
  Outline one{.rank = rank,
              .key = next[0],
              .epochs = next[1],
              .seconds = std::bit_cast<double>(next[2]),
              .varies = next[3] != 0,
              .parts = next[4],
              .partners = {}};
  std::uint64_t left = next[5];
  for (next += 6; left > 0; --left, next += 5)
    one.partners.push_back({static_cast<int>(next[0]) - 1, static_cast<int>(next[1]),
                            static_cast<int>(next[2]), next[3], next[4]});
  return one;
}

// Collective: what all ranks have, in the order of ranks.
std::vector<Outline> outlines(const std::vector<Candidate>& mine, MPI_Comm comm) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  Words own, all;
  for (std::size_t k = 0; k < mine.size() && k < most_outlines && ranks <= most_ranks; ++k)
    write(mine[k], own);
  const int count = static_cast<int>(own.size());
  std::vector<int> counts(static_cast<std::size_t>(ranks)), places(counts.size());
  PMPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
  int end = 0;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) places[rank] = end, end += counts[rank];
  all.resize(static_cast<std::size_t>(end));
  PMPI_Allgatherv(own.data(), count, MPI_UINT64_T, all.data(), counts.data(), places.data(),
                  MPI_UINT64_T, comm);
  std::vector<Outline> read_all;
  const std::uint64_t* next = all.data();
  for (int rank = 0; rank < ranks; ++rank)
    for (const std::uint64_t* const last = next + counts[static_cast<std::size_t>(rank)];
         next != last;)
      read_all.push_back(read(next, rank));
  return read_all;
}

// This rank's candidates in the match: none or one, if that is whole.
std::vector<Candidate*> mine_in(const Match& match, const std::vector<Outline>& all, int rank,
                                std::vector<Candidate>& mine) {
  std::vector<Candidate*> found;
  for (const std::size_t member : match.members)
    if (all[member].rank == rank)
      found.push_back(&*std::ranges::find(mine, all[member].key, &Candidate::key));
  return found;
}

Replay replay_of(const std::vector<Candidate*>& here, double seconds, MPI_Comm comm) {
  if (here.empty()) return replayed(nullptr, false, seconds, comm);
  return replayed(here.front()->pattern, here.front()->collective, seconds, comm);
}

// What all replays may take, and what one of those that are left may.
constexpr double most_seconds = 10.0, most_of_one = 4.0, fewest_of_one = 0.1;

class Time {
 public:
  explicit Time(MPI_Comm comm) : comm_(comm) {}
  // Collective: seconds for one of `left` replays; 0: there are none left. Those that are quick
  // leave time to the others.
  double for_one_of(std::size_t left) {
    double seconds = most_seconds - (PMPI_Wtime() - begin_);
    PMPI_Bcast(&seconds, 1, MPI_DOUBLE, 0, comm_);
    if (seconds < fewest_of_one) return 0.0;
    const double share = 2.0 * seconds / static_cast<double>(left);
    return std::clamp(share, fewest_of_one, std::min(most_of_one, seconds));
  }

 private:
  MPI_Comm comm_;
  double begin_ = PMPI_Wtime();
};

}  // namespace

void replay_all(std::vector<Candidate>& mine, std::size_t most) {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, ranks = 0;
  if (PMPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS) return;
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &ranks);
  std::ranges::stable_sort(mine, std::ranges::greater{}, &Candidate::seconds);
  for (Candidate& one : mine)
    one.replay.why = ranks <= most_ranks ? "others took more time" : "too many ranks";
  const std::vector<Outline> all = outlines(mine, comm);
  std::vector<std::pair<Candidate*, std::uint64_t>> named;
  const std::vector<Match> matches = matches_of(all);
  const auto is_replayed = [](const Match& match) { return match.whole && match.wanted; };
  most = std::min(most, static_cast<std::size_t>(std::ranges::count_if(matches, is_replayed)));
  Time time(comm);
  for (const Match& match : matches) {
    const std::vector<Candidate*> here = mine_in(match, all, rank, mine);
    Replay replay;
    if (!match.wanted)
      replay.why = "it is one pattern";
    else if (!match.whole)
      replay.why = "ranks do not expect what others send";
    else if (most == 0)
      replay.why = "others took more time";
    else if (const double seconds = time.for_one_of(most--); seconds > 0.0)
      replay = replay_of(here, seconds, comm);
    else
      replay.why = "the 10 s for replays were over";
    for (Candidate* one : here) one->replay = replay, named.emplace_back(one, match.key);
  }
  for (const auto& [candidate, key] : named) candidate->key = key;
  PMPI_Comm_free(&comm);
}

}  // namespace tonari::watch
