// SPDX-License-Identifier: BSD-3-Clause
#include "vector/one_shots.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/wait/agree.hpp"
#include "engine/wait/named_rank.hpp"
#include "neighborhood/first_one_shots.hpp"
#include "one_shot/connect_streams.hpp"
#include "request/settings.hpp"
#include "vector/agree_on_call.hpp"
#include "vector/make_request.hpp"

namespace tonari {

StreamedOneShots::StreamedOneShots(SharedVector& vector, Direction direction, WaitPolicy wait)
    : vector_(vector) {
  make_room_in_flight();
  for (std::size_t s = 0; s < vector.steps(direction); ++s) {
    Context& context = *vector.near(direction, s)->context;
    run_collectively(context.comm(), [&] {
      streams_.push_back(connect_streams(context));
      steps_.push_back(std::make_shared<Prepared>(vector.shared_context()));
      // A rank that only sends has what it needs; and hops would tell it over and over.
      steps_.back()->exchange =
          std::make_unique<DirectExchange>(streams_.back(), wait, DirectExchange::Notices::none);
    });
    context.take_tags(stream_tags);
  }
}

VectorOneShotCall& StreamedOneShots::find(const VectorCall& call) {
  if (VectorOneShotCall* const known =
          recent_.find([&](VectorOneShotCall& each) { return each.same(call); }))
    return *known;
  return recent_.add(std::make_unique<VectorOneShotCall>(
      vector_, call, read_values(vector_.pattern(), call), steps_, streams_));
}

const Exchange& StreamedOneShots::run(const VectorCall& call) {
  for (const auto& streams : streams_) check_usable(*streams, "vector");
  VectorOneShotCall* found = nullptr;
  std::optional<Error> wrong = error_of([&] {
    throw_refusal();
    found = &find(call);
    found->bind(vector_.pattern(), call);
  });
  std::size_t next = 0;
  if (!wrong) {
    wrong = error_of([&] {
      found->exchange().start();
      wait_and_drive(found->exchange());
    });
    if (!wrong) return found->exchange();
    next = found->exchange().running() + 1;
    if (next <= steps_.size()) direct(next - 1).give_up();
  }
  if (vector_.context().ranks() > 1) wrong = with_rank(vector_.context().rank(), *wrong);
  refuse(next, *wrong);
  // what ends one hop ends all
  if (std::ranges::any_of(streams_, [](const auto& streams) { return streams->left(); }))
    for (const auto& streams : streams_) streams->leave();
  throw *wrong;
}

// In the hops to come neighbors wait for values that this rank does not have.
void StreamedOneShots::refuse(std::size_t first, const Error& why) {
  for (std::size_t s = first; s < steps_.size(); ++s) {
    direct(s).refuse(why);
    (void)error_of([&] { run_to_end(direct(s)); });
  }
}

namespace {

// Collective: makes what calls of this direction need from now on.
std::unique_ptr<StreamedOneShots> connect_calls(SharedVector& vector, const VectorCall& call) {
  agree_on_values(vector, call, MPI_INFO_NULL, inside, nullptr);
  std::unique_ptr<StreamedOneShots> calls;
  run_collectively(vector.context().comm(), [&] {
    const WaitPolicy wait{vector.context().node()->crowded(), read_settings(MPI_INFO_NULL).timeout};
    calls = std::make_unique<StreamedOneShots>(vector, call.direction, wait);
    calls->expect(call);
  });
  return calls;
}

}  // namespace

// Runs a call by an exchange that all ranks agree on at each call, and returns that.
const Exchange& VectorOneShots::run_agreed(SharedVector& vector, const VectorCall& call) {
  const double start = MPI_Wtime();
  const AgreedValues agreed = agree_on_values(vector, call, MPI_INFO_NULL, inside, &kept_);
  std::shared_ptr<Prepared> prepared = agreed.kept;
  if (!prepared) {
    prepared = build_exchange(vector, call.direction, start, agreed.values, MPI_INFO_NULL,
                              Use::one_shot, false);  // by no thread: the caller waits anyway
    kept_.put({agreed.number}, prepared);
  }
  const auto& exchange = static_cast<const SteppedExchange&>(*prepared->exchange);
  static_cast<ValueWork&>(exchange.work(0)).use(agreed.values.fields);
  prepared->start();
  prepared->wait();
  return exchange;  // it is kept
}

// Returns the exchange that ran.
const Exchange& VectorOneShots::run_unrecorded(SharedVector& vector, const VectorCall& call) {
  std::unique_ptr<StreamedOneShots>& calls = streamed_[static_cast<std::size_t>(call.direction)];
  if (!calls && !wants_streams(Settings{})) return run_agreed(vector, call);
  if (!calls) calls = connect_calls(vector, call);
  return calls->run(call);
}

// Finds the record of a direction's calls; null: there is no memory to record them.
CallRecord* VectorOneShots::record_of(const SharedVector& vector, Direction direction) noexcept {
  std::unique_ptr<CallRecord>& record = records_[static_cast<std::size_t>(direction)];
  if (record) return record.get();
  (void)error_of([&] {
    ReportRow calls;
    calls.ranks = vector.context().ranks();
    calls.operation = operation_of(direction);
    calls.what = text(exchange_name(direction), ", route ", vector.route());
    calls.algorithm = vector.route();
    record = std::make_unique<CallRecord>(calls);
  });
  return record.get();
}

void VectorOneShots::run(SharedVector& vector, const VectorCall& call) {
  CallRecord* const record =
      vector.context().shared().records() ? record_of(vector, call.direction) : nullptr;
  if (!record) return (void)run_unrecorded(vector, call);
  record->run([&] {
    const Exchange& exchange = run_unrecorded(vector, call);
    return std::pair{static_cast<std::uint64_t>(exchange.messages()), exchange.bytes()};
  });
}

}  // namespace tonari
