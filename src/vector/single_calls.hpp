// SPDX-License-Identifier: BSD-3-Clause
// Single calls on a vector, by streams: no call asks the other ranks anything (ADR 20). What a call
// says of its values is read once and remembered; a call that comes again, with whatever arrays,
// compares it, and then only moves data.
#pragma once

#include <memory>
#include <vector>

#include "channels/type_marks.hpp"
#include "engine/direct_exchange.hpp"
#include "vector/read_values.hpp"
#include "vector/value_work.hpp"

namespace tonari {

class SharedVector;

// Values of one kind, and the exchange that moves them.
class SingleCall {
 public:
  // steps: one for each step of the direction's program, on these streams.
  SingleCall(SharedVector& vector, const VectorCall& call, VectorValues values,
             const std::vector<std::shared_ptr<Prepared>>& steps,
             const std::vector<std::shared_ptr<Streams>>& streams);

  // Equal numbers and equal types.
  bool same(const VectorCall& call);
  // Makes the exchange one of the call's arrays. Throws what read_values does.
  void bind(const VectorPattern& pattern, const VectorCall& call);
  SteppedExchange& exchange() { return *exchange_; }

 private:
  bool apart(const VectorPattern& pattern, const VectorCall& call) const;
  bool as_before(const VectorCall& call) const;
  void remember(const VectorCall& call);

  MPI_Op op_;
  std::vector<tonari_vector_values> given_;  // of the program's fields
  std::vector<NamedType> marked_;            // types among them that can be freed
  std::uint64_t freed_;                      // marked_types_freed when they were last compared
  VectorValues values_;
  std::unique_ptr<SteppedExchange> exchange_;
  ValueWork* work_;                        // of the exchange
  std::vector<DirectShape> shapes_;        // by step
  std::vector<DirectExchange*> direct_;    // the steps
  std::vector<std::ptrdiff_t> distances_;  // of all arrays from the first that were found right
};

// Those of one direction.
class SingleCalls {
 public:
  // Collective: connects the streams of all steps.
  SingleCalls(SharedVector& vector, Direction direction, WaitPolicy wait);

  // Reads what a call needs, so that it fails on no rank alone. Local.
  void expect(const VectorCall& call) { (void)find(call); }
  // Throws what is wrong here, or at a neighbor in some hop, once the exchange is over. Returns the
  // exchange, until the next call.
  const Exchange& run(const VectorCall& call);

 private:
  static constexpr std::size_t most_kept = 8;

  SingleCall& find(const VectorCall& call);
  void refuse(std::size_t first, const Error& why);
  DirectExchange& direct(std::size_t step) const {
    return static_cast<DirectExchange&>(*steps_[step]->exchange);
  }

  SharedVector& vector_;
  std::vector<std::shared_ptr<Streams>> streams_;  // by step
  std::vector<std::shared_ptr<Prepared>> steps_;   // each holds the exchange on these
  std::vector<std::unique_ptr<SingleCall>> kept_;  // those used last come first
};

}  // namespace tonari
