// SPDX-License-Identifier: BSD-3-Clause
// A vector of the program: which ranks exchange which values, and the neighborhoods that its
// exchanges run on.
#pragma once

#include <mpi.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "api/inner_call.hpp"
#include "api/kept_exchanges.hpp"
#include "engine/call_record.hpp"
#include "vector/lists.hpp"
#include "vector/program.hpp"

namespace tonari {

class SingleCalls;

class SharedVector {
 public:
  // Collective. `pattern` was discovered on the context's communicator.
  SharedVector(std::shared_ptr<Context> context, const std::string& route, VectorPattern pattern);
  ~SharedVector();
  SharedVector(const SharedVector&) = delete;
  SharedVector& operator=(const SharedVector&) = delete;

  Context& context() const { return *context_; }
  const std::shared_ptr<Context>& shared_context() const { return context_; }
  const std::string& route() const { return route_; }
  const VectorPattern& pattern() const { return pattern_; }
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
    return pattern_.stages.size() * (direction == Direction::combine ? 2 : 1);
  }

  // Single calls for which nothing is forced; made by the first of a direction.
  std::unique_ptr<SingleCalls>& single_calls(Direction direction) {
    return single_calls_[static_cast<std::size_t>(direction)];
  }
  KeptExchanges& kept() { return kept_; }
  // Of single calls; made by the first of a direction, if there is a report.
  std::unique_ptr<CallRecord>& record(Direction direction) {
    return records_[static_cast<std::size_t>(direction)];
  }

 private:
  std::shared_ptr<Context> context_;
  std::string route_;
  VectorPattern pattern_;
  static constexpr std::size_t directions = 3;
  std::array<std::shared_ptr<const VectorProgram>, directions * bufferings> programs_;
  std::optional<Error> wrong_forward_;
  std::array<std::vector<OwnedNeighborhood>, directions> nears_;       // by direction
  std::array<std::unique_ptr<SingleCalls>, directions> single_calls_;  // by direction
  KeptExchanges kept_;
  std::array<std::unique_ptr<CallRecord>, directions> records_;  // by direction
};

// What values are called once they have consecutive indices: own ones have the range `own`, in the
// order of their list, and needed ones have `needed`.
struct Renumbering {
  OwnedRange own{0, 0};
  std::vector<std::int64_t> needed;
};
// Collective: what tonari_vector_renumber says.
Renumbering renumber(MPI_Comm comm, const VectorLists& lists, Output output);

// Collective: what tonari_vector_create and its sisters say. wrong: what this rank cannot do it
// for; here, where all ranks learn of it.
std::unique_ptr<SharedVector> make_vector(MPI_Comm comm, const VectorLists& lists, MPI_Info info,
                                          Output output, const std::optional<Error>& wrong);

}  // namespace tonari
