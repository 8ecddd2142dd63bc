// SPDX-License-Identifier: BSD-3-Clause
// What exchanges of all ranks cost, which no ping-pong shows: each sends and receives at the same
// time, all of them use the memory, and where ranks share cores a message waits until its receiver
// has its turn.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "engine/comm/calibrate.hpp"
#include "engine/comm/partner.hpp"
#include "engine/wait/agree.hpp"
#include "memory/wait.hpp"

namespace tonari {
namespace {

constexpr int word = 8, middle = 16 * 1024, longest = 64 * 1024;  // bytes of a message
constexpr int several = 8;                                        // words for one partner
constexpr std::size_t few = 2;                                    // partners, with room for all
constexpr int farthest = 3;                                       // steps to a partner
constexpr int first_rounds = 3, rounds = 30;
// Seconds of a round: then there is time for all of them. Long messages vary more.
constexpr double quick = 3e-4, quick_if_long = 1e-3;

// What a rank sends to each of its first partners, and gets from them.
struct Load {
  std::size_t partners;
  int messages, bytes;
};

// The ranks that are near on a ring, the nearest first.
class Ring {
 public:
  // Longer messages are for the first partners only.
  Ring(MPI_Comm comm, int rank, int size, bool turns, int bytes)
      : comm_(comm), policy_{.crowded = turns} {
    std::vector<int> near;
    for (int step = 1; step <= farthest; ++step)
      for (const int peer : {(rank + step) % size, (rank + farthest * size - step) % size})
        if (peer != rank && std::ranges::count(near, peer) == 0) near.push_back(peer);
    for (const int peer : near) {
      room_.push_back(room_.size() < few ? std::max(bytes, several * word) : several * word);
      partners_.push_back(
          std::make_unique<Partner>(comm, peer, 2 * static_cast<std::size_t>(room_.back())));
    }
    times_.reserve(rounds);
  }
  std::size_t partners() const { return partners_.size(); }

  // Collective: the time of an exchange. On a slow machine few rounds must do.
  double time(const Load& load) {
    exchange(load);  // touches the memory
    run(load, first_rounds);
    const bool soon = typical() < (load.bytes > word ? quick_if_long : quick);
    if (broadcast(comm_, soon ? "more" : "") == "more") run(load, rounds);
    return typical();
  }

 private:
  void run(const Load& load, int count) {
    times_.clear();
    for (int k = 0; k < count; ++k) times_.push_back(exchange(load));
  }
  // By who comes first, exchanges take longer and shorter: the middle one counts.
  double typical() {
    const auto half = times_.begin() + static_cast<std::ptrdiff_t>(times_.size() / 2);
    std::nth_element(times_.begin(), half, times_.end());
    return *half;
  }

  double exchange(const Load& load) {
    const double start = MPI_Wtime();
    const auto each = [&](auto&& begin) {
      for (std::size_t p = 0; p < load.partners; ++p)
        for (int k = 0; k < load.messages; ++k) begin(*partners_[p], room_[p], k * load.bytes);
    };
    each([&](Partner& partner, int room, int at) {
      partner.start_recv(partner.data() + room + at, load.bytes, MPI_BYTE, measure_word);
    });
    each([&](Partner& partner, int, int at) {
      std::fill_n(partner.data() + at, load.bytes, std::byte{1});  // programs write what they send
      partner.start_send(partner.data() + at, load.bytes, MPI_BYTE, measure_word);
    });
    complete(load.partners);
    return MPI_Wtime() - start;
  }

  // Waits as exchanges do. Where that takes long, others have the core, or somebody has died; then
  // Partner waits.
  void complete(std::size_t partners) {
    constexpr int most_looks = 2000;
    Wait waiting(policy_);
    int looks = 0;
    for (std::size_t p = 0; p < partners; ++p)
      while (!partners_[p]->complete_soon())
        if (waiting.idle(false) >= Wait::Then::tell || ++looks > most_looks)
          partners_[p]->complete();
  }

  MPI_Comm comm_;
  WaitPolicy policy_;
  std::vector<int> room_;  // bytes for one direction of each
  std::vector<std::unique_ptr<Partner>> partners_;
  std::vector<double> times_;
};

// The model says for n messages of b bytes from each rank, where r of them share a core:
//
//   r (2 n o + n b G + core_switch) + L, and beyond the eager limit rendezvous and r core_switch
//
// Without turns there is no core_switch, and with them no L: that is a part of the turns.
class Fit {
 public:
  Fit(LogGP& machine, Ring& ring, double ranks)
      : machine_(machine),
        ring_(ring),
        ranks_(ranks),
        near_(std::min(few, ring.partners())),
        one_(ring.time({near_, 1, word})) {}

  double of_words() const { return one_; }

  // What more messages take. To more partners, if there are any: the first message to each takes
  // longest, since ranks have touched other memory since the last one.
  void overhead() {
    const bool others = ring_.partners() > near_;
    const Load more = others ? Load{ring_.partners(), 1, word} : Load{near_, several, word};
    const std::size_t messages = others ? ring_.partners() - near_ : near_ * (several - 1);
    machine_.o = std::max(machine_.o,
                          (ring_.time(more) - one_) / (2 * ranks_ * static_cast<double>(messages)));
  }
  void latency() { machine_.L = std::max(least, one_ - work()); }
  // At least half of an exchange of words: ranks that are late make more messages look dearer.
  void turn() {
    machine_.o = std::min(machine_.o, one_ / (4 * ranks_ * static_cast<double>(near_)));
    machine_.o = std::max(machine_.o, least);
    machine_.core_switch = std::max(least, (one_ - machine_.L) / ranks_ - work());
  }
  // Nor do words in shared memory then take more of a processor than those of the MPI.
  void no_latency_but_turns() {
    machine_.L = machine_.shared_latency = least;
    machine_.shared_overhead = std::min(machine_.shared_overhead, machine_.o);
  }
  void bytes() {
    const double half = ring_.time({near_, 1, middle}), all = ring_.time({near_, 1, longest}),
                 many = ranks_ * static_cast<double>(near_);
    // Without what writing them takes, which the other core's cache makes longer, too.
    const double byte = (all - half) / (many * (longest - middle));
    machine_.G = std::max(1e-12, byte - machine_.copy_byte);
    if (machine_.eager >= static_cast<std::size_t>(middle)) return;
    const double turns = ranks_ > 1 ? ranks_ * machine_.core_switch : 0;
    machine_.rendezvous = std::max(0.0, half - one_ - turns - many * middle * byte);
  }

 private:
  static constexpr double least = 1e-9;
  double work() const { return 2 * static_cast<double>(near_) * machine_.o; }

  LogGP& machine_;
  Ring& ring_;
  double ranks_;
  std::size_t near_;  // partners
  double one_;        // the time of a word for each of them
};

}  // namespace

void measure_exchanges(LogGP& machine, MPI_Comm comm, std::size_t ranks_per_core, bool one_node) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const bool turns = ranks_per_core > 1;
  std::unique_ptr<Ring> ring;
  run_collectively(comm, [&] {
    ring = std::make_unique<Ring>(comm, rank, size, turns, one_node ? longest : word);
  });
  Fit fit(machine, *ring, static_cast<double>(ranks_per_core));
  const double slow = std::max(quick, time_for_messages() / 100);
  const bool all = one_node && broadcast(comm, fit.of_words() < slow ? "more" : "") == "more";
  if (all) fit.overhead();
  if (turns && one_node) fit.no_latency_but_turns();
  if (turns)
    fit.turn();
  else
    fit.latency();
  if (all) fit.bytes();
}

}  // namespace tonari
