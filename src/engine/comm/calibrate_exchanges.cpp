// SPDX-License-Identifier: BSD-3-Clause
// What it costs that ranks share cores: a message waits until its receiver has its turn.
#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "engine/comm/calibrate.hpp"
#include "engine/comm/partner.hpp"
#include "engine/wait/agree.hpp"

namespace tonari {
namespace {

constexpr int first_rounds = 3, rounds = 30;
constexpr double quick = 2e-4;  // seconds of a round: then there is time for all rounds

// Exchanges of words with the ranks that are at most two away on a ring.
class Ring {
 public:
  Ring(MPI_Comm comm, int rank, int size) {
    std::set<int> near;
    for (const int step : {1, 2, size - 1, size - 2})
      if (size > step && step > 0) near.insert((rank + step) % size);
    for (const int peer : near)
      partners_.push_back(std::make_unique<Partner>(comm, peer, 2 * word));
    times_.reserve(rounds);
  }
  double messages() const { return static_cast<double>(partners_.size()); }

  void run(int count) {
    times_.clear();
    for (int k = 0; k < count; ++k) times_.push_back(exchange());
  }
  double median() {
    const auto middle = times_.begin() + static_cast<std::ptrdiff_t>(times_.size() / 2);
    std::nth_element(times_.begin(), middle, times_.end());
    return *middle;
  }

 private:
  static constexpr int word = 8;

  double exchange() {
    const double start = MPI_Wtime();
    for (const auto& partner : partners_)
      partner->start_recv(partner->data() + word, word, MPI_BYTE, measure_word);
    for (const auto& partner : partners_)
      partner->start_send(partner->data(), word, MPI_BYTE, measure_word);
    for (const auto& partner : partners_) partner->complete_in_turns();
    return MPI_Wtime() - start;
  }

  std::vector<std::unique_ptr<Partner>> partners_;
  std::vector<double> times_;
};

}  // namespace

// The model says for a round: ranks (messages (2 o) + core_switch) + L.
void measure_turns(LogGP& machine, MPI_Comm comm, std::size_t ranks_per_core) {
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  std::unique_ptr<Ring> ring;
  run_collectively(comm, [&] { ring = std::make_unique<Ring>(comm, rank, size); });
  ring->run(first_rounds);
  if (broadcast(comm, ring->median() < quick ? "more" : "") == "more") ring->run(rounds);
  machine.core_switch =
      std::max(1e-9, (ring->median() - machine.L) / static_cast<double>(ranks_per_core) -
                         2 * ring->messages() * machine.o);
}

}  // namespace tonari
