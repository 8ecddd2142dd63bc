// SPDX-License-Identifier: BSD-3-Clause
#include "engine/comm/mpi_bsp_comm.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "channels/abandon.hpp"
#include "channels/control_tags.hpp"
#include "engine/wait/arrived.hpp"
#include "memory/wait.hpp"
#include "mpi/collective.hpp"
#include "mpi/mpi_error.hpp"

namespace tonari {
namespace {

// The buffer for messages that nobody will read. It is static because it is needed when memory runs
// out; its pages exist only once it is used.
Word dropped[MpiBspComm::most_words];

}  // namespace

MpiBspComm::MpiBspComm(MPI_Comm comm, int longest_message, Number number)
    : comm_(comm), longest_message_(longest_message) {
  if (longest_message < 1 || longest_message > most_words)
    fail(Errc::internal, "messages of ", longest_message, " words");
  int rank = 0;
  MPI_Comm_size(comm, &ranks_);
  MPI_Comm_rank(comm, &rank);
  here_ = {rank};
  // an earlier communicator's last exchange may have had the tag of this one's first
  if (number == Number::later) stay_together(comm_);
}

void MpiBspComm::send(std::size_t k, std::int32_t to, std::span<const Word> words) {
  if (k != 0 || to < 0 || to >= ranks_)
    fail(Errc::internal, "a message for rank ", to, " of ", ranks_);
  Stream& stream = outgoing_[to];
  const std::size_t before = stream.size();
  try {
    stream.push_back(static_cast<Word>(words.size()));
    stream.insert(stream.end(), words.begin(), words.end());
  } catch (...) {
    stream.resize(before);  // what was sent earlier may still be exchanged
    throw;
  }
}

// A rank enters the agreement when its own messages are being received. So once it is complete,
// every message of this exchange has its receiver in this very loop. Another rank may leave it
// earlier and send for the next exchange while this one still tests; the tag tells those apart. It
// cannot be two exchanges ahead, because the next agreement needs this rank. So two tags suffice.
void MpiBspComm::exchange() {
  tag_ = tag_ == planning_even ? planning_odd : planning_even;
  mail_.clear();
  incoming_.clear();
  if (auto own = outgoing_.extract(here_[0])) incoming_.insert(std::move(own));

  for (const auto& [to, stream] : outgoing_) start(to, stream);
  AllAwaited all(comm_);
  for (bool complete = false; !complete;) {
    const bool received = receive_if_any();
    if (vote_)
      complete = vote_->test();
    else if (sends_.done())
      vote_.emplace(comm_);
    if (received)
      all.reset();
    else if (!complete)
      pause(all);
  }
  vote_->conclude();
  vote_.reset();
  outgoing_.clear();
  open_streams();
}

// Ranks may outnumber cores. What is on its way when a rank has died stays where it is.
void MpiBspComm::pause(AllAwaited& all) {
  give_core_away();
  const std::optional<Error> error = all.idle();
  if (!error) return;
  leak(std::move(outgoing_));
  throw Error(*error).now_on_all_ranks();
}

void MpiBspComm::start(std::int32_t to, const Stream& stream) {
  for (std::size_t at = 0; at < stream.size(); at += static_cast<std::size_t>(longest_message_)) {
    const int count = static_cast<int>(std::min<std::size_t>(stream.size() - at, longest_message_));
    check_mpi(MPI_Issend(&stream[at], count, MPI_INT64_T, to, tag_, comm_, sends_.add()),
              "MPI_Issend");
  }
}

void MpiBspComm::run_collectively(const std::function<void()>& work) {
  stay_together(comm_);
  try {
    work();
    stay_together(comm_);  // a rank that fails at the very end finds the others here
  } catch (...) {
    const Error error = current_error();
    if (!error.on_all_ranks()) give_up(error);
    forget();
    throw;
  }
}

// Others may be in an exchange, or reach the next one. Their messages to this rank must be
// received, or they would not reach the agreement that tells them of the error.
void MpiBspComm::give_up(const Error& error) {
  const auto agreed = [&] { return vote_->test(); };
  try {
    if (vote_) {  // entered before the error
      drop_until(agreed);
      vote_->conclude();
    }
    drop_until([&] { return sends_.done(); });
    vote_.emplace(comm_, &error);
    drop_until(agreed);
    vote_->conclude();
  } catch (...) {
    forget();
    throw;
  }
}

void MpiBspComm::drop_until(const std::function<bool()>& done) {
  for (AllAwaited all(comm_); !done(); pause(all))
    for (const int tag : {planning_even, planning_odd}) drop_if_any(tag);
}

// All have left: nothing is on its way.
void MpiBspComm::forget() {
  tag_ = planning_even;
  mail_.clear();
  incoming_.clear();
  outgoing_.clear();
  vote_.reset();
}

void MpiBspComm::drop_if_any(int tag) {
  if (Arrived arrived(comm_, tag); arrived.found) arrived.receive(dropped);
}

bool MpiBspComm::receive_if_any() {
  Arrived arrived(comm_, tag_);
  if (!arrived.found) return false;
  Word* to = dropped;
  const std::optional<Error> error = error_of([&] {
    // messages of one sender come in the order in which it started them
    Stream& stream = incoming_[arrived.status.MPI_SOURCE];
    stream.resize(stream.size() + static_cast<std::size_t>(arrived.count));
    to = stream.data() + stream.size() - arrived.count;
  });
  arrived.receive(to);  // also without memory: its sender waits for that
  if (error) throw *error;
  return true;
}

void MpiBspComm::open_streams() {
  for (const auto& [from, stream] : incoming_)
    for (std::span<const Word> rest(stream); !rest.empty();) {
      const auto length = static_cast<std::size_t>(rest[0]);
      mail_.push_back({from, rest.subspan(1, length)});
      rest = rest.subspan(1 + length);
    }
}

std::span<const std::size_t> MpiBspComm::receivers() const {
  static constexpr std::size_t only = 0;
  return {&only, mail_.empty() ? 0u : 1u};
}

void MpiBspComm::reduce(std::span<Word> words, MPI_Op operation) {
  if (words.empty()) return;
  stay_together(comm_);
  while (!words.empty()) {
    const std::span<Word> part = words.first(std::min<std::size_t>(words.size(), longest_message_));
    reduce_all(part.data(), static_cast<int>(part.size()), MPI_INT64_T, operation, comm_);
    words = words.subspan(part.size());
  }
}

}  // namespace tonari
