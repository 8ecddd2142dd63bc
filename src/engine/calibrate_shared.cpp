// SPDX-License-Identifier: BSD-3-Clause
// What a message through shared memory costs.
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "channels/control_tags.hpp"
#include "channels/mpi_error.hpp"
#include "channels/shared/link.hpp"
#include "engine/agree.hpp"
#include "engine/calibrate.hpp"
#include "memory/wait.hpp"

namespace tonari {
namespace {

constexpr int first_tosses = 8, tosses = 100;
constexpr double time_for_all = 1e-3;  // seconds

// Two ranks that send a word back and forth through shared memory. They have their memory before
// they begin.
class Toss {
 public:
  Toss(const std::shared_ptr<const Node>& node, int rank)
      : first_(node->index(rank) == 0),
        peer_(node->ranks()[first_ ? 1 : 0]),
        policy_{node->crowded(), 10},
        names_{{peer_, {}}} {
    if (!error_of([&] { link_.emplace(node, rank, messages(), messages(), SharedLimits{}); }))
      mine_ = link_->segment();
    times_.reserve(tosses);
  }
  // Both call this; it tells whether they can.
  bool connect(MPI_Comm comm) {
    swap(comm, &mine_, &names_[peer_], sizeof mine_);
    bool attached = false;
    int good = !error_of([&] { attached = link_ && link_->attach(names_); }) && attached,
        theirs = 0;
    swap(comm, &good, &theirs, sizeof good);
    return good && theirs;
  }
  // The time of one way. On a busy machine few rounds must do.
  double time(MPI_Comm comm) {
    for (int k = 0; k < first_tosses; ++k) times_.push_back(round_trip() / 2);
    int quick = undisturbed(times_) * 2 * tosses < time_for_all, others = 0;
    swap(comm, &quick, &others, sizeof quick);
    for (int k = first_tosses; k < tosses && quick && others; ++k)
      times_.push_back(round_trip() / 2);
    return undisturbed(times_);
  }

 private:
  double round_trip() {
    const double start = MPI_Wtime();
    if (first_) write();
    read();
    if (!first_) write();
    parity_ ^= 1;
    return MPI_Wtime() - start;
  }
  std::vector<EdgeMessage> messages() const { return {{peer_, 0, 8}}; }
  void swap(MPI_Comm comm, const void* mine, void* theirs, std::size_t bytes) const {
    const int count = static_cast<int>(bytes);
    call_mpi("MPI_Sendrecv", [&] {
      return MPI_Sendrecv(mine, count, MPI_BYTE, peer_, measure_shared_memory, theirs, count,
                          MPI_BYTE, peer_, measure_shared_memory, comm, MPI_STATUS_IGNORE);
    });
  }
  template <typename Ready>
  void wait(Ready ready) const {
    for (Wait waiting(policy_); !ready();) waiting.idle();
  }
  void write() {
    wait([&] { return link_->out(0).may_write(0, parity_); });
    link_->out(0).written(0, parity_);
  }
  void read() {
    wait([&] { return link_->in(0).arrived(0, parity_); });
    link_->in(0).taken(0, parity_);
  }

  bool first_;
  std::int32_t peer_;
  WaitPolicy policy_;
  std::map<std::int32_t, SegmentName> names_;
  SegmentName mine_;
  std::optional<SharedLink> link_;
  std::vector<double> times_;
  int parity_ = 0;
};

}  // namespace

// L + 2 o is what a word takes one way; writing it and finding it take a small part of that each.
void measure_shared(LogGP& machine, MPI_Comm comm, const std::shared_ptr<const Node>& node,
                    int rank) {
  std::optional<Toss> toss;
  if (node->ranks().front() == 0 && node->ranks().size() > 1 && node->index(rank) < 2)
    toss.emplace(node, rank);
  stay_together(comm);
  if (!toss || !toss->connect(comm)) return;
  const double one_way = std::max(1e-9, toss->time(comm));
  machine.shared_overhead = one_way / 8;
  machine.shared_latency = one_way - 2 * machine.shared_overhead;
}

}  // namespace tonari
