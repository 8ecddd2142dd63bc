// Runs the steps of a program: each is an exchange between neighbors, between copies.
#pragma once

#include <array>
#include <memory>
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
  std::size_t owned_bytes = 0, ghost_bytes = 0;
  std::size_t owned_stride = 0, ghost_stride = 0;
};

class VectorExchange final : public Exchange {
 public:
  // Allocates. combine: null for forward exchanges.
  VectorExchange(std::shared_ptr<const VectorProgram> program, ValueShape shape,
                 const ValueBuffers& buffers, Combine combine);
  VectorExchange(const VectorExchange&) = delete;
  VectorExchange& operator=(const VectorExchange&) = delete;

  // What a start may replace.
  static constexpr SpaceId owned_space = 1, ghost_space = 2;
  // A message's bytes as they are sent or received: `vectors` rows of row_bytes, `stride` apart.
  struct Rows {
    std::byte* base;
    std::size_t row_bytes, stride;
    SpaceId space = fixed_space;
  };
  Rows rows(const VectorPart& part) const;
  const VectorProgram& program() const { return *program_; }
  const ValueShape& shape() const { return shape_; }
  // For each step of the program, between the places that rows() tells.
  void add_step(std::shared_ptr<Prepared> step) { steps_.push_back(std::move(step)); }
  const std::vector<std::shared_ptr<Prepared>>& steps() const { return steps_; }
  // Only of a program that is not straight, while no exchange runs.
  void use(const ValueBuffers& buffers) { bind(buffers); }

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
  void bind(const ValueBuffers& buffers);
  std::byte* at(ValueSpace space, std::int64_t index, int vector) const;
  std::byte* buffer(const VectorPart& part, int vector) const;
  void begin_step();
  void end_step();
  void pack(const VectorPart& part);
  void unpack(const VectorPart& part);
  void run(const std::vector<LocalMove>& moves);
  Exchange& inner() const { return *steps_[step_]->exchange; }

  std::shared_ptr<const VectorProgram> program_;
  ValueShape shape_;
  Combine combine_;
  Memory memory_;  // scratch, then buffers
  std::byte* buffers_ = nullptr;
  std::array<std::byte*, 3> base_{};  // by ValueSpace
  std::array<std::size_t, 3> stride_{};
  std::array<std::ptrdiff_t, 2> shifts_{};  // of the program's buffers, from those of init
  std::vector<std::shared_ptr<Prepared>> steps_;
  std::size_t step_ = 0;  // the one that runs; as many as there are: none
};

}  // namespace tonari
