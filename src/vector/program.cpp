// SPDX-License-Identifier: BSD-3-Clause
#include "vector/program.hpp"

#include <algorithm>

namespace tonari {
namespace {

constexpr std::int64_t nowhere = -1;

bool alike(const ValuePlace& a, const ValuePlace& b) {
  return a.space == b.space && a.sets == b.sets;
}

// From the last of so many places to another one.
std::int64_t step_to(const ValuePlace& next, const ValuePlace& first, std::int64_t runs,
                     std::int64_t step) {
  return next.at - (first.at + (runs - 1) * step);
}

// The last move becomes a run of the one before, if it is as far from that one's last run as these
// are from each other.
void join_runs(std::vector<LocalMove>& moves) {
  if (moves.size() < 2) return;
  const LocalMove last = moves.back();
  LocalMove& before = moves[moves.size() - 2];
  if (last.count != before.count || last.runs > 1 || !alike(last.from, before.from) ||
      !alike(last.to, before.to))
    return;
  const std::int64_t from_step = step_to(last.from, before.from, before.runs, before.from_step),
                     to_step = step_to(last.to, before.to, before.runs, before.to_step);
  if (before.runs > 1 && (from_step != before.from_step || to_step != before.to_step)) return;
  before.from_step = from_step, before.to_step = to_step, ++before.runs;
  moves.pop_back();
}

void add(std::vector<LocalMove>& moves, ValuePlace from, ValuePlace to) {
  if (!moves.empty()) {
    LocalMove& before = moves.back();
    const auto goes_on = [&](const ValuePlace& a, const ValuePlace& b) {
      return alike(a, b) && b.at == a.at + before.count;
    };
    if (before.runs == 1 && goes_on(before.from, from) && goes_on(before.to, to))
      return void(++before.count);
    join_runs(moves);
  }
  moves.push_back({from, to, 1});
}

// What both directions have in common.
class Compiler {
 public:
  Compiler(const VectorPattern& pattern, Buffering buffering)
      : pattern_(pattern),
        straight_(buffering == Buffering::straight),
        in_place_(buffering == Buffering::in_place),
        home_(static_cast<std::size_t>(pattern.slots), ValuePlace{ValueSpace::scratch, nowhere}) {}

 protected:
  ValuePlace& home(ValueCode code) { return home_[static_cast<std::size_t>(~code)]; }
  ValuePlace place(ValueCode code) {
    return code >= 0 ? ValuePlace{ValueSpace::owned, code} : home(code);
  }
  ValuePlace new_place() { return {ValueSpace::scratch, program_.scratch++}; }
  ValuePlace ghost(std::size_t need) const {
    return {ValueSpace::ghosts, pattern_.ghost_place(need)};
  }
  bool all_in_scratch() const { return in_place_ && pattern_.stages.size() > 1; }
  // Between values of this rank; `then` is when the last of them may change.
  void move_here(ValuePlace from, ValuePlace to, std::vector<LocalMove>& then) {
    if (!in_place_) return add(program_.meanwhile, from, to);
    const ValuePlace between = new_place();
    add(program_.first, from, between);
    add(then, between, to);
  }

  // combined: it cannot be received where it belongs.
  VectorPart part(std::int32_t peer, const std::vector<ValuePlace>& places, bool combined) {
    VectorPart made{peer, IndexList(places)};
    const std::optional<ValueSpace> space = made.places.regular();
    if (space && !combined && (straight_ || *space == ValueSpace::scratch)) return made;
    made.buffer = program_.buffers;
    program_.buffers += made.places.count();
    return made;
  }
  VectorPart part(const VectorMessage& message) {
    std::vector<ValuePlace> places;
    places.reserve(message.values.size());
    for (const ValueCode code : message.values) places.push_back(place(code));
    return part(message.peer, places, false);
  }

