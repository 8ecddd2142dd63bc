// Runs the steps of a program: each is an exchange between neighbors, between copies.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "api/prepared.hpp"
#include "memory/memory.hpp"
#include "vector/combine.hpp"
#include "vector/program.hpp"

namespace tonari {

// The values of an index.
struct ValueShape {
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
  ValueShape shape;
  ValueBuffers buffers;
  Combine combine = nullptr;  // reverse
};

class VectorExchange final : public Exchange {
 public:
  // Allocates.
  VectorExchange(std::shared_ptr<const VectorProgram> program, std::span<const ValueField> fields);
  VectorExchange(const VectorExchange&) = delete;
  VectorExchange& operator=(const VectorExchange&) = delete;

  // What a start may replace, of a request of one field.
  static constexpr SpaceId owned_space = 1, ghost_space = 2;
  // A message's bytes as they are sent or received, in this order.
  struct Row {
    std::byte* base;
    std::size_t bytes;
    SpaceId space = fixed_space;
  };
  std::vector<Row> rows(const VectorPart& part) const;
  const VectorProgram& program() const { return *program_; }
  // For each step of the program, between the places that rows() tells.
  void add_step(std::shared_ptr<Prepared> step) { steps_.push_back(std::move(step)); }
  const std::vector<std::shared_ptr<Prepared>>& steps() const { return steps_; }
  // Only of a program that is not straight, while no exchange runs.
  void use(std::span<const ValueField> fields) {
    for (std::size_t f = 0; f < fields_.size(); ++f) fields_[f].bind(fields[f].buffers);
  }

  void check_start() const override;
  void start() override;
  bool test() override;
  void wait() override;
  Pause pause() const override { return inner().pause(); }
  bool proceeds_by_itself() const override { return false; }
  bool nothing() const override { return false; }
  int messages() const override;
  std::string channel_mix() const override;
  Bytes bytes() const override;
  std::size_t scratch_bytes() const override;
  void give_up() override;
  void rebind(Shifts shifts) override;
  const std::byte* view(std::size_t /*block*/) const override { return nullptr; }

 private:
  struct Field {
    ValueShape shape;
    Combine combine;
    std::array<std::byte*, 3> base{};  // by ValueSpace
    std::array<std::size_t, 3> stride{};
    std::size_t before = 0;  // bytes of the fields in front of it, for each index in a message

    void bind(const ValueBuffers& buffers);
    std::byte* at(ValueSpace space, std::int64_t index, int vector) const;
    std::size_t bytes(std::int64_t count) const {
      return static_cast<std::size_t>(count) * shape.width;
    }
    std::size_t components() const { return static_cast<std::size_t>(shape.components); }
  };
  void place_scratch();
  std::byte* buffer(const VectorPart& part, const Field& field, int vector) const;
  void begin_step();
  void end_step();
  void pack(const VectorPart& part);
  void unpack(const VectorPart& part);
  void run(const std::vector<LocalMove>& moves);
  Exchange& inner() const { return *steps_[step_]->exchange; }

  std::shared_ptr<const VectorProgram> program_;
  std::vector<Field> fields_;
  Memory memory_;  // scratch, then buffers
  std::byte* buffers_ = nullptr;
  std::size_t pitch_ = 0;                   // bytes of an index in buffers
  std::array<std::ptrdiff_t, 2> shifts_{};  // of the program's buffers, from those of init
  std::vector<std::shared_ptr<Prepared>> steps_;
  std::size_t step_ = 0;  // the one that runs; as many as there are: none
};

}  // namespace tonari
