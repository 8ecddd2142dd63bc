#include "vector/exchange.hpp"

#include <cstring>

#include "base/checked.hpp"

namespace tonari {
namespace {

std::size_t bytes_of(std::int64_t indices, const ValueShape& shape) {
  const auto n = static_cast<std::size_t>(indices);
  return checked_multiply(checked_multiply(n, shape.width, "bytes of values"),
                          static_cast<std::size_t>(shape.vectors), "bytes of values");
}

}  // namespace

VectorExchange::VectorExchange(std::shared_ptr<const VectorProgram> program, ValueShape shape,
                               const ValueBuffers& buffers, Combine combine)
    : program_(std::move(program)), shape_(shape), combine_(combine) {
  const std::size_t scratch = round_up(bytes_of(program_->scratch, shape_));
  memory_ = Memory(checked_add(scratch, bytes_of(program_->buffers, shape_), "bytes of values"));
  base_[static_cast<int>(ValueSpace::scratch)] = memory_.data();
  stride_[static_cast<int>(ValueSpace::scratch)] =
      static_cast<std::size_t>(program_->scratch) * shape_.width;
  if (program_->buffers > 0) buffers_ = memory_.data() + scratch;
  steps_.reserve(program_->steps.size());
  step_ = program_->steps.size();
  bind(buffers);
}

void VectorExchange::bind(const ValueBuffers& buffers) {
  base_[static_cast<int>(ValueSpace::owned)] = buffers.owned,
  stride_[static_cast<int>(ValueSpace::owned)] = buffers.owned_stride;
  base_[static_cast<int>(ValueSpace::ghosts)] = buffers.ghosts,
  stride_[static_cast<int>(ValueSpace::ghosts)] = buffers.ghost_stride;
}

std::byte* VectorExchange::at(ValueSpace space, std::int64_t index, int vector) const {
  const auto s = static_cast<std::size_t>(space);
  return base_[s] + static_cast<std::size_t>(vector) * stride_[s] +
         static_cast<std::size_t>(index) * shape_.width;
}

std::byte* VectorExchange::buffer(const VectorPart& part, int vector) const {
  const auto first =
      static_cast<std::size_t>(part.buffer) * static_cast<std::size_t>(shape_.vectors);
  return buffers_ + (first + static_cast<std::size_t>(vector) *
                                 static_cast<std::size_t>(part.places.count())) *
                        shape_.width;
}

VectorExchange::Rows VectorExchange::rows(const VectorPart& part) const {
  const std::size_t row = static_cast<std::size_t>(part.places.count()) * shape_.width;
  if (part.buffer >= 0) return {buffer(part, 0), row, row};
  const IndexPiece& piece = *part.places.whole();
  const SpaceId space = piece.space == ValueSpace::owned    ? owned_space
                        : piece.space == ValueSpace::ghosts ? ghost_space
                                                            : fixed_space;
  return {at(piece.space, piece.at, 0), row, stride_[static_cast<std::size_t>(piece.space)], space};
}

void VectorExchange::pack(const VectorPart& part) {
  if (part.buffer < 0) return;
  for (int v = 0; v < shape_.vectors; ++v) {
    std::byte* to = buffer(part, v);
    for (const IndexPiece& piece : part.places.pieces()) {
      const std::size_t bytes = static_cast<std::size_t>(piece.count) * shape_.width;
      const std::byte* const from = at(piece.space, piece.at, v);
      if (piece.offsets < 0)
        std::memcpy(to, from, bytes);
      else
        gather_values(to, from, part.places.offsets(piece), shape_.width);
      to += bytes;
    }
  }
}

void VectorExchange::unpack(const VectorPart& part) {
  if (part.buffer < 0) return;
  for (int v = 0; v < shape_.vectors; ++v) {
    const std::byte* from = buffer(part, v);
    for (const IndexPiece& piece : part.places.pieces()) {
      const auto count = static_cast<std::size_t>(piece.count);
      std::byte* const to = at(piece.space, piece.at, v);
      if (!piece.sets)
        combine_(to, from, piece.offsets < 0 ? nullptr : part.places.offsets(piece).data(), count,
                 static_cast<std::size_t>(shape_.components));
      else if (piece.offsets < 0)
        std::memcpy(to, from, count * shape_.width);
      else
        scatter_values(to, from, part.places.offsets(piece), shape_.width);
      from += count * shape_.width;
    }
  }
}

void VectorExchange::run(const std::vector<LocalMove>& moves) {
  for (int v = 0; v < shape_.vectors; ++v)
    for (const LocalMove& m : moves) {
      std::byte* const to = at(m.to.space, m.to.at, v);
      const std::byte* const from = at(m.from.space, m.from.at, v);
      const auto count = static_cast<std::size_t>(m.count);
      if (m.to.sets)
        std::memcpy(to, from, count * shape_.width);
      else
        combine_(to, from, nullptr, count, static_cast<std::size_t>(shape_.components));
    }
}

void VectorExchange::rebind(Shifts shifts) {
  for (const auto [space, id] :
       {std::pair(ValueSpace::owned, owned_space), std::pair(ValueSpace::ghosts, ghost_space)}) {
    std::ptrdiff_t& shift = shifts_[static_cast<std::size_t>(id) - 1];
    std::byte*& base = base_[static_cast<std::size_t>(space)];
    base = moved(base, shifts[id] - shift);
    shift = shifts[id];
  }
  for (const auto& step : steps_) step->exchange->rebind(shifts);
}

void VectorExchange::check_start() const {
  for (const auto& step : steps_) step->exchange->check_start();
}

void VectorExchange::start() {
  run(program_->first);
  step_ = 0;
  begin_step();
  run(program_->meanwhile);
  if (step_ == steps_.size()) run(program_->last);
}

// Goes on to the first step in which this rank has something to do.
void VectorExchange::begin_step() {
  for (; step_ < steps_.size(); ++step_) {
    if (inner().nothing()) continue;
    for (const VectorPart& part : program_->steps[step_].send) pack(part);
    return inner().start();
  }
}

void VectorExchange::end_step() {
  for (const VectorPart& part : program_->steps[step_].receive) unpack(part);
  ++step_;
  begin_step();
  if (step_ == steps_.size()) run(program_->last);
}

bool VectorExchange::test() {
  while (step_ < steps_.size()) {
    if (!inner().test()) return false;
    end_step();
  }
  return true;
}

void VectorExchange::wait() {
  while (step_ < steps_.size()) {
    inner().wait();
    end_step();
  }
}

int VectorExchange::messages() const {
  int sum = 0;
  for (const auto& step : steps_) sum += step->exchange->messages();
  return sum;
}

std::string VectorExchange::channel_mix() const {
  std::string all;
  for (const auto& step : steps_)
    if (const std::string some = step->exchange->channel_mix(); !some.empty())
      all += (all.empty() ? "" : "; ") + some;
  return all;
}

Bytes VectorExchange::bytes() const {
  Bytes sum = 0;
  for (const auto& step : steps_) sum += step->exchange->bytes();
  return sum;
}

std::size_t VectorExchange::scratch_bytes() const {
  std::size_t sum = memory_.bytes();
  for (const auto& step : steps_) sum += step->exchange->scratch_bytes();
  return sum;
}

void VectorExchange::give_up() {
  for (const auto& step : steps_) step->exchange->give_up();
}

}  // namespace tonari
