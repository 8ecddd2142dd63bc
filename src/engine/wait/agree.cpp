// SPDX-License-Identifier: BSD-3-Clause
#include "engine/wait/agree.hpp"

#include <algorithm>
#include <atomic>

#include "base/hash.hpp"
#include "engine/wait/hang_report.hpp"
#include "engine/wait/in_flight.hpp"
#include "engine/wait/known_processes.hpp"
#include "engine/wait/named_rank.hpp"
#include "mpi/mpi_error.hpp"

namespace tonari {
namespace {

// Collective: returns the error of rank `from`. It comes in pieces that need no memory to be
// received, and is cut short where a rank has none for all of it.
std::string broadcast_sentence(MPI_Comm comm, int from, std::string_view mine) {
  std::string all;
  int length = static_cast<int>(mine.size());
  broadcast(&length, 1, MPI_INT, from, comm);
  char piece[512];
  for (int at = 0; at < length;) {
    const auto bytes = std::min<std::size_t>(static_cast<std::size_t>(length - at), sizeof piece);
    if (!mine.empty()) mine.copy(piece, bytes, static_cast<std::size_t>(at));
    broadcast(piece, static_cast<int>(bytes), MPI_CHAR, from, comm);
    (void)error_of([&] { all.append(piece, bytes); });
    at += static_cast<int>(bytes);
  }
  // Words that need no memory: an empty sentence would be taken for none.
  if (all.empty()) all = "out of memory";
  return all;
}

}  // namespace

std::optional<Error> AllAwaited::idle() {
  if (idle_.idle({}) < Wait::Then::tell) return std::nullopt;
  tell_of_collective(comm_, idle_.waited());
  if (idle_.waited() < timeout_in_environment()) return std::nullopt;
  return error_of([&] { check_all_alive(comm_); });
}

// By testing, so that somebody hears of it if a rank does not come.
void complete_while_driving(MPI_Comm comm, MPI_Request& request, IfOneDies deaths) {
  Waiter waiter;
  AllAwaited all(comm);
  const bool drives = any_in_flight();
  while (!is_complete(request)) {
    if (drives)
      waiter.pass(Pause::yield);
    else
      give_core_away();  // who has not come may need this core, which MPICH would keep
    const std::optional<Error> error = all.idle();
    if (error && deaths == IfOneDies::give_up) {
      if (is_complete(request)) return;
      throw Error(*error).now_on_all_ranks();
    }
  }
}

// ---- memory that stays: as much as agreements may be under way at a time, in threads and in
// sparse exchanges

namespace {

struct SpareWords {
  static constexpr std::size_t most = 64;
  std::array<std::array<std::uint64_t, 3 + 2 * Vote::ballots_at_once>, most> words;
  std::array<std::atomic<bool>, most> taken;
};
constinit SpareWords spare_words{};

}  // namespace

Vote::Words* Vote::take_words() {
  for (std::size_t k = 0; k < SpareWords::most; ++k)
    if (!spare_words.taken[k].exchange(true, std::memory_order_acquire))
      return &(spare_words.words[k] = {});
  return nullptr;
}

Vote::~Vote() {
  if (!taken_ || request_ != MPI_REQUEST_NULL) return;  // the MPI may still write there
  const auto k = static_cast<std::size_t>(taken_ - spare_words.words.data());
  spare_words.taken[k].store(false, std::memory_order_release);
}

Vote::Vote(MPI_Comm comm, const Error* error, std::span<const Ballot> ballots)
    : comm_(comm), error_(error) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &size_);
  words_[0] = error ? static_cast<std::uint64_t>(size_ - rank_) : 0;
  for (std::size_t k = 0; k < ballots.size(); ++k) {
    if (!ballots[k].abstains) vote(k, ballots[k].value);
  }
  vote(ballots_at_once, error ? Hash().bytes(error->what()).value() | 1 : 0);
  const int count = static_cast<int>(words_.size());
  if (size_ == 1) {  // nothing to wait for
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, words_.data(), count, MPI_UINT64_T, MPI_MAX, comm),
              "MPI_Allreduce");
    return;
  }
  check_mpi(
      MPI_Iallreduce(MPI_IN_PLACE, words_.data(), count, MPI_UINT64_T, MPI_MAX, comm, &request_),
      "MPI_Iallreduce");
}

