// SPDX-License-Identifier: BSD-3-Clause
// What every comparison is made of: its candidates made, verified, counted, timed in turns, and
// put into rows. Programs add what they compare and what they say about it.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "collect.hpp"
#include "count.hpp"
#include "program.hpp"
#include "timing.hpp"

namespace bench {

// One way to do what is compared.
class Way {
 public:
  virtual ~Way() = default;
  virtual void run() = 0;  // from start to completion, packing and adding included
  virtual std::string channel() const { return "mpi"; }
  virtual std::string chosen() const { return ""; }  // by auto: algorithm, variant and channel
  // Its messages are sent by MPI itself, where no wrapper sees them.
  virtual bool inside_mpi() const { return false; }
  virtual bool ours() const { return false; }  // tonari answers for what it delivers
};

// A requested candidate with its exchange, and the results.
template <class Asked, class Exchange>
struct Entry : Asked {
  std::unique_ptr<Exchange> exchange{};
  double init_seconds = 0;
  bool verified = false;
  Sent sent{};       // this rank's
  Spread seconds{};  // of one exchange, the slowest rank's of every round
};

struct Named {
  std::string name;
};

// Everything is collective.
template <class Asked, class Exchange>
class Harness {
 public:
  using One = Entry<Asked, Exchange>;
  explicit Harness(MPI_Comm communicator) : comm(communicator) {}

  // Null from `make`: it does not apply here, and is left out.
  template <class Make>
  One* add(Asked asked, const Make& make) {
    MPI_Barrier(comm);
    const double start = now();
    auto exchange = make();
    const double seconds = most(now() - start, comm);
    if (!exchange) return nullptr;
    entries.push_back({std::move(asked), std::move(exchange), seconds});
    return &entries.back();
  }

  // Twice, so that a request also works the second time, and so that nothing lives on what another
  // one left. `exchange` says whether new data arrived on this rank.
  template <class Verify>
  void verify(One& entry, const Verify& exchange) {
    bool good = true;
    for (int turn = 0; turn < 2; ++turn) good = exchange(*entry.exchange, turn) && good;
    entry.verified = on_all(good, comm) && (timing.rounds == 0 || entry.verified);
  }
  template <class Verify>
  void verify(const Verify& exchange) {
    for (One& entry : entries) verify(entry, exchange);
  }

  void count(One& entry) {
    entry.sent = count_calls([&entry] { entry.exchange->run(); });
  }

  // Rounds of all in turns, after what `runs` already holds, whose times are the result.
  std::vector<Spread> time(const Effort& effort, std::vector<std::function<void()>> runs = {}) {
    for (One& entry : entries) runs.emplace_back([&entry] { entry.exchange->run(); });
    return time_as_given(effort, runs);
  }
  // The last of `runs` are those of the entries.
  std::vector<Spread> time_as_given(const Effort& effort,
                                    const std::vector<std::function<void()>>& runs) {
    quiet.before = ping_pong(comm);
    timing = time_side_by_side(runs, effort, comm);
    quiet.after = ping_pong(comm);
    const std::size_t others = runs.size() - entries.size();
    for (std::size_t i = 0; i < entries.size(); ++i)
      entries[i].seconds = timing.seconds[others + i];
    timing.seconds.resize(others);
    return timing.seconds;
  }

  // Of the first entry that `which` takes; 0 if there is none.
  template <class Which>
  double median(const Which& which) const {
    for (const One& entry : entries)
      if (which(entry)) return entry.seconds.median;
    return 0;
  }

  void add_times(Row& row, const One& entry) const {
    row.quartiles(entry.seconds).number("init_us", entry.init_seconds * 1e6);
    row.whole("rounds", timing.rounds).whole("batch", timing.batch);
  }
  void add_quiet(Row& row) const {
    row.number("pingpong_us", quiet.before.median * 1e6).flag("disturbed", quiet.disturbed());
  }

  template <class Describe>
  void report(Outcome& outcome, const Describe& row_of) const {
    for (const One& entry : entries) {
      if (entry.exchange->ours() && !entry.verified) outcome.tonari_correct = false;
      outcome.rows.push_back(row_of(entry));
    }
  }

  MPI_Comm comm;
  std::vector<One> entries{};
  Timing timing{};
  Quiet quiet{};
};

}  // namespace bench
