// SPDX-License-Identifier: BSD-3-Clause
#include "watch/measure.hpp"

#include <tonari/tonari.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>

#include "watch/machine.hpp"
#include "watch/of_all.hpp"

namespace tonari::watch {
namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20;  // of a rank's buffers
constexpr int most_warm_ups = 120;  // tonari tries its algorithms in about 100 starts
constexpr int most_rounds = 200;
constexpr int tag = 1;

// The blocks on one side of a rank, in the order of their partners.
struct Side {
  std::vector<int> ranks;
  std::vector<int> bytes;
  std::vector<MPI_Aint> places;
  std::vector<char> buffer;

  void lay_out() {
    places.resize(bytes.size());
    std::exclusive_scan(bytes.begin(), bytes.end(), places.begin(), MPI_Aint{0});
    buffer.assign(places.empty() ? 0 : static_cast<std::size_t>(places.back() + bytes.back()), 1);
  }
};

std::uint64_t all_bytes(const Messages& messages) {
  std::uint64_t all = 0;
  for (const Message& one : messages) all += one.bytes;
  return all;
}

// Messages to one rank keep their order: by that they are matched.
Side sent_by(const Messages& messages) {
  Messages out;
  std::ranges::copy_if(messages, std::back_inserter(out), &Message::sent);
  std::ranges::stable_sort(out, {}, &Message::peer);
  Side side;
  for (const Message& one : out) {
    side.ranks.push_back(one.peer);
    side.bytes.push_back(static_cast<int>(one.bytes));
  }
  side.lay_out();
  return side;
}

// Whether this rank receives in the program what others send it.
bool expects(const Messages& messages, const Side& in) {
  std::vector<int> from;
  for (const Message& one : messages)
    if (!one.sent) from.push_back(one.peer);
  std::ranges::sort(from);
  if (from.size() != in.ranks.size()) return false;
  return (!from.empty() && from.front() < 0) || from == in.ranks;
}

// Messages between ranks, and what exchanges them.
class Rehearsal {
 public:
  Rehearsal(const Messages& messages, MPI_Comm comm) : comm_(comm), out_(sent_by(messages)) {}
  ~Rehearsal() {
    if (exchange_) (void)tonari_request_free(&exchange_);
    if (near_) (void)tonari_neighborhood_free(&near_);
  }
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

  // Collective. Why it cannot be replayed; empty: it can.
  std::string connect(const Messages& messages) {
    if (!finds_sources()) return tonari_last_error();
    if (!all_say(expects(messages, in_), comm_)) return "ranks do not expect what others send";
    const double begin = PMPI_Wtime();
    if (!makes_request()) return tonari_last_error();
    making_ = of_all(PMPI_Wtime() - begin, MPI_DOUBLE, MPI_MAX, comm_);
    return "";
  }
  // Seconds of making the request, on the slowest rank.
  double making() const { return making_; }

  bool by_tonari() {
    return tonari_start(exchange_) == TONARI_SUCCESS && tonari_wait(exchange_) == TONARI_SUCCESS;
  }

