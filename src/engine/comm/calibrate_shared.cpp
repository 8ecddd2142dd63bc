// SPDX-License-Identifier: BSD-3-Clause
// What a message through shared memory costs.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include "channels/shared/link.hpp"
#include "engine/comm/calibrate.hpp"
#include "engine/comm/partner.hpp"
#include "engine/wait/agree.hpp"
#include "engine/wait/awaited.hpp"
#include "engine/wait/hang_report.hpp"
#include "memory/memory.hpp"
#include "memory/wait.hpp"

namespace tonari {
namespace {

constexpr int first_tosses = 8, tosses = 100;
constexpr Bytes tossed_word = 8, tossed_block = 32 * 1024;  // the two messages
constexpr double time_for_all = 1e-3;                       // seconds

// Two ranks that send a word back and forth through shared memory.
class Toss {
 public:
  Toss(MPI_Comm comm, const std::shared_ptr<const Node>& node, int rank)
      : node_(node),
        first_(node->index(rank) == 0),
        peer_(node->ranks()[first_ ? 1 : 0]),
        policy_{node->crowded(), timeout_in_environment()},
        partner_(comm, peer_, 2 * sizeof(SegmentName)),
        names_{{peer_, {}}},
        block_(tossed_block) {
    std::fill_n(block_.data(), tossed_block, std::byte{1});
    if (!error_of([&] { link_.emplace(node, rank, messages(), messages(), SharedLimits{}); }))
      mine_ = link_->segment();
    times_.reserve(tosses);
  }
  // Both call this; it tells whether they can.
  bool connect() {
    names_[peer_] = swap(mine_);
    bool attached = false;
    const int good = !error_of([&] { attached = link_ && link_->attach(names_); }) && attached;
    return swap(good) && good;
  }
  // The time of one way of the word, or in which both send a block, with a copy at each end. On a
  // busy machine few rounds must do.
  double time(std::size_t message) {
    message_ = message, parity_ = 0;
    times_.clear();
    for (int k = 0; k < first_tosses; ++k) times_.push_back(toss());
    const int quick = undisturbed(times_) * 2 * tosses < time_for_all, others = swap(quick);
    for (int k = first_tosses; k < tosses && quick && others; ++k) times_.push_back(toss());
    return undisturbed(times_);
  }

 private:
  double one_way() {
    const double start = MPI_Wtime();
    if (first_) write();
    read();
    if (!first_) write();
    parity_ ^= 1;
    return (MPI_Wtime() - start) / 2;
  }
  double both_at_once() {
    const double start = MPI_Wtime();
    write();
    read();
    parity_ ^= 1;
    return MPI_Wtime() - start;
  }
  double toss() { return message_ == 0 ? one_way() : both_at_once(); }
  std::vector<EdgeMessage> messages() const {
    return {{peer_, 0, tossed_word}, {peer_, 1, tossed_block}};
  }
  template <typename Words>
  Words swap(const Words& mine) {
    static_assert(sizeof mine <= sizeof(SegmentName));
    std::byte* const theirs = partner_.data() + sizeof mine;
    std::memcpy(partner_.data(), &mine, sizeof mine);
    partner_.start_recv(theirs, sizeof mine, MPI_BYTE, measure_shared_memory);
    partner_.start_send(partner_.data(), sizeof mine, MPI_BYTE, measure_shared_memory);
    partner_.complete();
    Words other;
    std::memcpy(&other, theirs, sizeof other);
    return other;
  }
  template <typename Ready>
  void wait(Ready ready) const {
    for (Wait waiting(policy_); !ready();)
      if (waiting.idle() == Wait::Then::check) require_peer();
  }
  // The others learn of its end by themselves.
  void require_peer() const {
    if (const auto error = error_of([&] { check_alive(node_.get(), peer_); }))
      throw Error(*error).now_on_all_ranks();
  }
  std::byte* place(const std::vector<MessageSlot>& slots) const {
    return slots.front().at[static_cast<std::size_t>(parity_)];
  }
  void write() {
    OutEdge& edge = link_->out(message_);
    wait([&] { return edge.may_write(0, parity_); });
    if (message_ == 1) std::memcpy(place(edge.slots()), block_.data(), tossed_block);
    edge.written(0, parity_);
  }
  void read() {
    InEdge& edge = link_->in(message_);
    wait([&] { return edge.arrived(0, parity_); });
    if (message_ == 1) std::memcpy(block_.data(), place(edge.slots()), tossed_block);
    edge.taken(0, parity_);
  }

  std::shared_ptr<const Node> node_;
  bool first_;
  std::int32_t peer_;
  WaitPolicy policy_;
  Partner partner_;
  std::map<std::int32_t, SegmentName> names_;
  SegmentName mine_;
  std::optional<SharedLink> link_;
  Memory block_;
  std::vector<double> times_;
  std::size_t message_ = 0;
  int parity_ = 0;
};

}  // namespace

// L + 2 o is what a word takes one way; writing it and finding it take a small part of that each.
// What a block takes besides and besides its copies, in the cache of one core, is its way into that
// of another.
void measure_shared(LogGP& machine, MPI_Comm comm, const std::shared_ptr<const Node>& node,
                    int rank) {
  std::optional<Toss> toss;
  if (node->ranks().front() == 0 && node->ranks().size() > 1 && node->index(rank) < 2)
    toss.emplace(comm, node, rank);
  stay_together(comm);
  if (!toss || !toss->connect()) return;
  const double one_way = std::max(1e-9, toss->time(0)), of_block = toss->time(1);
  machine.shared_overhead = one_way / 8;
  machine.shared_latency = one_way - 2 * machine.shared_overhead;
  // Two ranks of one core show nothing of that; it is no less than what lies beyond a cache.
  machine.shared_byte = std::max(machine.copy_beyond - machine.copy_byte,
                                 (of_block - one_way) / tossed_block - 2 * machine.copy_byte);
}

}  // namespace tonari
