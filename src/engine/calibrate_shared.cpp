// What a message through shared memory costs.
#include <algorithm>
#include <optional>

#include "channels/control_tags.hpp"
#include "channels/mpi_error.hpp"
#include "channels/shared.hpp"
#include "engine/agree.hpp"
#include "engine/calibrate.hpp"
#include "memory/wait.hpp"

namespace tonari {
namespace {

// Two ranks that toss a word to each other through shared memory.
class Toss {
 public:
  Toss(MPI_Comm comm, const std::shared_ptr<const Node>& node, int rank)
      : first_(node->index(rank) == 0), peer_(node->ranks()[first_ ? 1 : 0]), policy_{node->crowded(), 10} {
    SegmentName mine;
    std::map<std::int32_t, SegmentName> names{{peer_, {}}};
    if (!caught([&] { link_.emplace(node, rank, messages(), messages(), SharedLimits{}); })) mine = link_->segment();
    swap(comm, &mine, &names[peer_], sizeof mine);
    int good = !caught([&] { good_ = link_ && link_->attach(names); }) && good_, theirs = 0;
    swap(comm, &good, &theirs, sizeof good);
    good_ = good && theirs;
  }
  explicit operator bool() const { return good_; }

  double round_trip() {
    const double start = MPI_Wtime();
    if (first_) write();
    read();
    if (!first_) write();
    parity_ ^= 1;
    return MPI_Wtime() - start;
  }

 private:
  std::vector<EdgeMessage> messages() const { return {{peer_, 0, 8}}; }
  void swap(MPI_Comm comm, const void* mine, void* theirs, std::size_t bytes) const {
    const int count = static_cast<int>(bytes);
    check_mpi(MPI_Sendrecv(mine, count, MPI_BYTE, peer_, measure_shared_memory, theirs, count, MPI_BYTE, peer_, measure_shared_memory, comm, MPI_STATUS_IGNORE), "MPI_Sendrecv");
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
  std::optional<SharedLink> link_;
  bool good_ = false;
  int parity_ = 0;
};

}  // namespace

// L + 2 o is what a word takes one way; writing it and finding it take a small part of that each.
void measure_shared(LogGP& machine, MPI_Comm comm, const std::shared_ptr<const Node>& node, int rank) {
  constexpr int rounds = 400;
  Toss toss(comm, node, rank);
  if (!toss) return;
  std::vector<double> times;
  for (int k = 0; k < rounds; ++k) times.push_back(toss.round_trip() / 2);
  const double one_way = std::max(1e-9, undisturbed(times));
  machine.shared_overhead = one_way / 8;
  machine.shared_latency = one_way - 2 * machine.shared_overhead;
}

}  // namespace tonari