  const VectorPattern& pattern_;
  const bool straight_, in_place_;
  std::vector<ValuePlace> home_;  // of slots
  VectorProgram program_;
};

class Forward : Compiler {
 public:
  using Compiler::Compiler;
  VectorProgram compile() {
    for (std::size_t k = 0; k < pattern_.needs.size(); ++k) {
      const ValueCode code = pattern_.needs[k];
      const ValuePlace here = ghost(k);
      if (code >= 0) {
        move_here(place(code), here, program_.last);
        continue;
      }
      const bool known = home(code).at != nowhere;
      if (!known) home(code) = all_in_scratch() ? new_place() : here;
      if (known || all_in_scratch()) add(program_.last, home(code), here);
    }
    for (std::int64_t s = pattern_.ghosts; s < pattern_.slots; ++s) home(~s) = new_place();
    for (auto stage = pattern_.stages.rbegin(); stage != pattern_.stages.rend(); ++stage) {
      VectorStep& step = program_.steps.emplace_back();
      for (const VectorMessage& m : stage->gives) step.send.push_back(part(m));
      for (const VectorMessage& m : stage->gets) step.receive.push_back(part(m));
    }
    return std::move(program_);
  }
};

class Reverse : Compiler {
 public:
  using Compiler::Compiler;
  VectorProgram compile() {
    find_homes();
    for (std::size_t k = 0; k < pattern_.needs.size(); ++k) {
      const ValuePlace from = ghost(k);
      const ValueCode code = pattern_.needs[k];
      if (code >= 0)
        move_here(from, {ValueSpace::owned, code, false}, program_.meanwhile);
      else if (home(code).space == ValueSpace::scratch)
        add(program_.first, from, arriving(code));
    }
    for (const VectorStage& stage : pattern_.stages) {
      VectorStep& step = program_.steps.emplace_back();
      for (const VectorMessage& m : stage.gets) step.send.push_back(part(m));
      for (const VectorMessage& m : stage.gives) step.receive.push_back(arrival(m));
    }
    return std::move(program_);
  }

 private:
  void find_homes() {
    // where in needs the only contribution is
    std::vector<std::int64_t> only(home_.size(), nowhere);
    for (std::size_t k = 0; k < pattern_.needs.size(); ++k)
      if (const ValueCode code = pattern_.needs[k]; code < 0)
        add_contribution(only[static_cast<std::size_t>(~code)], static_cast<std::int64_t>(k));
    for (const VectorStage& stage : pattern_.stages)
      for (const VectorMessage& m : stage.gives)
        for (const ValueCode code : m.values)
          if (code < 0) only[static_cast<std::size_t>(~code)] = several;
    for (std::size_t s = 0; s < home_.size(); ++s)
      home_[s] = only[s] >= 0 && !all_in_scratch() ? ghost(static_cast<std::size_t>(only[s]))
                                                   : new_place();
    set_.assign(home_.size(), false);
  }
  static void add_contribution(std::int64_t& only, std::int64_t k) {
    only = only == nowhere ? k : several;
  }

  // Contributions come here in the order in which they are combined.
  ValuePlace arriving(ValueCode code) {
    ValuePlace to = place(code);
    to.sets = code < 0 && !set_[static_cast<std::size_t>(~code)];
    if (code < 0) set_[static_cast<std::size_t>(~code)] = true;
    return to;
  }
  VectorPart arrival(const VectorMessage& message) {
    std::vector<ValuePlace> places;
    places.reserve(message.values.size());
    for (const ValueCode code : message.values) places.push_back(arriving(code));
    return part(message.peer, places, true);
  }

  static constexpr std::int64_t several = -2;
  std::vector<bool> set_;  // of slots: whether there is a contribution already
};

void append(auto& list, auto&& more) { list.insert(list.end(), more.begin(), more.end()); }

// Both use the same scratch and the same buffers, one after the other. A rank gives values of its
// own in the second only if it gets sums for them in the first, so what the first does meanwhile is
// done by then.
VectorProgram one_after_the_other(VectorProgram program, const VectorProgram& next) {
  append(program.steps, next.steps);
  for (const auto* moves : {&next.first, &next.meanwhile, &next.last}) append(program.last, *moves);
  program.scratch = std::max(program.scratch, next.scratch);
  program.buffers = std::max(program.buffers, next.buffers);
  return program;
}

}  // namespace

VectorProgram compile_vector(const VectorPatterns& patterns, Direction direction,
                             Buffering buffering) {
  if (direction == Direction::forward) return Forward(patterns.values, buffering).compile();
  VectorProgram reverse = Reverse(patterns.of_sums(), buffering).compile();
  if (direction == Direction::reverse) return reverse;
  return one_after_the_other(std::move(reverse), Forward(patterns.values, buffering).compile());
}

}  // namespace tonari