  void by_messages() {
    MPI_Request* next = requests_.data();
    for (std::size_t k = 0; k < in_.ranks.size(); ++k)
      PMPI_Irecv(in_.buffer.data() + in_.places[k], in_.bytes[k], MPI_BYTE, in_.ranks[k], tag,
                 comm_, next++);
    for (std::size_t k = 0; k < out_.ranks.size(); ++k)
      PMPI_Isend(out_.buffer.data() + out_.places[k], out_.bytes[k], MPI_BYTE, out_.ranks[k], tag,
                 comm_, next++);
    PMPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

  void by_collective() {
    PMPI_Alltoallv(out_.buffer.data(), dense_out_.counts.data(), dense_out_.places.data(), MPI_BYTE,
                   in_.buffer.data(), dense_in_.counts.data(), dense_in_.places.data(), MPI_BYTE,
                   comm_);
  }
  void prepare_collective() { dense_out_ = dense(out_), dense_in_ = dense(in_); }

  // What starts have chosen, such as "linear over shared".
  std::string how() const {
    tonari_request_info info;
    if (tonari_request_get_info(exchange_, &info) != TONARI_SUCCESS) return "";
    const std::string variant = *info.variant ? std::string("/") + info.variant : "";
    return info.algorithm + variant + " over " + info.channel;
  }

 private:
  struct Dense {
    std::vector<int> counts, places;
  };

  // Blocks are in the order of ranks, so those of a rank lie side by side.
  Dense dense(const Side& side) const {
    int ranks = 0;
    PMPI_Comm_size(comm_, &ranks);
    Dense all;
    all.counts.resize(static_cast<std::size_t>(ranks)), all.places.resize(all.counts.size());
    for (std::size_t k = 0; k < side.ranks.size(); ++k)
      all.counts[static_cast<std::size_t>(side.ranks[k])] += side.bytes[k];
    std::exclusive_scan(all.counts.begin(), all.counts.end(), all.places.begin(), 0);
    return all;
  }

  bool finds_sources() {
    if (tonari_neighborhood_create_from_destinations(comm_, static_cast<int>(out_.ranks.size()),
                                                     out_.ranks.data(), MPI_INFO_NULL,
                                                     &near_) != TONARI_SUCCESS)
      return false;
    int sources = 0;
    (void)tonari_neighborhood_degrees(near_, &sources, nullptr);
    in_.ranks.resize(static_cast<std::size_t>(sources)), in_.bytes.resize(in_.ranks.size());
    (void)tonari_neighborhood_ranks(near_, nullptr, in_.ranks.data());
    if (tonari_alltoall(out_.bytes.data(), 1, MPI_INT, in_.bytes.data(), 1, MPI_INT, near_) !=
        TONARI_SUCCESS)
      return false;
    in_.lay_out();
    requests_.resize(in_.ranks.size() + out_.ranks.size());
    return true;
  }

  bool makes_request() {
    return tonari_alltoallv_init(out_.buffer.data(), out_.bytes.data(), out_.places.data(),
                                 MPI_BYTE, in_.buffer.data(), in_.bytes.data(), in_.places.data(),
                                 MPI_BYTE, near_, MPI_INFO_NULL, &exchange_) == TONARI_SUCCESS;
  }

  MPI_Comm comm_;
  double making_ = 0.0;
  Side out_, in_;
  Dense dense_out_, dense_in_;
  std::vector<MPI_Request> requests_;
  tonari_neighborhood near_ = TONARI_NEIGHBORHOOD_NULL;
  tonari_request exchange_ = TONARI_REQUEST_NULL;
};

double seconds_of(const std::function<void()>& exchange, MPI_Comm comm) {
  PMPI_Barrier(comm);
  const double begin = PMPI_Wtime();
  exchange();
  return PMPI_Wtime() - begin;
}

// Collective: whether the first rank has time left, asked after every tenth round. Then each rank
// looks whether others want its processors.
class Limit {
 public:
  Limit(int rounds, double seconds, MPI_Comm comm)
      : rounds_(rounds), seconds_(seconds), comm_(comm) {}
  bool next() {
    if (round_ && round_ % 10 == 0) {
      ++looks_, busy_ += waiting_for_processors() > 0;
      int goes_on = PMPI_Wtime() - begin_ < seconds_;
      PMPI_Bcast(&goes_on, 1, MPI_INT, 0, comm_);
      if (!goes_on) return false;
    }
    return round_++ < rounds_;
  }
  double busy() const { return looks_ ? static_cast<double>(busy_) / looks_ : 0.0; }

 private:
  int round_ = 0, rounds_, looks_ = 0, busy_ = 0;
  double seconds_;
  MPI_Comm comm_;
  double begin_ = PMPI_Wtime();
};

double median(std::span<const double> times) {
  std::vector<double> sorted(times.begin(), times.end());
  if (sorted.empty()) return 0.0;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

// Of each round the time of the slowest rank.
std::vector<double> slowest(const std::vector<double>& mine, MPI_Comm comm) {
  std::vector<double> all(mine.size());
  PMPI_Allreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_DOUBLE, MPI_MAX, comm);
  return all;
}

Replay timed_in_turns(Rehearsal& rehearsal, bool collective, double seconds, MPI_Comm comm) {
  const auto ours = [&] { (void)rehearsal.by_tonari(); };
  const auto theirs = [&] { collective ? rehearsal.by_collective() : rehearsal.by_messages(); };
  for (Limit warm_up(most_warm_ups, seconds / 2, comm); warm_up.next();) ours(), theirs();
  std::vector<double> by_tonari, by_mpi;
  Limit rounds(most_rounds, seconds / 2, comm);
  while (rounds.next()) {
    by_mpi.push_back(seconds_of(theirs, comm));
    by_tonari.push_back(seconds_of(ours, comm));
  }
  by_mpi = slowest(by_mpi, comm), by_tonari = slowest(by_tonari, comm);
  const auto medians = [&](std::size_t from, std::size_t to) {
    const auto part = [&](const std::vector<double>& all) {
      return median(std::span(all).subspan(from, to - from));
    };
    return Medians{.mpi = part(by_mpi), .tonari = part(by_tonari)};
  };
  const std::size_t count = by_mpi.size(), half = count / 2;
  return {.all = medians(0, count),
          .first = medians(0, half),
          .second = medians(half, count),
          .busy = of_all(rounds.busy(), MPI_DOUBLE, MPI_MAX, comm),
          .how = rehearsal.how()};
}

}  // namespace

Replay measured(const Messages& messages, bool collective, double seconds, MPI_Comm comm) {
  Replay replay;
  if (!all_say(all_bytes(messages) <= most_bytes, comm)) {
    replay.why = "a rank's messages are larger than 256 MiB together";
    return replay;
  }
  Rehearsal rehearsal(messages, comm);
  replay.why = rehearsal.connect(messages);
  if (!replay.why.empty()) return replay;
  if (collective) rehearsal.prepare_collective();
  replay = timed_in_turns(rehearsal, collective, seconds, comm);
  replay.making = rehearsal.making();
  return replay;
}

}  // namespace tonari::watch
