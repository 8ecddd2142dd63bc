// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/sparse_exchange.hpp"

#include <utility>

#include "engine/wait/in_flight.hpp"
#include "mpi/mpi_error.hpp"

namespace tonari {
namespace {

using Method = SparseMethod::Kind;
using Seen = Superstep::Seen;

constexpr Bytes message_weight = 32;  // at least what is noted of a message besides its bytes

}  // namespace

SparseExchange::SparseExchange(MPI_Comm comm, std::unique_ptr<PairMessages> pairs,
                               const SparseLimits& limits)
    : state_{comm, std::move(pairs), limits, rank_in(comm), ranks_of(comm)} {
  if (state_.pairs) pairwise_ = make_pairwise(state_);
  consensus_ = make_consensus(state_);
  long_transfers_ = make_long_transfers(state_);
}

SparseMethod SparseExchange::fastest(bool forwards) const {
  return fastest_method(state_.ranks, static_cast<double>(state_.load.messages),
                        static_cast<double>(state_.load.bytes), forwards);
}

void SparseExchange::move_to(std::shared_ptr<const OwnedComm> apart) {
  state_.comm = apart->get();
  apart_ = std::move(apart);
}

void SparseExchange::give_up() {
  given_up_ = true;
  if (state_.pairs) state_.pairs->give_up();
}

// ---- Supersteps, one after the other

void SparseExchange::run(Superstep* first, Superstep* then) {
  now_ = first, then_ = then;
  now_->start();
}

// The superstep is complete.
void SparseExchange::next() {
  if (std::exchange(now_, nullptr)->finish() && then_) run(then_, nullptr);
}

bool SparseExchange::advance() {
  if (finished()) return false;
  const Seen seen = now_->look();
  if (seen == Seen::all) next();
  return seen != Seen::nothing;
}

void SparseExchange::wait() {
  while (!finished()) {
    if (Exchange* const exchange = now_->exchange())
      wait_and_drive(*exchange);
    else
      look_until_all();
    next();
  }
}

void SparseExchange::look_until_all() {
  Waiter waiter;
  AllAwaited all(state_.comm);
  std::optional<Error> ended;  // a rank, which may have done its part before
  for (Seen seen; (seen = now_->look()) != Seen::all;)
    if (seen == Seen::some)
      all.reset(), ended.reset();
    else if (ended)
      throw *ended;
    else
      waiter.pass(Pause::yield), ended = all.idle();
}

Pause SparseExchange::pause() const {
  Exchange* const exchange = now_ ? now_->exchange() : nullptr;
  return exchange ? exchange->pause() : Pause::yield;
}

// ---- The first part: short messages travel

void SparseExchange::open(const SparseTask& task, SparseResult& result) {
  if (given_up_ || !finished())
    fail(Errc::peer,
         "an earlier sparse exchange on this communicator failed in the middle; use another one");
  state_.task = &task, state_.result = &result;
  state_.error = task.error;
  state_.method = task.error ? Method::automatic : task.method.kind;
  if (state_.pairs) state_.pairs->check_start(), state_.pairs->clear();
  const std::optional<Error> error = error_of([&] { load(); });
  if (!state_.error) state_.error = error;
  if (error) state_.method = Method::automatic;
  Superstep* const others = state_.method == Method::pairwise ? nullptr : consensus_.get();
  return pairwise_ ? run(pairwise_.get(), others) : run(others, nullptr);
}

void SparseExchange::load() {
  const std::span<const SparseMessage> messages = state_.task->messages;
  state_.reserved = room();
  state_.inbox.clear(state_.reserved.bytes);
  state_.order.clear();
  state_.weight = 0;
  for (const SparseMessage& m : messages)
    state_.weight = checked_add(
        state_.weight, checked_add(m.bytes, message_weight + sizeof(Word), "bytes to send"),
        "bytes to send");
  if (state_.method != Method::store_and_forward)
    for (const SparseMessage& m : messages) state_.order.push_back(&m);
  if (!std::ranges::is_sorted(state_.order, {}, &SparseMessage::to))
    std::ranges::stable_sort(state_.order, {}, &SparseMessage::to);
  consensus_->load();
  if (pairwise_) pairwise_->load();
  if (state_.task->error) return;  // it only tells of that
  // so that nothing can fail behind the agreement
  const auto [bytes, most] = state_.reserved;
  const std::size_t heads = state_.pairs ? state_.pairs->size() * PairMessages::head_words : 0;
  state_.inbox.reserve(bytes / sizeof(Word) + heads, most);
  state_.result->reserve(bytes, most);
  long_transfers_->load();
}

// For as much as any rank can have got in the last exchange.
SparseLoad SparseExchange::room() const {
  const SparseLimits& limits = state_.limits;
  const auto ranks = static_cast<std::uint64_t>(state_.ranks);
  const SparseLoad little{limits.little, limits.little / message_weight};
  if (state_.load.bytes > limits.kept / ranks) return little;
  return {std::max(little.bytes, state_.load.bytes * ranks),
          std::max(little.messages, state_.load.messages * ranks)};
}

// ---- The second part

// What was written by others is read before the next superstep. All must have the memory before the
// first long message moves.
void SparseExchange::complete(BspComm* bsp) {
  const bool forwards = state_.method == Method::store_and_forward;
  if (forwards) forward_by_hops(*bsp, state_);
  const auto ranks = static_cast<std::uint64_t>(state_.ranks);
  const bool fits = state_.load.bytes <= state_.reserved.bytes / ranks &&
                    state_.load.messages <= state_.reserved.messages / ranks;
  const std::optional<Error> error = error_of([&] {
    SparseInbox& inbox = state_.inbox;
    inbox.read_pieces();
    if (state_.method == Method::pairwise)
      for (std::size_t k = 0; k < state_.pairs->size(); ++k)
        inbox.read(state_.pairs->rank(k), state_.pairs->words(k));
    if (!forwards)  // there they came with the others
      for (const SparseMessage& m : state_.task->messages)
        if (m.to == state_.rank) inbox.add({m.to, m.bytes, m.address});
    inbox.place(*state_.result, state_.rank);
    if (!fits) long_transfers_->load();
  });
  if (!state_.error) state_.error = error;
  Superstep* const transfers = forwards ? nullptr : long_transfers_.get();
  if (!fits) {
    state_.method = Method::automatic;  // there is nothing more to send in the agreement
    if (pairwise_) state_.pairs->clear();
    return run(pairwise_ ? pairwise_.get() : consensus_.get(), transfers);
  }
  if (state_.error) throw *state_.error;
  if (transfers) run(transfers, nullptr);
}

}  // namespace tonari
