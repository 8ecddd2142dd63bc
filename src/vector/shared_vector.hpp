// SPDX-License-Identifier: BSD-3-Clause
// A vector of the program: which ranks exchange which values, and the neighborhoods that its
// exchanges run on.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neighborhood/inner_call.hpp"
#include "vector/program.hpp"

namespace tonari {

class SharedVector {
 public:
  static constexpr std::size_t directions = 3;

  // Collective. The patterns were discovered on the context's communicator.
  SharedVector(std::shared_ptr<Context> context, const std::string& route, VectorPatterns patterns);
  SharedVector(const SharedVector&) = delete;
  SharedVector& operator=(const SharedVector&) = delete;

  Context& context() const { return *context_; }
  const std::shared_ptr<Context>& shared_context() const { return context_; }
  const std::string& route() const { return route_; }
  // Of values; what it says of places is true of sums, too.
  const VectorPattern& pattern() const { return patterns_.values; }
  const VectorPattern& pattern_of_sums() const { return patterns_.of_sums(); }
  // Throws Errc::argument where the program's places do not allow it.
  void check_direction(Direction direction) const {
    if (direction != Direction::reverse && wrong_forward_) throw *wrong_forward_;
  }
  void forbid_forward(Error why) { wrong_forward_ = std::move(why); }

  // Both return what the first call makes. Local.
  std::shared_ptr<const VectorProgram> program(Direction direction, Buffering buffering);
  // Collective: of a step of the direction's programs.
  tonari_neighborhood near(Direction direction, std::size_t step);
  std::size_t steps(Direction direction) const {
    return (direction == Direction::reverse ? 0 : pattern().stages.size()) +
           (direction == Direction::forward ? 0 : pattern_of_sums().stages.size());
  }

 private:
  std::shared_ptr<Context> context_;
  std::string route_;
  VectorPatterns patterns_;
  std::array<std::shared_ptr<const VectorProgram>, directions * bufferings> programs_;
  std::optional<Error> wrong_forward_;
  std::array<std::vector<OwnedNeighborhood>, directions> nears_;  // by direction
};

}  // namespace tonari
