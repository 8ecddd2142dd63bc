// SPDX-License-Identifier: BSD-3-Clause
#include "vector/make_request.hpp"

#include <string>
#include <utility>
#include <vector>

#include "engine/wait/agree.hpp"
#include "neighborhood/inner_call.hpp"

namespace tonari {
namespace {

std::string extents(const std::vector<ValueField>& fields) {
  std::string all;
  for (const ValueField& field : fields)
    all += text(all.empty() ? "" : "; ", field.extent.vectors,
                field.extent.vectors == 1 ? " vector" : " vectors", " of ", field.extent.width,
                " bytes per index");
  return all;
}

std::int64_t values_of(const VectorPattern& pattern,
                       std::vector<VectorMessage> VectorStage::* side) {
  std::int64_t values = 0;
  for (const VectorStage& stage : pattern.stages)
    for (const VectorMessage& m : stage.*side) values += static_cast<std::int64_t>(m.values.size());
  return values;
}

// Of a planned route: what this rank sends less because values are known on the way.
std::string told_values(const SharedVector& vector, Direction direction) {
  const VectorPattern &values = vector.pattern(), &sums = vector.pattern_of_sums();
  if (!values.separate) return "";
  const std::string back = text("adds on the way: sends ", values_of(sums, &VectorStage::gets),
                                " sums instead of ", sums.separate->received, " values\n");
  const std::string forward =
      text("sends values once per hop: ", values_of(values, &VectorStage::gives), " instead of ",
           values.separate->sent, "\n");
  if (direction == Direction::combine) return back + forward;
  return direction == Direction::forward ? forward : back;
}

void describe(const SharedVector& vector, Direction direction, double start,
              const VectorValues& values, const SteppedExchange& exchange, Prepared& prepared) {
  prepared.chosen.algorithm = vector.route();
  prepared.recording.operation = operation_of(direction);
  prepared.tell_of([&exchange, values = told_values(vector, direction)](ChoiceReport& all) {
    return values + exchange.report_steps(all);
  });
  prepared.describe(start, text(exchange_name(direction), ", route ", vector.route(), ", ",
                                extents(values.fields)));
}

// One-shot calls come with other buffers every time, so they do not ask how these lie.
Buffering buffering_of(const VectorPattern& pattern, const VectorValues& values, Use use) {
  if (use != Use::one_shot) return values.in_place ? Buffering::in_place : Buffering::straight;
  return pattern.listed && pattern.listed->meet ? Buffering::in_place : Buffering::copied;
}

StartBuffer start_buffer(SpaceId space, const char* name, std::byte* address, std::size_t stride,
                         std::int64_t indices, const ValueExtent& extent) {
  StartBuffer buffer{space, name, address};
  if (indices > 0)
    buffer.touch({address, nullptr,
                  stride * static_cast<std::size_t>(extent.vectors - 1) +
                      static_cast<std::size_t>(indices) * extent.width});
  return buffer;
}

// In the order in which init takes them.
StartBuffers start_buffers(Direction direction, const VectorPattern& pattern,
                           const ValueField& field) {
  const ValueBuffers& b = field.buffers;
  const bool forward = direction != Direction::reverse;
  std::vector buffers{start_buffer(ValueWork::owned_space, forward ? "sendbuf" : "recvbuf", b.owned,
                                   b.owned_stride, pattern.owned, field.extent),
                      start_buffer(ValueWork::ghost_space, forward ? "recvbuf" : "sendbuf",
                                   b.ghosts, b.ghost_stride, pattern.ghost_count, field.extent)};
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
    prepared.buffers = start_buffers(direction, pattern, values.fields.front());
  else
    prepared.buffers = StartBuffers("it exchanges several fields");
}

// Whether ranks add what they get in this step; the same on all ranks. They can do so where it
// arrives, without a copy.
bool adds(const SharedVector& vector, Direction direction, std::size_t step) {
  return direction == Direction::reverse ||
         (direction == Direction::combine && step < vector.steps(Direction::reverse));
}

}  // namespace

std::shared_ptr<Prepared> build_exchange(SharedVector& vector, Direction direction, double start,
                                         const VectorValues& values, MPI_Info info, Use use,
                                         bool by_thread) {
  std::shared_ptr<Prepared> prepared;
  run_collectively(vector.context().comm(), [&] {
    prepared = std::make_shared<Prepared>(vector.shared_context());
    auto owned = std::make_unique<ValueWork>(
        vector.program(direction, buffering_of(vector.pattern(), values, use)), values.fields);
    ValueWork& work = *owned;
    std::vector<std::unique_ptr<LocalWork>> works;
    works.push_back(std::move(owned));
    auto exchange = std::make_unique<SteppedExchange>(std::move(works), work.steps());
    for (std::size_t s = 0; s < work.steps(); ++s) {
      const AbsoluteBlocks send = work.sent(s), receive = work.received(s);
      const tonari_neighborhood near = vector.near(direction, s);
      const bool read_there = use != Use::one_shot && adds(vector, direction, s);
      const std::shared_ptr<Prepared> step =
          prepare({Collective::alltoall, send.given(), receive.given(), near, info}, use, inside,
                  read_there ? ReadsBlocks::where_they_arrive : ReadsBlocks::in_buffer);
      if (read_there) work.read_from(s, *step);
      exchange->add_step(step);
    }
    const SteppedExchange& stepped = *exchange;
    prepared->exchange = std::move(exchange);
    if (by_thread) prepared->drive_by_thread();
    describe(vector, direction, start, values, stepped, *prepared);
    if (use != Use::one_shot) free_buffers(direction, vector.pattern(), values, *prepared);
  });
  return prepared;
}

}  // namespace tonari
