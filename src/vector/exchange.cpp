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

SpaceId space_of(ValueSpace space) {
  if (space == ValueSpace::scratch) return fixed_space;
  return space == ValueSpace::owned ? VectorExchange::owned_space : VectorExchange::ghost_space;
}

}  // namespace

VectorExchange::VectorExchange(std::shared_ptr<const VectorProgram> program,
                               std::span<const ValueField> fields)
    : program_(std::move(program)) {
  fields_.reserve(fields.size());
  for (const ValueField& given : fields) {
    Field& field = fields_.emplace_back(Field{given.shape, given.combine});
    field.before = pitch_;
    field.bind(given.buffers);
    pitch_ = checked_add(pitch_, bytes_of(1, field.shape), "bytes of values");
  }
  if (fields_.size() > 1) pitch_ = round_up(pitch_, alignof(std::max_align_t));
  place_scratch();
  steps_.reserve(program_->steps.size());
  step_ = program_->steps.size();
}

void VectorExchange::place_scratch() {
  std::size_t scratch = 0;
  const auto next = [&](const Field& field) {
    const std::size_t at = scratch;
    scratch =
        checked_add(at, round_up(bytes_of(program_->scratch, field.shape)), "bytes of values");
    return at;
  };
  std::vector<std::size_t> at;
  at.reserve(fields_.size());
  for (const Field& field : fields_) at.push_back(next(field));
  const std::size_t buffers =
      checked_multiply(static_cast<std::size_t>(program_->buffers), pitch_, "bytes of values");
  memory_ = Memory(checked_add(scratch, buffers, "bytes of values"));
  constexpr auto space = static_cast<std::size_t>(ValueSpace::scratch);
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    fields_[f].base[space] = memory_.data() + at[f];
    fields_[f].stride[space] = fields_[f].bytes(program_->scratch);
  }
  if (program_->buffers > 0) buffers_ = memory_.data() + scratch;
}

void VectorExchange::Field::bind(const ValueBuffers& buffers) {
  base[static_cast<int>(ValueSpace::owned)] = buffers.owned,
  stride[static_cast<int>(ValueSpace::owned)] = buffers.owned_stride;
  base[static_cast<int>(ValueSpace::ghosts)] = buffers.ghosts,
  stride[static_cast<int>(ValueSpace::ghosts)] = buffers.ghost_stride;
}

std::byte* VectorExchange::Field::at(ValueSpace space, std::int64_t index, int vector) const {
  const auto s = static_cast<std::size_t>(space);
  return base[s] + static_cast<std::size_t>(vector) * stride[s] +
         static_cast<std::size_t>(index) * shape.width;
}

// A message has the fields one behind the other, and of each its vectors.
std::byte* VectorExchange::buffer(const VectorPart& part, const Field& field, int vector) const {
  const std::size_t count = static_cast<std::size_t>(part.places.count());
  return buffers_ + static_cast<std::size_t>(part.buffer) * pitch_ +
         count * (field.before + static_cast<std::size_t>(vector) * field.shape.width);
}

std::vector<VectorExchange::Row> VectorExchange::rows(const VectorPart& part) const {
  const std::int64_t count = part.places.count();
  std::vector<Row> rows;
  for (const Field& field : fields_)
    for (int v = 0; v < field.shape.vectors; ++v) {
      const IndexPiece* const piece = part.places.whole();
      const Row row = part.buffer >= 0 ? Row{buffer(part, field, v), field.bytes(count)}
                                       : Row{field.at(piece->space, piece->at, v),
                                             field.bytes(count), space_of(piece->space)};
      if (!rows.empty() && rows.back().base + rows.back().bytes == row.base)
        rows.back().bytes += row.bytes;
      else
        rows.push_back(row);
    }
  return rows;
}

void VectorExchange::pack(const VectorPart& part) {
  if (part.buffer < 0) return;
  for (const Field& field : fields_)
    for (int v = 0; v < field.shape.vectors; ++v) {
      std::byte* to = buffer(part, field, v);
      for (const IndexPiece& piece : part.places.pieces()) {
        const std::byte* const from = field.at(piece.space, piece.at, v);
        if (piece.offsets < 0)
          std::memcpy(to, from, field.bytes(piece.count));
        else
          gather_values(to, from, part.places.offsets(piece), field.shape.width);
        to += field.bytes(piece.count);
      }
    }
}

void VectorExchange::unpack(const VectorPart& part) {
  if (part.buffer < 0) return;
  for (const Field& field : fields_)
    for (int v = 0; v < field.shape.vectors; ++v) {
      const std::byte* from = buffer(part, field, v);
      for (const IndexPiece& piece : part.places.pieces()) {
        std::byte* const to = field.at(piece.space, piece.at, v);
        if (!piece.sets)
          field.combine(to, from, piece.offsets < 0 ? nullptr : part.places.offsets(piece).data(),
                        static_cast<std::size_t>(piece.count), field.components());
        else if (piece.offsets < 0)
          std::memcpy(to, from, field.bytes(piece.count));
        else
          scatter_values(to, from, part.places.offsets(piece), field.shape.width);
        from += field.bytes(piece.count);
      }
    }
}

void VectorExchange::run(const std::vector<LocalMove>& moves) {
  for (const Field& field : fields_)
    for (int v = 0; v < field.shape.vectors; ++v)
      for (const LocalMove& m : moves) {
        std::byte* const to = field.at(m.to.space, m.to.at, v);
        const std::byte* const from = field.at(m.from.space, m.from.at, v);
        if (m.to.sets)
          std::memcpy(to, from, field.bytes(m.count));
        else
          field.combine(to, from, nullptr, static_cast<std::size_t>(m.count), field.components());
      }
}

void VectorExchange::rebind(Shifts shifts) {
  for (const auto& [space, id] :
       {std::pair(ValueSpace::owned, owned_space), std::pair(ValueSpace::ghosts, ghost_space)}) {
    std::ptrdiff_t& shift = shifts_[static_cast<std::size_t>(id) - 1];
    std::byte*& base = fields_.front().base[static_cast<std::size_t>(space)];
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
