// SPDX-License-Identifier: BSD-3-Clause
#include "vector/request.hpp"

#include <array>

#include "api/inner_call.hpp"
#include "api/settings.hpp"
#include "base/hash.hpp"
#include "engine/agree.hpp"
#include "vector/read_values.hpp"
#include "vector/single_calls.hpp"

namespace tonari {
namespace {

const char* operation_of(Direction direction) {
  static const char* const names[] = {"vector forward", "vector reverse", "vector combine"};
  return names[static_cast<int>(direction)];
}

std::string shapes(const std::vector<ValueField>& fields) {
  std::string all;
  for (const ValueField& field : fields)
    all += text(all.empty() ? "" : "; ", field.shape.vectors,
                field.shape.vectors == 1 ? " vector" : " vectors", " of ", field.shape.width,
                " bytes per index");
  return all;
}

void describe(const SharedVector& vector, Direction direction, double start,
              const VectorValues& values, const SteppedExchange& exchange, Prepared& prepared) {
  prepared.algorithm = vector.route();
  prepared.operation = operation_of(direction);
  prepared.tell_of([&exchange](Prepared& all) { return exchange.report_steps(all); });
  prepared.describe(start, text(exchange_name(direction), ", route ", vector.route(), ", ",
                                shapes(values.fields)));
}

// Single calls come with other buffers every time, so they do not ask how these lie.
Buffering buffering_of(const VectorPattern& pattern, const VectorValues& values, Use use) {
  if (use != Use::once) return values.in_place ? Buffering::in_place : Buffering::straight;
  return pattern.listed && pattern.listed->meet ? Buffering::in_place : Buffering::copied;
}

StartBuffer start_buffer(SpaceId space, const char* name, std::byte* address, std::size_t stride,
                         std::int64_t indices, const ValueShape& shape) {
  StartBuffer buffer{space, name, address};
  if (indices > 0)
    buffer.touch({address, nullptr,
                  stride * static_cast<std::size_t>(shape.vectors - 1) +
                      static_cast<std::size_t>(indices) * shape.width});
  return buffer;
}

// In the order in which init takes them.
StartBuffers start_buffers(Direction direction, const VectorPattern& pattern,
                           const ValueField& field) {
  const ValueBuffers& b = field.buffers;
  const bool forward = direction != Direction::reverse;
  std::vector buffers{start_buffer(ValueWork::owned_space, forward ? "sendbuf" : "recvbuf", b.owned,
                                   b.owned_stride, pattern.owned, field.shape),
                      start_buffer(ValueWork::ghost_space, forward ? "recvbuf" : "sendbuf",
                                   b.ghosts, b.ghost_stride, pattern.ghost_count, field.shape)};
  if (!forward) std::swap(buffers[0], buffers[1]);
  return {"start_with", std::move(buffers), [field, places = places_of(pattern)](Shifts shifts) {
            ValueField there = field;
            there.buffers.owned = moved(field.buffers.owned, shifts[ValueWork::owned_space]);
            there.buffers.ghosts = moved(field.buffers.ghosts, shifts[ValueWork::ghost_space]);
            check_apart(places, there);
          }};
}

// Starts may replace them, where there is one pair.
void free_buffers(Direction direction, const VectorPattern& pattern, const VectorValues& values,
                  Prepared& prepared) {
  if (values.fields.size() == 1)
    prepared.buffers.emplace(start_buffers(direction, pattern, values.fields.front()));
  else
    prepared.fixed = "it exchanges several fields";
}

// Collective.
std::shared_ptr<Prepared> build(SharedVector& vector, Direction direction, double start,
                                const VectorValues& values, MPI_Info info, Use use,
                                bool by_thread) {
  std::shared_ptr<Prepared> prepared;
  run_collectively(vector.context().comm(), [&] {
    prepared = std::make_shared<Prepared>(vector.shared_context());
    auto owned = std::make_unique<ValueWork>(
        vector.program(direction, buffering_of(vector.pattern(), values, use)), values.fields);
    const ValueWork& work = *owned;
    std::vector<std::unique_ptr<LocalWork>> works;
    works.push_back(std::move(owned));
    auto exchange = std::make_unique<SteppedExchange>(std::move(works), work.steps());
    for (std::size_t s = 0; s < work.steps(); ++s) {
      const AbsoluteBlocks send = work.sent(s), receive = work.received(s);
      const tonari_neighborhood near = vector.near(direction, s);
      exchange->add_step(prepare(near, Call{Collective::alltoall, send.given(), receive.given()},
                                 use, info, inside));
    }
    const SteppedExchange& stepped = *exchange;
    prepared->exchange = std::move(exchange);
    if (by_thread) prepared->drive_by_thread();
    describe(vector, direction, start, values, stepped, *prepared);
    if (use != Use::once) free_buffers(direction, vector.pattern(), values, *prepared);
  });
  return prepared;
}

// What the program brings, its number, and the exchange that all ranks have kept for it, if any.
struct Brought {
  VectorValues values = {};
  bool by_thread = false;
  std::uint64_t number = 0;
  std::shared_ptr<Prepared> kept = {};
};

// Collective: if it is right and the same everywhere.
Brought agree_on_values(SharedVector& vector, const VectorCall& call, MPI_Info info,
                        Output output) {
  Brought brought;
  std::uint64_t settings = 0;
  const auto things = [&] {
    const auto [direction, fields, widths, vectors, reductions] =
        alike(call.direction, brought.values);
    const std::array all{direction, fields,     widths,
                         vectors,   reductions, Alike{settings, other_settings}};
    brought.number = KeptExchanges::number_of(all);
    return KeptExchanges::with_votes(all, &vector.kept());
  };
  const Compared compared = agree_on_arguments(
      vector.context().comm(), info, output,
      [&] {
        vector.check_direction(call.direction);
        brought.values = read_values(vector.pattern(), call);
        const Settings read = read_settings(info, {});
        settings = read.fingerprint();
        brought.by_thread = read.progress_thread;
      },
      things);
  brought.kept = vector.kept().common(compared);
  return brought;
}

}  // namespace

std::shared_ptr<Prepared> prepare_vector(SharedVector& vector, const VectorCall& call,
                                         MPI_Info info, Output output) {
  const double start = MPI_Wtime();
  const Brought brought = agree_on_values(vector, call, info, output);
  // what is only timed shall not choose meanwhile
  const Use use = output.name && !brought.by_thread ? Use::part : Use::persistent;
  return build(vector, call.direction, start, brought.values, info, use, brought.by_thread);
}

namespace {

// By an exchange that all ranks agree on at each call. Returns it.
const Exchange& run_agreed(SharedVector& vector, const VectorCall& call) {
  const double start = MPI_Wtime();
  const Brought brought = agree_on_values(vector, call, MPI_INFO_NULL, inside);
  std::shared_ptr<Prepared> prepared = brought.kept;
  if (!prepared) {
    prepared = build(vector, call.direction, start, brought.values, MPI_INFO_NULL, Use::once,
                     false);  // by no thread: the caller waits anyway
    vector.kept().keep(brought.number, prepared);
  }
  const auto& exchange = static_cast<const SteppedExchange&>(*prepared->exchange);
  static_cast<ValueWork&>(exchange.work(0)).use(brought.values.fields);
  prepared->start();
  prepared->wait();
  return exchange;  // it is kept
}

// Collective: makes what calls of this direction need from now on.
std::unique_ptr<SingleCalls> connect_calls(SharedVector& vector, const VectorCall& call) {
  agree_on_values(vector, call, MPI_INFO_NULL, inside);
  std::unique_ptr<SingleCalls> calls;
  run_collectively(vector.context().comm(), [&] {
    const WaitPolicy wait{vector.context().node()->crowded(),
                          read_settings(MPI_INFO_NULL, {}).timeout};
    calls = std::make_unique<SingleCalls>(vector, call.direction, wait);
    calls->expect(call);
  });
  return calls;
}

}  // namespace

namespace {

// Returns the exchange that ran.
const Exchange& run_unrecorded(SharedVector& vector, const VectorCall& call) {
  std::unique_ptr<SingleCalls>& calls = vector.single_calls(call.direction);
  if (!calls && !wants_streams(Settings{})) return run_agreed(vector, call);
  if (!calls) calls = connect_calls(vector, call);
  return calls->run(call);
}

// Calls of a direction, for the report; null: there is no memory to record them.
CallRecord* record_of(SharedVector& vector, Direction direction) noexcept {
  std::unique_ptr<CallRecord>& record = vector.record(direction);
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

}  // namespace

void run_vector(SharedVector& vector, const VectorCall& call) {
  CallRecord* const record =
      vector.context().shared().records() ? record_of(vector, call.direction) : nullptr;
  if (!record) return (void)run_unrecorded(vector, call);
  record->run([&] {
    const Exchange& exchange = run_unrecorded(vector, call);
    return std::pair{static_cast<std::uint64_t>(exchange.messages()), exchange.bytes()};
  });
}

}  // namespace tonari
