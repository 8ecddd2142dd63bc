// SPDX-License-Identifier: BSD-3-Clause
#include "watch/rehearsal.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "watch/of_all.hpp"

namespace tonari::watch {
namespace {

constexpr int most_sets = 4;  // of sizes, where they change

bool makes_requests_once(const Pattern& pattern) {
  return std::string_view(pattern.messages.front().call).ends_with("_init");
}

// The sets of sizes that are exchanged, and after how many epochs the next one came.
struct Sets {
  std::vector<const Messages*> messages;
  Messages largest;     // behind the number of bytes that each message has
  double epochs = 0.0;  // of one; infinity: a request lasts
};

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t bytes_of_number = 8;

Sets sets_of(const Pattern* pattern, MPI_Comm comm) {
  static const Messages none;
  const bool varies = pattern && pattern->varies;
  const std::size_t kept = varies ? pattern->sizes.kept.size() : 0;
  const int mine = varies ? static_cast<int>(kept) : most_sets;
  const bool any = of_all(int{varies}, MPI_INT, MPI_MAX, comm) != 0;
  const int count = any ? std::min(most_sets, of_all(mine, MPI_INT, MPI_MIN, comm)) : 1;
  Sets sets;
  for (int k = 0; k < count; ++k)
    sets.messages.push_back(varies    ? &pattern->sizes.kept[static_cast<std::size_t>(k) * kept /
                                                          static_cast<std::size_t>(count)]
                            : pattern ? &pattern->messages
                                      : &none);
  sets.largest = varies ? pattern->sizes.largest : *sets.messages.front();
  for (Message& one : sets.largest) one.bytes += bytes_of_number;
  const double epochs =
      varies && !makes_requests_once(*pattern)
          ? static_cast<double>(pattern->epochs) /
                static_cast<double>(std::max(pattern->stretches, std::uint64_t{1}))
          : infinity;
  sets.epochs = of_all(epochs, MPI_DOUBLE, MPI_MIN, comm);
  return sets;
}

void add(Medians& sum, const Medians& one, double share) {
  sum.mpi += share * one.mpi, sum.tonari += share * one.tonari;
}

// The mean over sets, of which each is so much.
void add(Replay& sum, const Replay& one, double share) {
  add(sum.all, one.all, share);
  add(sum.first, one.first, share), add(sum.second, one.second, share);
  sum.making += share * one.making;
  sum.busy = std::max(sum.busy, one.busy);
  sum.how = one.how, sum.why = one.why;
}

void take_room(Replay& all, const Replay& room) {
  all.all.tonari = room.all.tonari;
  all.first.tonari = room.first.tonari, all.second.tonari = room.second.tonari;
  all.making = 0.0;
  all.has_room = true;
  all.how = room.how;
}

}  // namespace

Replay replayed(const Pattern* pattern, bool collective, double seconds, MPI_Comm comm) {
  const bool collectives = all_say(collective || !pattern, comm);
  const Sets sets = sets_of(pattern, comm);
  const double share = 1.0 / static_cast<double>(sets.messages.size());
  if (sets.epochs != infinity) seconds /= 2;  // a request with room takes the other half
  Replay all;
  for (const Messages* const messages : sets.messages) {
    add(all, measured(*messages, collectives, seconds * share, comm), share);
    if (!all.why.empty()) return all;
  }
  if (sets.epochs == infinity) return all.making = 0.0, all;
  all.making /= sets.epochs;
  for (Medians* const one : {&all.all, &all.first, &all.second}) one->tonari += all.making;
  const Replay room = measured(sets.largest, collectives, seconds, comm);
  if (room.why.empty() && room.all.tonari < all.all.tonari) take_room(all, room);
  return all;
}

}  // namespace tonari::watch
