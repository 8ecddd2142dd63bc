// SPDX-License-Identifier: BSD-3-Clause
#include "vector/shared_vector.hpp"

#include <utility>

namespace tonari {

SharedVector::SharedVector(std::shared_ptr<Context> context, const std::string& route,
                           VectorPattern pattern)
    : context_(std::move(context)), route_(route), pattern_(std::move(pattern)) {
  for (std::size_t d = 0; d < directions; ++d) nears_[d].resize(steps(static_cast<Direction>(d)));
}

std::shared_ptr<const VectorProgram> SharedVector::program(Direction direction,
                                                           Buffering buffering) {
  std::shared_ptr<const VectorProgram>& made =
      programs_[bufferings * static_cast<std::size_t>(direction) +
                static_cast<std::size_t>(buffering)];
  if (!made)
    made = std::make_shared<const VectorProgram>(compile_vector(pattern_, direction, buffering));
  return made;
}

tonari_neighborhood SharedVector::near(Direction direction, std::size_t step) {
  OwnedNeighborhood& near = nears_[static_cast<std::size_t>(direction)][step];
  if (near) return near.get();
  const std::size_t stages = pattern_.stages.size();
  const bool forward = direction == Direction::forward || step >= stages;
  const VectorStage& stage = pattern_.stages[forward ? stages - 1 - step % stages : step];
  std::vector<int> sources, targets;
  for (const VectorMessage& m : forward ? stage.gets : stage.gives) sources.push_back(m.peer);
  for (const VectorMessage& m : forward ? stage.gives : stage.gets) targets.push_back(m.peer);
  near = make_adjacent(context_->comm(), sources, targets);
  return near.get();
}

}  // namespace tonari
