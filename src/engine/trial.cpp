#include "engine/trial.hpp"

#include <algorithm>
#include <tuple>

#include "base/hash.hpp"
#include "channels/mpi_error.hpp"
#include "engine/agree.hpp"

namespace tonari {
namespace {

constexpr std::size_t most_shadow = std::size_t{1} << 29;
constexpr std::size_t most_rounds = 5000, few_rounds = 40, trusted_rounds = 8;
// times the lower quartile: a median above says that others were busy
constexpr double unsteady = 2;
constexpr double slow = 1.7;  // times the best: out of the contest
// the same after the very first round, which also touches memory for the first time
constexpr double hopeless = 8;
// the same if one round of all takes longer than the budget
constexpr double slow_and_expensive = 2.5;

struct Span {
  std::uintptr_t low = UINTPTR_MAX, high = 0;
  bool empty() const { return high <= low; }
  std::size_t size() const { return empty() ? 0 : high - low; }
};

Span span_of(const std::vector<Block>& blocks) {
  Span span;
  for (const Block& b : blocks) {
    if (b.bytes == 0) continue;
    const auto [first, last] = b.layout ? b.layout->span()
                                        : std::pair<std::ptrdiff_t, std::ptrdiff_t>(
                                              0, static_cast<std::ptrdiff_t>(b.bytes));
    const auto address = reinterpret_cast<std::uintptr_t>(b.address);
    span.low = std::min(span.low, address + first);
    span.high = std::max(span.high, address + last);
  }
  return span;
}

// The address that plays the part of `buffer` when the bytes from span.low on lie in memory.
// Alignment within cache lines is kept.
void* stand_in(const void* buffer, const Span& span, const Memory& memory) {
  if (span.empty()) return const_cast<void*>(buffer);
  const auto base = reinterpret_cast<std::uintptr_t>(memory.data()) + span.low % cache_line;
  return reinterpret_cast<void*>(base + (reinterpret_cast<std::uintptr_t>(buffer) - span.low));
}

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
// What a candidate is judged by: half the median, which users feel, half the lower quartile, which
// others disturb less.
double score(const std::vector<double>& values) { return (median(values) + quartile(values)) / 2; }

// Short exchanges are repeated within a round so that the clock can see them.
int repetitions(double seconds) { return seconds > 5e-6 ? 1 : 4; }

class Contest {
 public:
  Contest(Context& context, const std::vector<Candidate>& candidates, const Settings& settings,
          Shadow& shadow)
      : context_(context), shadow_(shadow) {
    std::size_t tags = 0;
    for (const Candidate& c : candidates) tags = std::max(tags, c.tags());
    context.reserve_tags(tags);
    std::vector<Wiring> wirings;
    for (const Candidate& candidate : candidates)
      wirings.push_back(wire(context, candidate, settings, shadow.binding(), Purpose::trial));
    together(context.comm(), [&] {
      for (std::size_t c = 0; c < candidates.size(); ++c) {
        timings_.push_back({candidates[c], wirings[c].refusal});
        exchanges_.emplace_back();
        if (!timings_[c].refusal.empty()) continue;
        exchanges_[c] = build(context, candidates[c], settings, shadow.arguments(),
                              shadow.binding(), context.first_tag(), std::move(wirings[c]));
        running_.push_back(c);
      }
    });
    times_.resize(candidates.size());
  }

  void verify() {
    shadow_.fill_send(context_.rank());
    const auto first_plan = std::ranges::find_if(
        timings_, [](const Timing& t) { return t.candidate.planned && t.refusal.empty(); });
    if (first_plan == timings_.end()) return;
    const std::vector<std::byte> expected = deliver(first_plan - timings_.begin());
    for (std::size_t c = 0; c < timings_.size(); ++c) {
      if (timings_[c].candidate.planned || !timings_[c].refusal.empty()) continue;
      const bool right = deliver(c) == expected;
      const Ballot here = right;
      timings_[c].wrong = !agree(context_.comm(), std::nullopt, std::span(&here, 1))[0] || !right;
    }
  }

