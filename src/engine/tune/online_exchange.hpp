// SPDX-License-Identifier: BSD-3-Clause
// An exchange that finds out which of several is the fastest while the program uses it: the first
// starts run them in turns (select/race.hpp), and the times that the program spends in its calls
// decide. All ranks run the same one at the same start, since they count starts alike. Only the end
// of a pass needs the other ranks: that exchange is complete when the sums of all ranks are there
// (engine/tune/tree_sum.hpp, docs/adr/0021-online-tuning.md).
#pragma once

#include <mpi.h>

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/tune/tree_sum.hpp"
#include "engine/wait/call_time.hpp"
#include "engine/wait/exchange.hpp"
#include "memory/wait.hpp"
#include "select/race.hpp"

namespace tonari {

class OnlineExchange final : public Exchange {
 public:
  struct Contender {
    std::string label;
    std::unique_ptr<Exchange> exchange;
  };
  // What the race found.
  struct Result {
    std::size_t winner;
    double seconds;  // that the program loses per exchange, averaged over ranks
    bool steady;
  };
  // Called at the decision, within a test or wait: must neither allocate nor take long.
  using Remember = std::function<void(const Result&)>;
  struct Options {
    int ranks = 1;
    WaitPolicy wait = {};
    double (*clock)() = MPI_Wtime;
    Remember remember = nullptr;
    std::shared_ptr<const Node> node = nullptr;  // this rank's
    // Ranks share cores somewhere; the same on all ranks.
    bool crowded = false;
  };

  // At least two contenders, the best guess first; the same on all ranks. Local.
  OnlineExchange(std::vector<Contender> contenders, std::unique_ptr<TreeSum> sum, Options options);

  // What another race needs to run these, too; it tells `remember` if one of them has won.
  struct Entrants {
    std::vector<Contender> contenders;
    Remember remember;
  };
  // Before the first start, after which this can only be destroyed.
  Entrants release() { return {std::move(contenders_), std::move(options_.remember)}; }

  // Once the race is over, and nothing runs. What is left only reports.
  std::unique_ptr<Exchange> take_winner();

  // The winner once the race is over, else the one in front.
  std::size_t leader() const { return race_.leader(); }
  bool decided() const { return race_.over(); }
  // Lines for tonari_request_describe: how far it is, the times, and what finding out has cost.
  std::string report() const;
  double seconds() const { return race_.over() ? mean(race_.leader()) : 0; }
  // What this rank has lost by it, against the winner's time at every start.
  struct Regret {
    std::size_t starts = 0;
    double seconds = 0, exchanges = 0;  // of the winner, that take as long
  };
  Regret regret() const;

  void check_start() const override { inner().check_start(); }
  void start() override;
  bool test() override;
  void wait() override;
  Pause pause() const override { return tuning_ ? pause_ : inner().pause(); }
  void rebind(std::span<const std::ptrdiff_t> shifts) override;
  bool proceeds_by_itself() const override { return !tuning_ && inner().proceeds_by_itself(); }
  // while it tunes, ranks that move nothing still have their place in the tree
  bool nothing() const override { return !tuning_ && inner().nothing(); }
  int messages() const override { return leading().messages(); }
  std::string channel_mix() const override { return leading().channel_mix(); }
  Bytes bytes() const override { return leading().bytes(); }
  std::size_t scratch_bytes() const override;
  void give_up() override;
  const std::byte* view(std::size_t block) const override { return inner().view(block); }
  void awaits(Awaited& awaited) const override;
  void belongs_to(const std::string& call) override;

 private:
  struct Tally {
    std::size_t starts = 0;
    double seconds = 0;
  };

  // The one that ran last, or runs; before the first start the first one.
  Exchange& inner() const { return *contenders_[current_].exchange; }
  Exchange& leading() const { return *contenders_[race_.leader()].exchange; }
  double mean(std::size_t c) const { return race_.sum(c) / options_.ranks; }
  double now() const { return options_.clock(); }
  bool look();
  void begin_period(double begun);
  void after_idle_look();
  void finish();
  void end_tuning();
  void drop_losers();

  std::vector<Contender> contenders_;
  std::unique_ptr<TreeSum> sum_;
  Options options_;
  Race race_;
  Race::Turn turn_;
  CallTime time_;
  // Where ranks share cores, an exchange also takes time from what other ranks compute. So there
  // what is longer than the shortest time between calls counts, too.
  double period_from_ = -1, work_ = std::numeric_limits<double>::infinity();
  std::array<Tally, Race::most_candidates> tallies_{};
  std::size_t current_ = 0;
  bool tuning_ = true;                        // starts are turns of the race
  bool moved_all_ = false, complete_ = true;  // of the exchange that was started last
  Pause pause_ = Pause::yield;
  IdleTests idle_tests_;  // for the sums
};

}  // namespace tonari