void Vote::vote(std::size_t ballot, std::uint64_t value) {
  words_[1 + 2 * ballot] = value & largest_ballot;
  words_[2 + 2 * ballot] = largest_ballot - words_[1 + 2 * ballot];
}

void Vote::wait() {
  if (request_ == MPI_REQUEST_NULL) return;
  complete_while_driving(comm_, request_, taken_ ? IfOneDies::give_up : IfOneDies::wait);
}

void Vote::conclude() {
  if (words_[0] == 0) return;
  const int failed = size_ - static_cast<int>(words_[0]);
  int code = error_ ? static_cast<int>(error_->code()) : 0;
  broadcast(&code, 1, MPI_INT, failed, comm_);
  const std::string sentence =
      broadcast_sentence(comm_, failed, rank_ == failed ? error_->what() : "");
  const Error told = rank_ == failed ? Error(*error_) : Error(static_cast<Errc>(code), sentence);
  const bool of_all = same(ballots_at_once);
  throw(of_all ? Error(told) : with_rank(failed, told)).now_on_all_ranks();
}

std::vector<bool> agree(MPI_Comm comm, const std::optional<Error>& local,
                        std::span<const Ballot> ballots, std::vector<std::uint64_t>* values) {
  std::vector<bool> same;
  std::optional<Error> error = local;
  if (!error && !ballots.empty())
    error = error_of([&] {  // a rank that has agreed does not fail any more
      same.reserve(ballots.size());
      if (values) values->reserve(values->size() + ballots.size());
    });
  do {
    const std::span<const Ballot> some =
        ballots.first(std::min(ballots.size(), Vote::ballots_at_once));
    ballots = ballots.subspan(some.size());
    Vote vote(comm, error ? &*error : nullptr, some);
    vote.wait();
    vote.conclude();
    for (std::size_t k = 0; k < some.size(); ++k) {
      same.push_back(vote.same(k));
      if (values) values->push_back(vote.said(k));
    }
  } while (!ballots.empty());
  return same;
}

std::string broadcast(MPI_Comm comm, const std::string& text) {
  struct {
    std::uint32_t length;
    char start[508];
  } head{static_cast<std::uint32_t>(text.size()), {}};
  text.copy(head.start, sizeof head.start);
  stay_together(comm);
  // most texts are short: one message
  broadcast(&head, sizeof head, MPI_BYTE, 0, comm);
  if (head.length <= sizeof head.start) return std::string(head.start, head.length);
  std::string all;
  run_collectively(comm, [&] {
    all = text;
    all.resize(head.length);
  });
  broadcast(all.data(), static_cast<int>(head.length), MPI_CHAR, 0, comm);
  return all;
}

// Rank 0 alone votes: for the length of its text, and for its bytes, which other ranks then have,
// too.
std::string broadcast_line(MPI_Comm comm, const std::string& text) {
  constexpr std::size_t of_ballot = 7, most = of_ballot * Vote::ballots_at_once - 1;
  const int rank = rank_in(comm);
  std::array<unsigned char, most + 1> line{};
  line[0] = static_cast<unsigned char>(std::min(text.size(), most + 1));
  if (text.size() <= most) text.copy(reinterpret_cast<char*>(&line[1]), most);
  std::vector<std::uint64_t> said;
  const std::optional<Error> error = error_of([&] { said.reserve(Vote::ballots_at_once); });
  std::array<Ballot, Vote::ballots_at_once> ballots;
  for (std::size_t k = 0; k < line.size(); ++k)
    ballots[k / of_ballot].value |= std::uint64_t{line[k]} << 8 * (k % of_ballot);
  for (Ballot& ballot : ballots) ballot.abstains = rank != 0;
  agree(comm, error, ballots, &said);
  for (std::size_t k = 0; k < line.size(); ++k)
    line[k] = static_cast<unsigned char>(said[k / of_ballot] >> 8 * (k % of_ballot));
  if (line[0] > most) return broadcast(comm, text);
  return {reinterpret_cast<const char*>(&line[1]), line[0]};
}

}  // namespace tonari
