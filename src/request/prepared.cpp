// SPDX-License-Identifier: BSD-3-Clause
#include "request/prepared.hpp"

#include <utility>

#include "engine/wait/agree.hpp"
#include "engine/wait/hang_report.hpp"
#include "mpi/mpi_usable.hpp"

namespace tonari {

void ChoiceReport::name(const Candidate& candidate) {
  algorithm = candidate.algorithm(), variant = candidate.variant();
  channel = candidate.channel.name(), channel_detail = candidate.channel.detail();
  predicted = candidate.predicted;
  rounds = candidate.planned ? static_cast<int>(candidate.planned->rounds()) : 0;
}

void ChoiceReport::follow(const OnlineExchange& race) {
  undecided = !race.decided();
  measured = race.seconds();
  lost = undecided ? 0 : race.regret().seconds;
}

// MPI's own collective is known if it is known of all.
void ChoiceReport::add(const ChoiceReport& next) {
  const auto both = [](double one, double other) { return one > 0 && other > 0 ? one + other : 0; };
  predicted_native = both(predicted_native, next.predicted_native);
  times = {times.seconds + next.times.seconds, both(times.native, next.times.native)};
  predicted += next.predicted, measured += next.measured, lost += next.lost;
  rounds += next.rounds;
  undecided |= next.undecided;
}

Prepared::Prepared(std::shared_ptr<Context> for_context)
    : context(std::move(for_context)), spare(std::make_unique<tonari_request_s>()) {
  make_room_in_flight();
}
// Without the MPI an exchange stays as it is. Its MPI objects are gone already, or belong to the
// rank from which fork() made this child. So does its thread, and so does anything it would tell
// the other ends.
Prepared::~Prepared() {
  if (!mpi_usable()) {
    (void)exchange.release(), (void)recording.record.release();
    return;
  }
  recording.record.reset();  // while all is there that it tells of
  if (exchange) discharge(*exchange);
}

template <typename Work>
void Prepared::or_broken(Work work) {
  if (broken_) throw *broken_;
  if (in_forked_child())
    fail(Errc::argument, "this process is a child of the one that made the request, by fork(); ",
         "exchange there, and free the child's copy or leave it");
  try {
    work();
  } catch (...) {
    give_up(*error_of([] { throw; }));
    throw;
  }
}

void Prepared::give_up(const Error& why) {
  discharge(*exchange);
  exchange->give_up();
  broken_ = why;
}

void Prepared::describe(double start, const std::string& what, const std::string& as,
                        const std::string& details) {
  init_ = MPI_Wtime() - start;
  what_ = what, chosen_ = as, details_ = details;
  if (recording.label.empty()) recording.label = what;
  exchange->belongs_to(recording.label);
  write_description();
}

void Prepared::describe(double start, const std::string& what) {
  const std::string details = report_(chosen);
  describe(start, what, chosen.algorithm, details);
}

void Prepared::tell_also(const std::string& details) {
  details_ += details;
  write_description();
}

void Prepared::describe_later(const char* what) {
  later_ = what;
  pays_back_ = false;
  description_.clear();
}

void Prepared::write_description() {
  const std::string channel_mix = exchange->channel_mix();
  const std::string& reason = chosen.reason;
  const bool contest =
      pays_back_ && (reason == "measured" || reason == "wisdom" || chosen.times.native > 0);
  description_ =
      text(what_, "\nchosen: ", chosen_, " (", reason, ")\nsends: ", exchange->messages(),
           " messages", channel_mix.empty() ? "" : text(" (", channel_mix, ")"), ", ",
           exchange->bytes(), " bytes; holds ", exchange->scratch_bytes(), " bytes\n",
           contest ? break_even(init_, chosen.times) : "", tuning ? tuning->online->report() : "",
           details_);
}

void Prepared::tell_what_starts_found() {
  if (report_) {
    details_ = report_(chosen);
    chosen_ = chosen.algorithm;
  } else {
    const OnlineExchange& online = *tuning->online;
    const Candidate& candidate = tuning->candidates[online.leader()];
    chosen.name(candidate);
    chosen.follow(online);
    chosen_ = candidate.label();
  }
  write_description();
}

const std::string& Prepared::describe_now() {
  if (chosen.undecided)
    tell_what_starts_found();
  else if (description_.empty())
    describe(MPI_Wtime(), later_ ? later_ : recording.operation,
             text(chosen.algorithm, "/", chosen.channel), "");
  return description_;
}

const std::string& Prepared::described() {
  describe_now();
  const std::size_t books = exchange && !broken_ ? exchange->book_bytes() : 0;
  const std::string about =
      books > 0 ? text("books: ", books, " bytes at most so far, besides what it holds\n") : "";
  if (!running_ || broken_ || !exchange)
    return about.empty() ? description_ : described_ = description_ + about;
  Awaited awaited;
  const bool seen = while_nobody_tests(*exchange, [&] { exchange->awaits(awaited); });
  described_ = description_ + about +
               (!seen               ? "now: another thread waits for it\n"
                : awaited.nothing() ? "now: it is complete, or about to be\n"
                                    : text("now: waits ", sentence(awaited), "\n"));
  return described_;
}

void Prepared::drive_by_thread() {
  exchange = std::make_unique<DrivenExchange>(std::move(exchange), context->progress_thread());
}

void Prepared::rebind(Shifts shifts) {
  or_broken([&] { exchange->rebind(shifts); });
}

// Calls that go through a race take some 10 ns longer, as long as a short exchange's message.
void Prepared::end_race() {
  if (!tuning->online->decided()) return;
  std::unique_ptr<Exchange> winner = tuning->online->take_winner();
  tuning->race = std::exchange(exchange, std::move(winner));
}

Exchange& Prepared::to_start() {
  if (tuning && exchange.get() == tuning->online) end_race();
  return *exchange;
}

void Prepared::start() {
  if (to_start().nothing()) {
    complete_ = true;
    return;
  }
  running_ = true;
  complete_ = false;
  or_broken([&] { exchange->start(); });
  enlist(*exchange);
}

void Prepared::finish() {
  running_ = false;
  complete_ = true;
}

bool Prepared::test(Waiter& waiter) {
  if (!running_ && complete_) return true;
  or_broken([&] {
    if (waiter.test(*exchange)) finish();
  });
  return complete_;
}

void Prepared::wait() {
  if (!running_ && complete_) return;
  or_broken([&] {
    wait_and_drive(*exchange);
    finish();
  });
}

}  // namespace tonari
