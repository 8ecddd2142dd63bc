// SPDX-License-Identifier: BSD-3-Clause
#include "vector/one_shots.hpp"

#include <utility>

#include "engine/wait/agree.hpp"
#include "neighborhood/first_one_shots.hpp"
#include "request/settings.hpp"
#include "vector/agree_on_call.hpp"
#include "vector/make_request.hpp"

namespace tonari {
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
