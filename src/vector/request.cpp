#include "vector/request.hpp"

#include <array>
#include <limits>

#include "api/inner_call.hpp"
#include "api/settings.hpp"
#include "base/hash.hpp"
#include "channels/mpi_error.hpp"
#include "engine/agree.hpp"
#include "vector/read_values.hpp"

namespace tonari {
namespace {

const char* name(Direction direction) {
  return direction == Direction::forward ? "forward" : "reverse";
}

OwnedType type_of(const std::vector<VectorExchange::Row>& rows) {
  std::vector<int> bytes;
  std::vector<MPI_Aint> displacements;
  for (const VectorExchange::Row& row : rows) {
    bytes.push_back(static_cast<int>(row.bytes));
    displacements.push_back(row.base - rows[0].base);
  }
  OwnedType type;
  check_mpi(MPI_Type_create_hindexed(static_cast<int>(rows.size()), bytes.data(),
                                     displacements.data(), MPI_BYTE, type.place()),
            "MPI_Type_create_hindexed");
  return type;
}

// One side of a step.
AbsoluteBlocks side_of(const VectorExchange& exchange, const std::vector<VectorPart>& parts) {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  AbsoluteBlocks side;
  for (const VectorPart& part : parts) {
    const std::vector<VectorExchange::Row> rows = exchange.rows(part);
    std::size_t all = 0;
    for (const VectorExchange::Row& row : rows) all += row.bytes;
    if (all > most)
      fail(Errc::overflow, "the values for rank ", part.peer, " have ", all,
           " bytes, but a message takes at most ", most,
           "; exchange fewer vectors or components, or fewer fields, at once");
    const auto address = reinterpret_cast<MPI_Aint>(rows[0].base);
    if (rows.size() == 1)
      side.add(address, static_cast<int>(all), MPI_BYTE, rows[0].space);
    else
      side.add(address, type_of(rows), rows[0].space);
  }
  return side;
}

// What the steps take together; native is known if it is of all of them.
void add_times(AgainstNative& all, const AgainstNative& step, bool first) {
  const bool known = step.native > 0 && (first || all.native > 0);
  all = {all.seconds + step.seconds, known ? all.native + step.native : 0};
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
              const VectorValues& values, const VectorExchange& exchange, Prepared& prepared) {
  const auto& steps = exchange.steps();
  const bool one = steps.size() == 1;
  std::string hops;
  for (const auto& step : steps) {
    const bool first = &step == steps.data();
    hops += text(one ? "" : text("hop ", &step - steps.data() + 1, ": "), step->description);
    prepared.predicted += step->predicted, prepared.measured += step->measured,
        prepared.rounds += step->rounds;
    add_times(prepared.times, step->times, first);
    if (!one) prepared.variant += (first ? "" : ", ") + step->algorithm;
  }
  prepared.algorithm = one ? steps[0]->algorithm : vector.route();
  if (one) prepared.variant = steps[0]->variant;
  prepared.reason = steps.empty() ? "fixed rule" : steps[0]->reason;
  if (!steps.empty())
    prepared.channel = steps[0]->channel, prepared.channel_detail = steps[0]->channel_detail;
  prepared.describe(start,
                    text(name(direction), " exchange of a vector, route ", vector.route(), ", ",
                         shapes(values.fields)),
                    prepared.algorithm, hops);
}

// Single calls come with other buffers every time, so they do not ask how these lie.
Buffering buffering_of(const VectorPattern& pattern, const VectorValues& values, Use use) {
  if (use == Use::persistent) return values.in_place ? Buffering::in_place : Buffering::straight;
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
  const bool forward = direction == Direction::forward;
  std::vector buffers{start_buffer(VectorExchange::owned_space, forward ? "sendbuf" : "recvbuf",
                                   b.owned, b.owned_stride, pattern.owned, field.shape),
                      start_buffer(VectorExchange::ghost_space, forward ? "recvbuf" : "sendbuf",
                                   b.ghosts, b.ghost_stride, pattern.ghost_count, field.shape)};
  if (!forward) std::swap(buffers[0], buffers[1]);
  return {"start_with", std::move(buffers), [field, places = places_of(pattern)](Shifts shifts) {
            ValueField there = field;
            there.buffers.owned = moved(field.buffers.owned, shifts[VectorExchange::owned_space]);
            there.buffers.ghosts = moved(field.buffers.ghosts, shifts[VectorExchange::ghost_space]);
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
    auto owned = std::make_unique<VectorExchange>(
        vector.program(direction, buffering_of(vector.pattern(), values, use)), values.fields);
    VectorExchange& exchange = *owned;
    const std::vector<VectorStep>& steps = exchange.program().steps;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const AbsoluteBlocks send = side_of(exchange, steps[s].send),
                           receive = side_of(exchange, steps[s].receive);
      const tonari_neighborhood near = vector.near(direction, s);
      exchange.add_step(prepare(near, Call{Collective::alltoall, send.given(), receive.given()},
                                use, info, inside));
    }
    prepared->exchange = std::move(owned);
    if (by_thread) prepared->drive_by_thread();
    describe(vector, direction, start, values, exchange, *prepared);
    if (use == Use::persistent) free_buffers(direction, vector.pattern(), values, *prepared);
  });
  return prepared;
}

// Collective: what the program brings, if it is right and the same everywhere. Returns a number for
// that.
std::uint64_t agree_on_values(const SharedVector& vector, const VectorCall& call, MPI_Info info,
                              Output output, VectorValues& values, bool& by_thread) {
  std::uint64_t settings = 0;
  const auto things = [&] {
    return std::array{
        Alike{static_cast<std::uint64_t>(call.direction),
              "some ranks call a forward exchange where others call a reverse one"},
        Alike{static_cast<std::uint64_t>(values.fields.size()),
              "ranks gave different numbers of fields; it must be the same number on all ranks"},
        Alike{values.widths,
              "ranks gave types or components of different sizes; the values of an index must have "
              "the same number of bytes on all ranks"},
        Alike{values.vectors,
              "ranks gave different numbers of vectors; it must be the same number on all ranks"},
        Alike{values.reductions,
              "ranks gave different operations or types of numbers; they must be the same on all "
              "ranks"},
        Alike{settings, other_settings}};
  };
  agree_on_arguments(
      vector.context().comm(), info, output,
      [&] {
        vector.check_direction(call.direction);
        values = read_values(vector.pattern(), call);
        const Settings read = read_settings(info, {});
        settings = read.fingerprint();
        by_thread = read.progress_thread;
      },
      things);
  Hash hash;
  for (const Alike& thing : things()) hash.word(thing.ballot.value);
  return hash.value();
}

}  // namespace

std::shared_ptr<Prepared> prepare_vector(SharedVector& vector, const VectorCall& call,
                                         MPI_Info info, Output output) {
  const double start = MPI_Wtime();
  VectorValues values;
  bool by_thread = false;
  agree_on_values(vector, call, info, output, values, by_thread);
  return build(vector, call.direction, start, values, info, Use::persistent, by_thread);
}

void run_vector(SharedVector& vector, const VectorCall& call) {
  const double start = MPI_Wtime();
  VectorValues values;
  bool by_thread = false;  // the caller waits anyway
  const std::uint64_t number =
      agree_on_values(vector, call, MPI_INFO_NULL, inside, values, by_thread);
  std::shared_ptr<Prepared> prepared = vector.known(number);
  if (!prepared)
    vector.keep(number, prepared = build(vector, call.direction, start, values, MPI_INFO_NULL,
                                         Use::once, false));
  static_cast<VectorExchange&>(*prepared->exchange).use(values.fields);
  prepared->start();
  prepared->wait();
}

}  // namespace tonari
