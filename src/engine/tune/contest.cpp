// SPDX-License-Identifier: BSD-3-Clause
#include "engine/tune/contest.hpp"

#include <algorithm>
#include <iomanip>
#include <tuple>

#include "base/classic.hpp"
#include "base/setting_table.hpp"
#include "engine/tune/wisdom.hpp"
#include "engine/wait/agree.hpp"
#include "mpi/collective.hpp"

namespace tonari {
namespace {

constexpr std::size_t most_rounds = 5000, few_rounds = 40, trusted_rounds = 8;
// times the lower quartile: a median above it says that other processes used the core
constexpr double unsteady = 2;
constexpr double slow = 1.7;  // times the best: slower exchanges leave the contest
// the same after the first round, which also touches memory for the first time
constexpr double hopeless = 8;
// the same if one round of all takes longer than the budget
constexpr double slow_and_expensive = 2.5;

double order_statistic(std::vector<double> values, std::size_t rank) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank),
                   values.end());
  return values[rank];
}
double median(const std::vector<double>& values) {
  return order_statistic(values, values.size() / 2);
}
double quartile(const std::vector<double>& values) {
  return order_statistic(values, values.size() / 4);
}
// Exchanges are judged by half the median, which users feel, and half the lower quartile, which
// other processes disturb less.
double score(const std::vector<double>& values) { return (median(values) + quartile(values)) / 2; }

// Short exchanges are repeated within a round so that the clock can see them.
int repetitions(double seconds) { return seconds > 5e-6 ? 1 : 4; }

class Contest {
 public:
  Contest(MPI_Comm comm, std::span<Exchange* const> exchanges, const std::function<void()>& between)
      : comm_(comm), exchanges_(exchanges), between_(between), times_(exchanges.size()) {
    for (std::size_t c = 0; c < exchanges.size(); ++c)
      if (exchanges[c]) running_.push_back(c);
  }

  // Rounds run in batches. After each batch all ranks know the same times, and decide alike whether
  // to go on, and with which exchanges.
  void run(double budget) {
    if (running_.empty()) return;
    make_room(1);
    const double before = MPI_Wtime();
    round(1);
    elapsed_ = MPI_Wtime() - before;
    reduce();
    drop_slower_than(elapsed_ > budget ? slow_and_expensive : hopeless, budget / 20);
    for (std::size_t c : running_) repeat_ = std::max(repeat_, repetitions(times_[c].back()));
    for (std::size_t c : running_) times_[c].clear();  // the first round only warmed up
    double used = 0;
    for (int batch = 3; wants_more(used, budget); batch = std::min(2 * batch, 64)) {
      make_room(batch);
      const double start = MPI_Wtime();
      for (int k = 0; k < batch; ++k) round(repeat_);
      elapsed_ = MPI_Wtime() - start;
      reduce();
      used += elapsed_;
      drop_slower_than(slow, times_[running_[0]].size() < trusted_rounds ? budget / 20 : 0);
    }
  }

  std::vector<Standing> result() const {
    std::vector<Standing> standings(times_.size());
    for (std::size_t c = 0; c < times_.size(); ++c)
      if (!times_[c].empty())
        standings[c] = {score(times_[c]), times_[c].size(),
                        median(times_[c]) < unsteady * quartile(times_[c])};
    for (std::size_t c : running_) standings[c].finished = true;
    return standings;
  }

