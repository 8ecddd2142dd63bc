// SPDX-License-Identifier: BSD-3-Clause
#include "vector/value_work.hpp"

#include <cstring>

#include "base/checked.hpp"

namespace tonari {
namespace {

std::size_t bytes_of(std::int64_t indices, const ValueExtent& extent) {
  const auto n = static_cast<std::size_t>(indices);
  return checked_multiply(checked_multiply(n, extent.width, "bytes of values"),
                          static_cast<std::size_t>(extent.vectors), "bytes of values");
}

SpaceId space_of(ValueSpace space) {
  if (space == ValueSpace::scratch) return fixed_space;
  return space == ValueSpace::owned ? ValueWork::owned_space : ValueWork::ghost_space;
}

}  // namespace

ValueWork::ValueWork(std::shared_ptr<const VectorProgram> program,
                     std::span<const ValueField> fields)
    : program_(std::move(program)), received_by_(program_->steps.size()) {
  fields_.reserve(fields.size());
  for (const ValueField& given : fields) {
    Field& field = fields_.emplace_back(Field{given.extent, given.combine, given.combine_move});
    field.before = pitch_;
    field.bind(given.buffers);
    pitch_ = checked_add(pitch_, bytes_of(1, field.extent), "bytes of values");
  }
  if (fields_.size() > 1) pitch_ = round_up(pitch_, alignof(std::max_align_t));
  place_scratch();
}

void ValueWork::place_scratch() {
  std::size_t scratch = 0;
  const auto next = [&](const Field& field) {
    const std::size_t at = scratch;
    scratch =
        checked_add(at, round_up(bytes_of(program_->scratch, field.extent)), "bytes of values");
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

void ValueWork::Field::bind(const ValueBuffers& buffers) {
  base[static_cast<int>(ValueSpace::owned)] = buffers.owned,
  stride[static_cast<int>(ValueSpace::owned)] = buffers.owned_stride;
  base[static_cast<int>(ValueSpace::ghosts)] = buffers.ghosts,
  stride[static_cast<int>(ValueSpace::ghosts)] = buffers.ghost_stride;
}

std::byte* ValueWork::Field::at(ValueSpace space, std::int64_t index, int vector) const {
  const auto s = static_cast<std::size_t>(space);
  return base[s] + static_cast<std::size_t>(vector) * stride[s] +
         static_cast<std::size_t>(index) * extent.width;
}

// A message has the fields one behind the other, and of each its vectors.
std::size_t ValueWork::offset(const VectorPart& part, const Field& field, int vector) {
  return static_cast<std::size_t>(part.places.count()) *
         (field.before + static_cast<std::size_t>(vector) * field.extent.width);
}

Layout ValueWork::bytes_of_message(const VectorPart& part) const {
  Layout bytes;
  const auto add = [&](const std::byte* first, std::size_t count) {
    bytes.add(reinterpret_cast<std::ptrdiff_t>(first), count);
  };
  for (const Field& field : fields_)
    for (int v = 0; v < field.extent.vectors; ++v) {
      if (part.buffer >= 0) {
        add(buffer(part) + offset(part, field, v), field.bytes(part.places.count()));
        continue;
      }
      for (const IndexPiece& piece : part.places.pieces()) {
        if (piece.offsets < 0)
          add(field.at(piece.space, piece.at, v), field.bytes(piece.count));
        else
          for (const std::int32_t offset : part.places.offsets(piece))
            add(field.at(piece.space, piece.at + offset, v), field.extent.width);
      }
    }
  return bytes;
}

SpaceId ValueWork::space_of_message(const VectorPart& part) const {
  return part.buffer >= 0 ? fixed_space : space_of(part.places.pieces().front().space);
}

AbsoluteBlocks ValueWork::side_of(const std::vector<VectorPart>& parts) const {
  AbsoluteBlocks side;
  for (const VectorPart& part : parts) side.add(bytes_of_message(part), space_of_message(part));
  return side;
}

void ValueWork::pack(const VectorPart& part) {
  if (part.buffer < 0) return;
  for (const Field& field : fields_)
    for (int v = 0; v < field.extent.vectors; ++v) {
      std::byte* to = buffer(part) + offset(part, field, v);
      for (const IndexPiece& piece : part.places.pieces()) {
        const std::byte* const from = field.at(piece.space, piece.at, v);
        if (piece.offsets < 0)
          std::memcpy(to, from, field.bytes(piece.count));
        else
          gather_values(to, from, part.places.offsets(piece), field.extent.width);
        to += field.bytes(piece.count);
      }
    }
}

void ValueWork::unpack(const VectorPart& part, const std::byte* message) {
  for (const Field& field : fields_)
    for (int v = 0; v < field.extent.vectors; ++v) {
      const std::byte* from = message + offset(part, field, v);
      for (const IndexPiece& piece : part.places.pieces()) {
        std::byte* const to = field.at(piece.space, piece.at, v);
        if (!piece.sets && piece.offsets < 0)
          field.combine_move({to, from, field.bytes(piece.count), 1, 0, 0});
        else if (!piece.sets)
          field.combine(to, from, part.places.offsets(piece).data(),
                        static_cast<std::size_t>(piece.count), field.components());
        else if (piece.offsets < 0)
          std::memcpy(to, from, field.bytes(piece.count));
        else
          scatter_values(to, from, part.places.offsets(piece), field.extent.width);
        from += field.bytes(piece.count);
      }
    }
}

void ValueWork::run(const std::vector<LocalMove>& moves) {
  if (moves.empty()) return;
  for (const Field& field : fields_)
    for (int v = 0; v < field.extent.vectors; ++v)
      for (const LocalMove& m : moves) {
        const Move move{field.at(m.to.space, m.to.at, v),
                        field.at(m.from.space, m.from.at, v),
                        field.bytes(m.count),
                        static_cast<std::size_t>(m.runs),
                        field.step(m.to_step),
                        field.step(m.from_step)};
        if (m.to.sets)
          run_moves({&move, 1});
        else
          field.combine_move(move);
      }
}

void ValueWork::rebind(Shifts shifts) {
  for (const auto& [space, id] :
       {std::pair(ValueSpace::owned, owned_space), std::pair(ValueSpace::ghosts, ghost_space)}) {
    std::ptrdiff_t& shift = shifts_[static_cast<std::size_t>(id) - 1];
    std::byte*& base = fields_.front().base[static_cast<std::size_t>(space)];
    base = moved(base, shifts[id] - shift);
    shift = shifts[id];
  }
}

void ValueWork::pack(std::size_t step) {
  if (step >= program_->steps.size()) return;
  for (const VectorPart& part : program_->steps[step].send) pack(part);
}

void ValueWork::unpack(std::size_t step) {
  if (step >= program_->steps.size()) return;
  const std::vector<VectorPart>& parts = program_->steps[step].receive;
  for (std::size_t k = 0; k < parts.size(); ++k)
    if (parts[k].buffer >= 0) unpack(parts[k], message(step, k));
}

// Blocks of a step are in the order of its parts.
const std::byte* ValueWork::message(std::size_t step, std::size_t part) const {
  const Prepared* const by = received_by_[step];
  const std::byte* const view = by ? by->exchange->view(by->arrivals[part].number) : nullptr;
  return view ? view : buffer(program_->steps[step].receive[part]);
}

}  // namespace tonari
