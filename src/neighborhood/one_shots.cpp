// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/one_shots.hpp"

#include <algorithm>

#include "neighborhood/read_call.hpp"
#include "one_shot/connect_streams.hpp"
#include "request/buffer.hpp"

namespace tonari {
namespace {

// MPI's buffers are void*, also those that are only read from.
std::byte* bytes_at(const void* buffer) {
  return static_cast<std::byte*>(const_cast<void*>(buffer));
}
Spaces spaces_of(const Call& call) {
  return {nullptr, bytes_at(call.send.buffer), bytes_at(call.recv.buffer)};
}
// Where the exchange finds the blocks.
Spaces spaces_of(const Call& call, const OneShotCall& said) {
  return spaces_of(said.staged ? said.staged->pinned(call) : call);
}

std::string_view algorithm_of(const HopTable::Row* row) {
  return row ? std::string_view(row->combining.variant->algorithm()) : "linear";
}
std::string_view channel_of(const Streams& streams) {
  return streams.any_shared() ? "shared" : "p2p-packed";
}
// What there is to report of one-shot calls by streams.
ChoiceReport report_of(const HopTable::Row* row, const Streams& streams) {
  ChoiceReport chosen;
  chosen.reason = row ? row->reason : "fixed rule";
  chosen.algorithm = algorithm_of(row);
  chosen.channel = channel_of(streams);
  if (row) chosen.variant = row->combining.variant->variant();
  chosen.rounds = row ? static_cast<int>(row->combining.variant->rounds()) : 1;
  return chosen;
}

// Counts the bytes of a block of the regular form; none: they cannot be told.
std::optional<Bytes> block_bytes(const BufferArguments& given) {
  MPI_Count size = 0;
  Bytes bytes = 0;
  if (given.form != Form::regular || given.count < 0 || given.type == MPI_DATATYPE_NULL ||
      MPI_Type_size_x(given.type, &size) != MPI_SUCCESS || size < 0 ||
      __builtin_mul_overflow(static_cast<Bytes>(given.count), static_cast<Bytes>(size), &bytes))
    return std::nullopt;
  return bytes;
}

}  // namespace

OneShots::OneShots(std::shared_ptr<Context> context, std::shared_ptr<Streams> streams,
                   HopTable hops, WaitPolicy wait)
    : context_(std::move(context)),
      streams_(std::move(streams)),
      wait_(wait),
      self_(self_edges_of(context_->vertex())),
      hops_(std::move(hops)),
      blocking_(streams_, wait),
      combining_(streams_, wait) {
  if (context_->shared().records()) records_ = std::make_unique<Records>();
  // So a call that has no memory can still refuse.
  for (const Collective collective : {Collective::alltoall, Collective::allgather})
    if (const HopTable::Row* const row = hops_.find(collective, 1, 1))
      combining_.make_room(*row->plan);
  make_room_in_flight();
}

OneShotCall& OneShots::known(const Call& call) {
  OneShotCall* const known = known_.find([&](OneShotCall& each) { return each.same(call); });
  if (!known) return read(call);
  if (!known->fits(call)) {
    (void)read_call(*context_, call);
    known->remember(call);
  }
  return *known;
}

OneShotCall& OneShots::read(const Call& call) {
  const ReadCall given = read_call(*context_, call);
  auto read = std::make_shared<OneShotCall>(call, context_->topology(), given.arguments.binding);
  if (given.on_gpu.any())
    read->staged = std::make_shared<StagedCall>(call, context_->topology(), given);
  const Arguments arguments =
      read->staged ? read_call(*context_, read->staged->pinned(call)).arguments : given.arguments;
  read->row = row_of(call);
  if (read->row) {
    const Bytes bytes = *block_bytes(call.send);
    if (const Bytes received = *block_bytes(call.recv); received != bytes)
      fail(Errc::mismatch, "blocks of ", bytes, " bytes are sent, and blocks of ", received,
           " bytes received; in this neighborhood all must have the same size");
    read->hops.emplace(read->row->plan, bytes, arguments);
  } else {
    read->direct = direct_messages(*streams_, context_->topology(), self_, arguments);
  }
  return known_.add(std::move(read));
}

// Says how the call combines, the same on all ranks if all call the same; null: it does not.
const HopTable::Row* OneShots::row_of(const Call& call) const {
  if (call.form() != Form::regular) return nullptr;
  const std::optional<Bytes> sent = block_bytes(call.send), received = block_bytes(call.recv);
  return sent && received ? hops_.find(call.collective, *sent, *received) : nullptr;
}

// Says the same of a call with wrong arguments, as far as they tell: the others take this row. What
// does not tell is taken for a call like the last one of its operation.
const HopTable::Row* OneShots::row_unread(const Call& call) const {
  if (call.form() != Form::regular) return nullptr;
  const std::optional<Bytes> sent = block_bytes(call.send), received = block_bytes(call.recv);
  if (!sent && !received) return last_rows_[call.operation()];
  return hops_.find(call.collective, sent.value_or(*received), received.value_or(*sent));
}

void OneShots::expect(const Call& call, bool for_request) {
  const OneShotCall& said = known(call);
  if (for_request) idle(row_of(call)).prepared->arrivals.reserve(said.arrivals.size());
}

// Takes part in a call that is wrong here, and throws.
void OneShots::refuse(const Call& call, const Error& why) {
  const HopTable::Row* const row = last_rows_[call.operation()] = row_unread(call);
  if (row) {
    combining_.refuse(*row->plan, why);
    run_to_end(combining_);
  } else {
    blocking_.refuse(why);
    run_to_end(blocking_);
  }
}

void OneShots::run(const Call& call) {
  if (records_) [[unlikely]]
    return run_recorded(call);
  check_usable(*streams_, "neighborhood");
  const OneShotCall* said = nullptr;
  const std::optional<Error> wrong = error_of([&] {
    throw_refusal();
    said = &known(call);
    last_rows_[call.operation()] = said->row;
    if (said->staged) [[unlikely]]
      said->staged->move_to(call), said->staged->pack();
    if (said->hops)
      combining_.bind(*said->hops, spaces_of(call, *said));
    else
      blocking_.bind(said->direct, spaces_of(call, *said));
  });
  if (wrong) [[unlikely]]
    return refuse(call, *wrong);
  if (said->hops)
    run_to_end(combining_);
  else
    run_to_end(blocking_);
  if (said->staged) [[unlikely]]
    said->staged->unpack();
}

// Runs a call without the records. So there is one copy of run, and no call more where there are
// none.
void OneShots::run_recorded(const Call& call) {
  const std::shared_ptr<CallRecord> record = record_of(call);
  struct Aside {
    explicit Aside(std::unique_ptr<Records>& of) : place(of), records(std::move(of)) {}
    ~Aside() { place = std::move(records); }
    std::unique_ptr<Records>& place;
    std::unique_ptr<Records> records;
  } const aside(records_);
  if (!record) return run(call);
  record->run([&] {
    run(call);
    const HopTable::Row* const row = row_of(call);
    record->chose(algorithm_of(row), channel_of(*streams_));
    if (known(call).staged) record->stages(always_staged);
    return row ? combining_.traffic() : blocking_.traffic();
  });
}

// Finds the record of an operation's calls; null: there is no memory to record them.
std::shared_ptr<CallRecord> OneShots::record_of(const Call& call) noexcept {
  std::shared_ptr<CallRecord>& record = (*records_)[call.operation()];
  if (record) return record;
  (void)error_of([&] {
    ReportRow calls;
    calls.ranks = context_->ranks();
    calls.operation = call.name();
    calls.what = text(call.name(), " with ", context_->topology().neighbors, " neighbors");
    calls.reason = report_of(row_of(call), *streams_).reason;
    record = std::make_shared<CallRecord>(calls);
  });
  return record;
}

std::shared_ptr<Prepared> OneShots::prepare(const Call& call, Output output) {
  check_usable(*streams_, "neighborhood");
  Started* started = nullptr;
  std::shared_ptr<Prepared> request;
  const std::optional<Error> wrong = error_of([&] {
    throw_refusal();
    require(output.address, output.name);
    const std::shared_ptr<OneShotCall> said = known_and_idle(call).shared_from_this();
    const HopTable::Row* const row = last_rows_[call.operation()] = said->row;
    started = &idle(row);
    Prepared& prepared = *started->prepared;
    prepared.arrivals = said->arrivals;
    for (Arrival& block : prepared.arrivals)
      block.address = moved(block.address, distance(said->base, call.recv.buffer));
    prepared.describe_later(
        row ? "one-shot exchange, short blocks of several ranks combined into messages"
            : "one-shot exchange, all blocks for one rank in one message");
    if (started->recorded) {
      const std::shared_ptr<CallRecord> record = record_of(call);
      if (record) record->chose(algorithm_of(row), channel_of(*streams_));
      if (record && said->staged) record->stages(always_staged);
      started->recorded->count_for(record ? std::shared_ptr<Usage>(record, &record->usage())
                                          : nullptr);
    }
    if (row) {
      started->hops->hold({said, &*said->hops});
      started->hops->bind(*said->hops, spaces_of(call, *said));
    } else {
      started->direct->hold({said, &said->direct});
      started->direct->bind(said->direct, spaces_of(call, *said));
    }
    request = said->staged ? staged(started->prepared, said->staged, call) : started->prepared;
  });
  if (wrong) refuse(call, *wrong);
  return request;
}

// Pinned memory serves one exchange at a time.
OneShotCall& OneShots::known_and_idle(const Call& call) {
  OneShotCall& said = known(call);
  return said.staged && said.staged.use_count() > 1 ? read(call) : said;
}

// A request around the one that moves pinned blocks.
std::shared_ptr<Prepared> OneShots::staged(const std::shared_ptr<Prepared>& moves,
                                           const std::shared_ptr<StagedCall>& call_of,
                                           const Call& call) const {
  call_of->move_to(call);
  struct Held {
    std::shared_ptr<Prepared> prepared;
    std::shared_ptr<StagedCall> staged;
  };
  const auto held = std::make_shared<Held>(Held{moves, call_of});
  auto request = std::make_shared<Prepared>(context_);
  auto exchange = std::make_unique<StagedExchange>(
      std::shared_ptr<Exchange>(held, moves->exchange.get()), call_of->sides());
  request->by_stream = exchange.get();
  request->exchange = std::move(exchange);
  request->chosen = moves->chosen;
  request->arrivals = moves->arrivals;
  request->recording.done = request->recording.staged = true;
  request->describe_later(
      "one-shot exchange, of blocks that are staged through pinned host memory");
  return request;
}

// Finds one that no request uses any more, the next in turn or a new one.
OneShots::Started& OneShots::idle(const HopTable::Row* row) {
  auto& [all, turn] = started_[row ? 1 + static_cast<std::size_t>(row->plan->collective) : 0];
  for (std::size_t tries = std::min<std::size_t>(all.size(), 4); tries > 0; --tries) {
    Started& next = all[turn++ % all.size()];
    if (next.prepared->broken() && next.prepared.use_count() == 1) next = made(row);
    if (next.prepared.use_count() == 1 && !next.prepared->running()) return next;
  }
  return all.emplace_back(made(row));
}

OneShots::Started OneShots::made(const HopTable::Row* row) {
  Started started{std::make_shared<Prepared>(context_)};
  Prepared& prepared = *started.prepared;
  if (row)
    prepared.exchange.reset(started.hops = new HopExchange(streams_, wait_));
  else
    prepared.exchange.reset(started.direct = new DirectExchange(streams_, wait_));
  if (records_) {
    auto recorded = std::make_unique<RecordedExchange>();
    started.recorded = recorded.get();
    recorded->wrap(std::move(prepared.exchange));
    prepared.exchange = std::move(recorded);
    prepared.recording.done = true;
  }
  prepared.chosen = report_of(row, *streams_);
  return started;
}

}  // namespace tonari