 private:
  // Time that other processes took must not cut the contest short. It goes on until it has had as
  // many rounds as the undisturbed times would allow, within a limit.
  bool wants_more(double used, double budget) const {
    const std::size_t rounds = times_[running_[0]].size();
    if (rounds == 0) return true;
    double undisturbed = 0;
    for (std::size_t c : running_)
      undisturbed += repeat_ * *std::min_element(times_[c].begin(), times_[c].end());
    const bool few =
        rounds < trusted_rounds ||
        (rounds < few_rounds && undisturbed * static_cast<double>(rounds) < budget / 2);
    return rounds < most_rounds && used < (few ? 5 * budget : budget);
  }
  // An exchange that is `factor` times slower than the best leaves, if a round of it takes more
  // than `affordable` seconds. Few rounds prove little: one time slice given to another process is
  // as long as thousands of short exchanges.
  void drop_slower_than(double factor, double affordable) {
    double best = quartile(times_[running_[0]]);
    for (std::size_t c : running_) best = std::min(best, quartile(times_[c]));
    std::erase_if(running_, [&](std::size_t c) {
      return quartile(times_[c]) > std::max(factor * best, affordable);
    });
  }
  // Reserves memory for these rounds and their results, because nothing may fail while others run.
  void make_room(int rounds) {
    const std::size_t times = running_.size() * static_cast<std::size_t>(rounds);
    fresh_.reserve(times);
    values_.reserve(times + 1);
    for (std::size_t c : running_)
      times_[c].reserve(times_[c].size() + static_cast<std::size_t>(rounds));
    stay_together(comm_);
  }
  // One round runs every remaining exchange once, beginning with another one each time.
  void round(int repeat) {
    const std::size_t n = running_.size(), shift = rounds_++;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t c = running_[(k + shift) % n];
      if (between_) between_();
      stay_together(comm_);  // a rank on which an exchange has failed is not waited for
      barrier(comm_);
      const double start = MPI_Wtime();
      for (int again = 0; again < repeat; ++again) run_or_give_up(*exchanges_[c]);
      fresh_.push_back({c, (MPI_Wtime() - start) / repeat});
    }
  }
  void reduce() {
    stay_together(comm_);
    values_.clear();
    for (const auto& [c, seconds] : fresh_) values_.push_back(seconds);
    values_.push_back(elapsed_);
    reduce_all(values_.data(), static_cast<int>(values_.size()), MPI_DOUBLE, MPI_MAX, comm_);
    for (std::size_t k = 0; k < fresh_.size(); ++k) times_[fresh_[k].first].push_back(values_[k]);
    elapsed_ = values_.back();
    fresh_.clear();
  }

  MPI_Comm comm_;
  std::span<Exchange* const> exchanges_;
  const std::function<void()>& between_;
  std::vector<std::vector<double>> times_;
  std::vector<std::pair<std::size_t, double>> fresh_;
  std::vector<double> values_;        // of fresh_, to be reduced
  std::vector<std::size_t> running_;  // those still in the contest
  std::size_t rounds_ = 0;
  int repeat_ = 1;
  double elapsed_ = 0;
};

// The alternatives that were made, with their times.
class Deciding {
 public:
  Deciding(Context& context, Tune tune, const Alternatives& alternatives)
      : context_(context), tune_(tune), alternatives_(alternatives) {}

  Decision run() {
    const std::size_t several = alternatives_.names.size();
    const bool online = tune_ == Tune::online;
    const bool asks = tune_ == Tune::automatic || tune_ == Tune::recall || online;
    if (several > 1 && asks && follow_wisdom()) return std::move(decision_);
    const bool contest = several > 1 && (measures(tune_) || online) &&
                         applies("nothing was measured", alternatives_.prepare);
    const std::size_t all = contest ? several : 1;
    for (std::size_t k = 0; k < all; ++k)
      if (make(k)) made_.push_back(k);
    if (made_.empty()) throw *refused_;
    decision_.winner = made_.front();
    decision_.reason = online && made_.size() > 1 ? "online" : by_fixed_rule.reason;
    decision_.made = made_;
    if (online && several > 1)
      decision_.question = key() + by_starts;
    else if (made_.size() > 1)
      measure();
    return std::move(decision_);
  }

 private:
  std::string key() { return wisdom_key(context_, alternatives_.question); }

