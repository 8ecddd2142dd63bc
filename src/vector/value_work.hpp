// SPDX-License-Identifier: BSD-3-Clause
// Runs a program on values: gathers them before the steps of an exchange, and puts them where they
// belong afterwards.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "cells/combine.hpp"
#include "memory/memory.hpp"
#include "neighborhood/inner_call.hpp"
#include "one_shot/streamed_exchange.hpp"
#include "request/stepped_exchange.hpp"
#include "vector/program.hpp"

namespace tonari {

// The values of an index.
struct ValueExtent {
  std::size_t width = 8;  // bytes of all components
  int components = 1, vectors = 1;
};

// The program's buffers. Bytes: of the values of one vector. Strides: from one to the next.
struct ValueBuffers {
  std::byte *owned = nullptr, *ghosts = nullptr;
  std::size_t owned_stride = 0, ghost_stride = 0;
};

// One of the fields that an exchange takes along.
struct ValueField {
  ValueExtent extent;
  ValueBuffers buffers;
  Combine combine = nullptr;  // reverse
  CombineMove combine_move = nullptr;
};

class ValueWork final : public LocalWork {
 public:
  // Allocates.
  ValueWork(std::shared_ptr<const VectorProgram> program, std::span<const ValueField> fields);

  // What a start may replace, of a request of one field.
  static constexpr SpaceId owned_space = 1, ghost_space = 2;
  // A message's bytes as they are sent or received, at absolute addresses, and the space that these
  // lie in.
  Layout bytes_of_message(const VectorPart& part) const;
  SpaceId space_of_message(const VectorPart& part) const;
  // Where spaces lie now, if there is one field; of several fields, its own memory alone.
  Spaces spaces() const {
    return {memory_.data(), fields_[0].base[static_cast<int>(ValueSpace::owned)],
            fields_[0].base[static_cast<int>(ValueSpace::ghosts)]};
  }
  std::size_t steps() const { return program_->steps.size(); }
  const VectorStep& step(std::size_t k) const { return program_->steps[k]; }
  // What is sent and received in a step, in the order of its parts. Throws Errc::overflow.
  AbsoluteBlocks sent(std::size_t k) const { return side_of(step(k).send); }
  AbsoluteBlocks received(std::size_t k) const { return side_of(step(k).receive); }
  // From now on what is received in a step is read where it arrives, if `exchange` leaves it there.
  void read_from(std::size_t step, const Prepared& exchange) { received_by_[step] = &exchange; }
  // While no exchange runs. Only if the steps are not bound to the arrays, or are bound anew.
  void use(std::span<const ValueField> fields) {
    for (std::size_t f = 0; f < fields_.size(); ++f) fields_[f].bind(fields[f].buffers);
  }

  void begin() override { run(program_->first); }
  void pack(std::size_t step) override;
  void meanwhile() override { run(program_->meanwhile); }
  void unpack(std::size_t step) override;
  void end() override { run(program_->last); }
  void rebind(Shifts shifts) override;
  std::size_t scratch_bytes() const override { return memory_.bytes(); }

 private:
  struct Field {
    ValueExtent extent;
    Combine combine;
    CombineMove combine_move;
    std::array<std::byte*, 3> base{};  // by ValueSpace
    std::array<std::size_t, 3> stride{};
    std::size_t before = 0;  // bytes of the fields in front of it, for each index in a message

    void bind(const ValueBuffers& buffers);
    std::byte* at(ValueSpace space, std::int64_t index, int vector) const;
    std::size_t bytes(std::int64_t count) const {
      return static_cast<std::size_t>(count) * extent.width;
    }
    std::ptrdiff_t step(std::int64_t indices) const {
      return indices * static_cast<std::ptrdiff_t>(extent.width);
    }
    std::size_t components() const { return static_cast<std::size_t>(extent.components); }
  };
  AbsoluteBlocks side_of(const std::vector<VectorPart>& parts) const;
  void place_scratch();
  // Of a part's message: where it lies, and in it a vector of a field.
  std::byte* buffer(const VectorPart& part) const {
    return buffers_ + static_cast<std::size_t>(part.buffer) * pitch_;
  }
  static std::size_t offset(const VectorPart& part, const Field& field, int vector);
  void pack(const VectorPart& part);
  void unpack(const VectorPart& part, const std::byte* message);
  const std::byte* message(std::size_t step, std::size_t part) const;
  void run(const std::vector<LocalMove>& moves);

  std::shared_ptr<const VectorProgram> program_;
  std::vector<Field> fields_;
  Memory memory_;  // scratch, then buffers
  std::byte* buffers_ = nullptr;
  std::vector<const Prepared*> received_by_;  // of each step; null: received into buffers
  std::size_t pitch_ = 0;                     // bytes of an index in buffers
  std::array<std::ptrdiff_t, 2> shifts_{};    // of the program's buffers, from those of init
};

}  // namespace tonari
