// SPDX-License-Identifier: BSD-3-Clause
#include "vector/shared_vector.hpp"

#include <utility>

namespace tonari {

SharedVector::SharedVector(std::shared_ptr<Context> context, const std::string& route,
                           VectorPatterns patterns)
    : context_(std::move(context)), route_(route), patterns_(std::move(patterns)) {
  for (std::size_t d = 0; d < directions; ++d) nears_[d].resize(steps(static_cast<Direction>(d)));
}

std::shared_ptr<const VectorProgram> SharedVector::program(Direction direction,
                                                           Buffering buffering) {
  std::shared_ptr<const VectorProgram>& made =
      programs_[bufferings * static_cast<std::size_t>(direction) +
                static_cast<std::size_t>(buffering)];
  if (!made)
    made = std::make_shared<const VectorProgram>(compile_vector(patterns_, direction, buffering));
  return made;
}

tonari_neighborhood SharedVector::near(Direction direction, std::size_t step) {
  OwnedNeighborhood& near = nears_[static_cast<std::size_t>(direction)][step];
  if (near) return near.get();
  const std::size_t back = direction == Direction::forward ? 0 : pattern_of_sums().stages.size();
  const bool forward = step >= back;
  const std::vector<VectorStage>& values = pattern().stages;
  const VectorStage& stage =
      forward ? values[values.size() - 1 - (step - back)] : pattern_of_sums().stages[step];
  std::vector<int> sources, targets;
  for (const VectorMessage& m : forward ? stage.gets : stage.gives) sources.push_back(m.peer);
  for (const VectorMessage& m : forward ? stage.gives : stage.gets) targets.push_back(m.peer);
  near = make_adjacent(context_->comm(), sources, targets);
  return near.get();
}

}  // namespace tonari