  bool follow_wisdom() {
    std::vector<std::string> asked{key()};
    if (tune_ == Tune::online) asked.push_back(asked[0] + by_starts);
    const std::vector<Remembered> all = recall(context_, asked);
    if (all.empty()) return false;
    const Remembered& known = all[0];
    const auto& names = alternatives_.names;
    decision_.winner =
        static_cast<std::size_t>(std::ranges::find(names, known.label) - names.begin());
    decision_.reason = "wisdom";
    decision_.times = known.times;
    decision_.made = {decision_.winner};
    return decision_.winner < names.size() && make(decision_.winner);
  }

  // Returns whether it applies.
  bool make(std::size_t k) {
    return applies(alternatives_.names[k] + " does not apply", [&] { alternatives_.make(k); });
  }

  template <class Work>
  bool applies(const std::string& otherwise, const Work& work) {
    stay_together(context_.comm());
    try {
      run_collectively(context_.comm(), work);
      return true;
    } catch (const Error& error) {
      if (error.code() != Errc::memory && error.code() != Errc::algorithm) throw;
      refused_ = error;
      // All ranks have this error: none may leave with another one, for want of memory to tell it.
      (void)error_of([&] { decision_.details += text("  ", otherwise, ": ", error.what(), "\n"); });
      return false;
    }
  }

  void measure() {
    std::vector<Exchange*> exchanges;
    for (const std::size_t k : made_) exchanges.push_back(&alternatives_.timed(k));
    const double budget = alternatives_.part * tune_seconds(context_.comm(), tune_);
    std::vector<Standing> all =
        time_in_turns(context_.comm(), exchanges, budget, alternatives_.between);
    for (Standing& standing : all) standing.seconds /= alternatives_.exchanges;
    std::vector<std::size_t> order(made_.size());
    for (std::size_t c = 0; c < order.size(); ++c) order[c] = c;
    std::ranges::stable_sort(
        order, {}, [&](std::size_t c) { return std::tuple(!all[c].finished, all[c].seconds); });
    const Standing& best = all[order.front()];
    decision_.winner = made_[order.front()], decision_.reason = "measured";
    decision_.measured = best.seconds;
    const auto native = std::ranges::find(made_, alternatives_.native);
    decision_.times = {best.seconds,
                       native == made_.end() ? 0 : all[native - made_.begin()].seconds};
    decision_.details += text("measured in ", best.rounds, " rounds:\n");
    for (const std::size_t c : order)
      decision_.details += text("  ", alternatives_.names[made_[c]], ": ", std::setprecision(3),
                                all[c].seconds * 1e6, " us\n");
    if (best.steady)
      remember(context_, key(), {alternatives_.names[decision_.winner], decision_.times});
    else
      decision_.details += unsteady_times;
  }

  Context& context_;
  Tune tune_;
  const Alternatives& alternatives_;
  std::vector<std::size_t> made_;
  std::optional<Error> refused_;  // the same on all ranks
  Decision decision_;
};

}  // namespace

void run_or_give_up(Exchange& exchange) {
  try {
    exchange.start();
    exchange.wait();
  } catch (...) {
    exchange.give_up();
    throw;
  }
}

std::vector<Standing> time_in_turns(MPI_Comm comm, std::span<Exchange* const> exchanges,
                                    double budget, const std::function<void()>& between) {
  Contest contest(comm, exchanges, between);
  contest.run(budget);
  return contest.result();
}

double tune_seconds(MPI_Comm comm, Tune tune) {
  double seconds = tune == Tune::measure ? 2.0 : 0.4;
  const Setting& row = setting("TONARI_TUNE_SECONDS");
  // A wrong value was refused where settings are read.
  (void)error_of([&] {
    if (const auto given = in_environment(row)) seconds = read_seconds(row, *given);
  });
  stay_together(comm);
  // ranks with different budgets would wait for each other
  broadcast(&seconds, 1, MPI_DOUBLE, 0, comm);
  return seconds;
}

Decision decide(Context& context, Tune tune, const Alternatives& alternatives) {
  return Deciding(context, tune, alternatives).run();
}

}  // namespace tonari
