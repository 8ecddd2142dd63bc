// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of vectors in a group.
#include <algorithm>
#include <iterator>

#include "engine/wait/agree.hpp"
#include "vector/read_call.hpp"
#include "vector/request.hpp"

namespace tonari {
namespace {

// The first bytes of values, one or several times.
using Starts = std::vector<std::uintptr_t>;

// Places in one of the program's arrays, ascending, each once.
std::vector<std::int64_t> places(std::vector<std::int64_t> listed) {
  std::ranges::sort(listed);
  const auto repeats = std::ranges::unique(listed);
  listed.erase(repeats.begin(), repeats.end());
  return listed;
}

std::vector<std::int64_t> places_of_owned(const VectorPattern& pattern) {
  std::vector<std::int64_t> all;
  const auto add = [&](ValueCode code) {
    if (code >= 0) all.push_back(code);
  };
  for (const VectorStage& stage : pattern.stages)
    for (const VectorMessage& m : stage.gives) std::ranges::for_each(m.values, add);
  std::ranges::for_each(pattern.needs, add);
  return places(std::move(all));
}

std::vector<std::int64_t> places_of_ghosts(const VectorPattern& pattern) {
  std::vector<std::int64_t> all;
  for (std::size_t k = 0; k < pattern.needs.size(); ++k) all.push_back(pattern.ghost_place(k));
  return places(std::move(all));
}

Starts starts_of(const std::vector<std::int64_t>& places, const std::byte* array,
                 std::size_t width) {
  Starts all;
  for (const std::int64_t place : places)
    all.push_back(reinterpret_cast<std::uintptr_t>(array) +
                  static_cast<std::size_t>(place) * width);
  return all;
}

void add(Layout& bytes, const Starts& starts, std::size_t width) {
  for (const std::uintptr_t start : starts) bytes.add(static_cast<std::ptrdiff_t>(start), width);
}

class GroupedVector final : public GroupedCall {
 public:
  GroupedVector(SharedVector& vector, const VectorCall& call)
      : vector_(vector), direction_(call.direction) {
    vector.check_direction(direction_);
    values_ = read_values(vector.pattern(), call);
  }

  std::string name() const override { return exchange_name(direction_); }
  Context& context() const override { return vector_.context(); }
  void agree_and_prepare() override {
    agree_on_arguments(context().comm(), MPI_INFO_NULL, std::nullopt, alike(direction_, values_));
    const Buffering buffering = values_.in_place ? Buffering::in_place : Buffering::straight;
    run_collectively(context().comm(), [&] {
      work_ = std::make_unique<ValueWork>(vector_.program(direction_, buffering), values_.fields);
    });
  }
  std::size_t steps() const override { return work_->steps(); }
  GroupSide sent(std::size_t step) override {
    return {peers(work_->step(step).send), work_->sent(step)};
  }
  GroupSide received(std::size_t step) override {
    return {peers(work_->step(step).receive), work_->received(step)};
  }
  TouchedBytes touched() const override {
    TouchedBytes touched;
    const auto owned = places_of_owned(vector_.pattern()),
               ghosts = places_of_ghosts(vector_.pattern());
    for (const ValueField& field : values_.fields)
      for (int v = 0; v < field.extent.vectors; ++v) touch(field, v, owned, ghosts, touched);
    return touched;
  }
  std::unique_ptr<LocalWork> work() override { return std::move(work_); }

 private:
  static std::vector<int> peers(const std::vector<VectorPart>& parts) {
    std::vector<int> all;
    for (const VectorPart& part : parts) all.push_back(part.peer);
    return all;
  }
  // In place, what is read and written counts as written.
  void touch(const ValueField& field, int v, const std::vector<std::int64_t>& owned,
             const std::vector<std::int64_t>& ghosts, TouchedBytes& touched) const {
    const ValueBuffers& b = field.buffers;
    const std::size_t width = field.extent.width, n = static_cast<std::size_t>(v);
    Starts read = starts_of(owned, b.owned + n * b.owned_stride, width),
           written = starts_of(ghosts, b.ghosts + n * b.ghost_stride, width), only_read;
    if (direction_ == Direction::reverse) std::swap(read, written);
    std::ranges::set_difference(read, written, std::back_inserter(only_read));
    add(direction_ == Direction::combine ? touched.written : touched.read, only_read, width);
    add(touched.written, written, width);
  }

  SharedVector& vector_;
  Direction direction_;
  VectorValues values_;
  std::unique_ptr<ValueWork> work_;
};

}  // namespace

std::unique_ptr<GroupedCall> group_vector(SharedVector& vector, const VectorCall& call) {
  return std::make_unique<GroupedVector>(vector, call);
}

}  // namespace tonari
