// SPDX-License-Identifier: BSD-3-Clause
#include "engine/wait/hang_report.hpp"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>
#include <vector>

#include "base/error.hpp"
#include "base/setting_table.hpp"
#include "engine/wait/known_processes.hpp"
#include "memory/process.hpp"
#include "memory/wait_record.hpp"
#include "mpi/mpi_error.hpp"

namespace tonari {
namespace {

std::atomic<double> report_after{60};  // seconds; 0: never

// ---- what is known of a process

const char* state_words(char state) {
  switch (state) {
    case 'R':
      return ", running";
    case 'S':
      return ", sleeping";
    case 'D':
      return ", waiting for a device";
    default:
      return "";
  }
}

std::string seconds_text(double seconds) {
  return std::to_string(static_cast<long long>(std::max(0., seconds)));
}

std::string its_wait(const WaitRecord& record) {
  std::string words;
  if (record.rank >= 0) words = text(" for rank ", record.rank);
  if (record.ranks > 1) words += text(" and ", record.ranks - 1, " more");
  return text("waits", words, " in \"", record.exchange.data(), '"');
}

// "is not in tonari", or what it waits for itself.
std::string what_it_does(std::int64_t process) {
  const std::optional<WaitRecord> record = shown_wait(process);
  const double now = steady_seconds();
  if (!record || now - record->seen > WaitRecord::fresh) return "is not in tonari";
  return text(its_wait(*record), " for ", seconds_text(now - record->since), " s");
}

std::string about_stopped(std::int64_t process) {
  const std::optional<WaitRecord> record = shown_wait(process);
  if (!record) return "is stopped, and not in tonari";
  return text("is stopped, and ", seconds_text(steady_seconds() - record->seen),
              " s ago waited in \"", record->exchange.data(), '"');
}

std::string about(std::int32_t rank, std::int64_t process) {
  const std::string name = text("rank ", rank, " (process ", process);
  if (process == this_process()) return text("rank ", rank, " is this process");
  const char state = process_state(process);
  if (state == 'Z' || state == 'X' || Watch(process).ended()) return text(name, ") has ended");
  if (state == 'T' || state == 't') return text(name, ") ", about_stopped(process));
  return text(name, state_words(state), ") ", what_it_does(process));
}

// ---- what is waited for

std::string size_text(const Awaited::One& one) {
  if (one.bytes == 0) return "a message";
  if (one.done == 0 || one.done >= one.bytes) return text(one.bytes, " bytes");
  return text(one.bytes - one.done, " of ", one.bytes, " bytes");
}

std::string words_for(const Awaited::One& one) {
  switch (one.what) {
    case Awaited::What::message:
      return text("for ", size_text(one), " from rank ", one.rank);
    case Awaited::What::taking:
      return text("until rank ", one.rank, " takes ", size_text(one));
    case Awaited::What::swap:
      return text("until rank ", one.rank, " swaps its block");
    case Awaited::What::entering:
      break;
  }
  return text("for rank ", one.rank);
}

// Whether the one before it in the list that has the same rank says all there is to say of it.
bool seen_before(const Awaited& awaited, const Awaited::One& one) {
  return std::any_of(awaited.some().data(), &one,
                     [&](const Awaited::One& other) { return other.rank == one.rank; });
}

std::string what_it_waits_for(const Awaited& awaited) {
  std::string words;
  for (const Awaited::One& one : awaited.some())
    if (one.what != Awaited::What::entering || !awaited.note())  // which says it
      words += (words.empty() ? "" : ", ") + words_for(one);
  if (awaited.more() > 0) words += text(" and ", awaited.more(), " more");
  if (awaited.note()) words += text(words.empty() ? "" : ", ", awaited.note());
  return words.empty() ? "for what it cannot see" : words;
}

std::string what_they_do(const Awaited& awaited) {
  std::string words;
  for (const Awaited::One& one : awaited.some())
    if (!seen_before(awaited, one))
      words += "; " + (one.process ? about(one.rank, one.process)
                                   : text("rank ", one.rank, " is on another node"));
  return words;
}

// ---- the line

// A line is due once, and then each time that the wait is twice as long. Waits of several requests,
// or threads, share one.
class Lines {
 public:
  // If the setting is shorter, those that began to wait a moment later would be missed.
  static constexpr double others_show_themselves = 2;

  bool due(double seconds) {
    const double now = steady_seconds();
    if (seconds < std::max<double>(report_after, others_show_themselves)) return false;
    const std::lock_guard lock(mutex_);
    const bool began_before = now - seconds < last_ + 1;
    if (began_before && seconds < next_) return false;
    last_ = now, next_ = 2 * seconds;
    return true;
  }

