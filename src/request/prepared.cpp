// SPDX-License-Identifier: BSD-3-Clause
#include "request/prepared.hpp"

#include <new>
#include <utility>

#include "engine/wait/agree.hpp"
#include "engine/wait/hang_report.hpp"
#include "mpi/mpi_usable.hpp"

namespace tonari {

std::vector<Arrival> arrivals(const LocalTopology& topology, const Binding& binding) {
  std::vector<Arrival> all(as_given(topology).sources.size());
  for (std::size_t i = 0; i < binding.recv.size(); ++i)
    if (const std::size_t number = given_number(topology, Buffer::recv, i); number < all.size())
      all[number] = {binding.recv[i].address, binding.recv[i].bytes, i};
  return all;
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
    (void)exchange.release(), (void)record.release();
    return;
  }
  record.reset();  // while all is there that it tells of
  if (exchange) discharge(*exchange);
}

template <typename Work>
void Prepared::or_broken(Work work) {
  if (broken) throw *broken;
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
  broken = why;
}

void Prepared::describe(double start, const std::string& what, const std::string& chosen,
                        const std::string& details) {
  init = MPI_Wtime() - start;
  what_ = what, chosen_ = chosen, details_ = details;
  if (label.empty()) label = what;
  exchange->belongs_to(label);
  write_description();
}

void Prepared::describe(double start, const std::string& what) {
  const std::string details = report_(*this);
  describe(start, what, algorithm, details);
}

void Prepared::write_description() {
  const std::string channel_mix = exchange->channel_mix();
  const bool contest =
      !is_part && !once && (reason == "measured" || reason == "wisdom" || times.native > 0);
  description = text(what_, "\nchosen: ", chosen_, " (", reason, ")\nsends: ", exchange->messages(),
                     " messages", channel_mix.empty() ? "" : text(" (", channel_mix, ")"), ", ",
                     exchange->bytes(), " bytes; holds ", exchange->scratch_bytes(), " bytes\n",
                     contest ? break_even(init, times) : "", tuning ? tuning->online->report() : "",
                     details_);
}

void Prepared::name(const Candidate& candidate) {
  algorithm = candidate.algorithm(), variant = candidate.variant();
  channel = candidate.channel.name(), channel_detail = candidate.channel.detail();
  predicted = candidate.predicted;
  rounds = candidate.planned ? static_cast<int>(candidate.planned->rounds()) : 0;
}

void Prepared::tell_what_starts_found() {
  if (report_) {
    details_ = report_(*this);
    chosen_ = algorithm;
  } else {
    const OnlineExchange& online = *tuning->online;
    const Candidate& candidate = tuning->candidates[online.leader()];
    name(candidate);
    measured = online.seconds();
    lost = online.decided() ? online.regret().seconds : 0;
    chosen_ = candidate.label();
    undecided = !online.decided();
  }
  write_description();
}

void Prepared::describe_now() {
  if (undecided) return tell_what_starts_found();
  if (description.empty()) describe(MPI_Wtime(), once, algorithm + "/" + channel, "");
}

const std::string& Prepared::described() {
  describe_now();
  const std::size_t books = exchange && !broken ? exchange->book_bytes() : 0;
  const std::string about =
      books > 0 ? text("books: ", books, " bytes at most so far, besides what it holds\n") : "";
  if (!running || broken || !exchange)
    return about.empty() ? description : described_ = description + about;
  Awaited awaited;
  const bool seen = while_nobody_tests(*exchange, [&] { exchange->awaits(awaited); });
  described_ = description + about +
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

void Prepared::start() {
  if (tuning && exchange.get() == tuning->online) end_race();
  if (exchange->nothing()) {
    complete = true;
    return;
  }
  running = true;
  complete = false;
  or_broken([&] { exchange->start(); });
  enlist(*exchange);
}

void Prepared::finish() {
  running = false;
  complete = true;
}

bool Prepared::test(Waiter& waiter) {
  if (!running && complete) return true;
  or_broken([&] {
    if (waiter.test(*exchange)) finish();
  });
  return complete;
}

void Prepared::wait() {
  if (!running && complete) return;
  or_broken([&] {
    wait_and_drive(*exchange);
    finish();
  });
}

}  // namespace tonari