  // Batches of rounds; after each batch all ranks know the same times and decide alike whether to
  // go on, and with whom.
  void run(double budget) {
    std::erase_if(running_, [&](std::size_t c) { return timings_[c].wrong; });
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

  std::vector<Timing> result() {
    for (std::size_t c = 0; c < timings_.size(); ++c)
      if (!times_[c].empty()) {
        timings_[c].seconds = score(times_[c]);
        timings_[c].steady = median(times_[c]) < unsteady * quartile(times_[c]);
      }
    for (std::size_t c : running_) timings_[c].finished = true;
    const auto place = [](const Timing& t) {
      return std::tuple(!t.usable(), !t.finished, t.seconds);
    };
    std::stable_sort(timings_.begin(), timings_.end(),
                     [&](const Timing& a, const Timing& b) { return place(a) < place(b); });
    return std::move(timings_);
  }

 private:
  std::vector<std::byte> deliver(std::size_t c) {
    shadow_.poison_recv();
    stay_together(context_.comm());
    exchanges_[c]->start();
    exchanges_[c]->wait();
    return shadow_.received(*exchanges_[c]);
  }
  // Time that others took away from us must not cut the contest short: it goes on until there are
  // as many rounds as the undisturbed times of the candidates would have allowed, up to a point.
  bool wants_more(double used, double budget) const {
    const std::size_t rounds = times_[running_[0]].size();
    if (rounds == 0) return true;
    double undisturbed = 0;
    for (std::size_t c : running_)
      undisturbed += repeat_ * *std::min_element(times_[c].begin(), times_[c].end());
    const bool few = rounds < few_rounds && undisturbed * static_cast<double>(rounds) < budget / 2;
    return rounds < most_rounds && used < (few ? 5 * budget : budget);
  }
  // Who is `factor` times slower than the best leaves, if a round of his takes more than
  // `affordable` seconds: few rounds prove little, since one time slice given to somebody else is
  // thousands of short exchanges.
  void drop_slower_than(double factor, double affordable) {
    double best = quartile(times_[running_[0]]);
    for (std::size_t c : running_) best = std::min(best, quartile(times_[c]));
    std::erase_if(running_, [&](std::size_t c) {
      return quartile(times_[c]) > std::max(factor * best, affordable);
    });
  }
  // For so many rounds, and what is learned of them: nothing may fail while others run.
  void make_room(int rounds) {
    const std::size_t times = running_.size() * static_cast<std::size_t>(rounds);
    fresh_.reserve(times);
    values_.reserve(times + 1);
    for (std::size_t c : running_)
      times_[c].reserve(times_[c].size() + static_cast<std::size_t>(rounds));
    stay_together(context_.comm());
  }
  // One round: every candidate that is left once, beginning with another one each time.
  void round(int repeat) {
    const std::size_t n = running_.size(), shift = rounds_++;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t c = running_[(k + shift) % n];
      check_mpi(MPI_Barrier(context_.comm()), "MPI_Barrier");
      const double start = MPI_Wtime();
      for (int again = 0; again < repeat; ++again) {
        exchanges_[c]->start();
        exchanges_[c]->wait();
      }
      fresh_.push_back({c, (MPI_Wtime() - start) / repeat});
    }
  }
  void reduce() {
    values_.clear();
    for (const auto& [c, seconds] : fresh_) values_.push_back(seconds);
    values_.push_back(elapsed_);
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, values_.data(), static_cast<int>(values_.size()),
                            MPI_DOUBLE, MPI_MAX, context_.comm()),
              "MPI_Allreduce");
    for (std::size_t k = 0; k < fresh_.size(); ++k) times_[fresh_[k].first].push_back(values_[k]);
    elapsed_ = values_.back();
    fresh_.clear();
  }

  Context& context_;
  Shadow& shadow_;
  std::vector<std::unique_ptr<Exchange>> exchanges_;
  std::vector<Timing> timings_;
  std::vector<std::vector<double>> times_;
  std::vector<std::pair<std::size_t, double>> fresh_;
  std::vector<double> values_;        // of fresh_, to be reduced
  std::vector<std::size_t> running_;  // those still in the contest
  std::size_t rounds_ = 0;
  int repeat_ = 1;
  double elapsed_ = 0;
};

}  // namespace

std::optional<Shadow> Shadow::make(const Arguments& arguments, const Binding& binding) {
  const Span send = span_of(binding.send), recv = span_of(binding.recv);
  if (send.size() > most_shadow || recv.size() > most_shadow) return std::nullopt;
  Shadow shadow;
  shadow.send_ = Memory(send.size() + cache_line);
  shadow.recv_ = Memory(recv.size() + cache_line);
  std::fill_n(shadow.send_.data(), shadow.send_.bytes(), std::byte{0});
  std::fill_n(shadow.recv_.data(), shadow.recv_.bytes(), std::byte{0});
  shadow.arguments_ = rebased(arguments, stand_in(arguments.sendbuf, send, shadow.send_),
                              stand_in(arguments.recvbuf, recv, shadow.recv_));
  shadow.binding_ = bind(shadow.arguments_);
  shadow.binding_.uniform = binding.uniform;
  return shadow;
}

void Shadow::fill_send(int rank) {
  std::uint64_t state = Hash().word(rank).value();
  for (std::size_t k = 0; k < send_.bytes(); ++k) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    send_.data()[k] = static_cast<std::byte>(state >> 56);
  }
}

void Shadow::poison_recv() { std::fill_n(recv_.data(), recv_.bytes(), std::byte{0xA5}); }

std::vector<std::byte> Shadow::received(const Exchange& exchange) const {
  std::vector<std::byte> bytes;
  std::vector<Move> moves;
  std::size_t size = 0;
  for (const Block& b : binding_.recv) size += b.bytes;
  bytes.resize(size);
  std::byte* at = bytes.data();
  for (std::size_t k = 0; k < binding_.recv.size(); ++k) {
    const Block& b = binding_.recv[k];
    const std::byte* const view = exchange.view(k);
    Layout whole;
    whole.add(0, b.bytes);
    make_moves(moves, at, whole, view ? view : b.address, b.layout ? *b.layout : whole);
    at += b.bytes;
  }
  run_moves(moves);
  return bytes;
}

std::vector<Timing> time_candidates(Context& context, const std::vector<Candidate>& candidates,
                                    const Settings& settings, Shadow& shadow, double budget) {
  Contest contest(context, candidates, settings, shadow);
  contest.verify();
  contest.run(budget);
  return contest.result();
}

}  // namespace tonari