 private:
  std::mutex mutex_;
  double last_ = -1e9;  // when a line was written, by the steady clock
  double next_ = 0;     // how long a wait that had begun by then must be
};

bool line_is_due(double seconds) {
  static Lines* const lines = new Lines;
  return lines->due(seconds);
}

std::string clock_time(double seconds_ago) {
  const time_t then = ::time(nullptr) - static_cast<time_t>(seconds_ago);
  struct tm parts{};
  char words[16] = "";
  if (::localtime_r(&then, &parts)) std::strftime(words, sizeof words, "%H:%M:%S", &parts);
  return words;
}

std::string rank_text(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return "";
  return text("rank ", rank_in(comm), " ");
}

void print(const Awaited& awaited, MPI_Comm comm, double seconds) {
  const std::string steps =
      awaited.steps() > 1 ? text(", step ", awaited.step(), " of ", awaited.steps()) : "";
  const std::string line =
      text("tonari: ", rank_text(comm), "(process ", this_process(), ") has waited for ",
           seconds_text(seconds), " s (since ", clock_time(seconds), ") in \"", awaited.call(), '"',
           steps, ": ", sentence(awaited), "\n");
  std::fputs(line.c_str(), stderr);
}

void show(const Awaited& awaited, double seconds) noexcept {
  WaitRecord record;
  record.seen = steady_seconds();
  record.since = record.seen - seconds;
  for (const Awaited::One& one : awaited.some()) record.ranks += !seen_before(awaited, one);
  record.ranks += static_cast<std::int32_t>(awaited.more());
  if (!awaited.some().empty()) record.rank = awaited.some()[0].rank;
  std::strncpy(record.exchange.data(), awaited.call(), record.exchange.size() - 1);
  show_wait(record);
}

// ---- calls of all ranks

constexpr const char* collective_words = "a call that all ranks of a communicator make";

std::string what_others_do(const std::vector<KnownProcess>& others) {
  std::string words;
  for (const KnownProcess& other : others) words += "; " + about(other.rank, other.process);
  return words;
}

// Of those that the launcher tells of, some may have no process any more.
std::string who_is_missing(MPI_Comm comm, const std::vector<KnownProcess>& known) {
  const int ranks = ranks_of(comm);
  const auto others = static_cast<std::size_t>(ranks) - 1;
  if (known.size() >= others) return "";
  return text("; of ", others - known.size(), " of its other ranks this one knows no process here");
}

void print(const std::string& rank, const char* in, double seconds, const std::string& others) {
  const std::string line =
      text("tonari: ", rank, "(process ", this_process(), ") has waited for ",
           seconds_text(seconds), " s (since ", clock_time(seconds), ") in ", in, others, "\n");
  std::fputs(line.c_str(), stderr);
}

}  // namespace

void read_hang_report() {
  const Setting& row = setting("TONARI_HANG_REPORT");
  const auto value = in_environment(row);
  if (value) report_after = static_cast<double>(read_count(row, *value, 1'000'000'000));
}

double timeout_in_environment() {
  double seconds = 10;
  (void)error_of([&] {
    const Setting& row = setting("TONARI_TIMEOUT");
    if (const auto value = in_environment(row)) seconds = read_seconds(row, *value);
  });
  return seconds;
}

std::string sentence(const Awaited& awaited) {
  return what_it_waits_for(awaited) + what_they_do(awaited);
}

void tell_of_wait(const Awaited& awaited, MPI_Comm comm, double seconds) noexcept {
  if (report_after <= 0) return;
  show(awaited, seconds);
  if (line_is_due(seconds)) (void)error_of([&] { print(awaited, comm, seconds); });
}

void tell_of_collective(MPI_Comm comm, double seconds) noexcept {
  (void)error_of([&] { find_launched_processes(comm); });
  if (report_after <= 0) return;
  Awaited awaited;
  awaited.in(collective_words);
  show(awaited, seconds);
  if (!line_is_due(seconds)) return;
  (void)error_of([&] {
    const std::vector<KnownProcess> others = known_processes(comm);
    print(rank_text(comm), collective_words, seconds,
          what_others_do(others) + who_is_missing(comm, others));
  });
}

void tell_of_call(const char* call, double seconds) noexcept {
  (void)error_of([] { find_launched_processes(); });
  if (report_after <= 0) return;
  Awaited awaited;
  awaited.in(call);
  show(awaited, seconds);
  if (!line_is_due(seconds)) return;
  (void)error_of([&] {
    const std::int32_t rank = known_rank();
    print(rank < 0 ? "" : text("rank ", rank, " "), call, seconds,
          what_others_do(known_processes()));
  });
}

}  // namespace tonari
