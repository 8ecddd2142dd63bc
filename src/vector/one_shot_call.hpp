// SPDX-License-Identifier: BSD-3-Clause
// What a one-shot call on a vector says of its values, read once, and the exchange that moves them.
// A call that says the same of whatever arrays compares it, and then only moves data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/type_marks.hpp"
#include "one_shot/direct_exchange.hpp"
#include "vector/read_call.hpp"
#include "vector/shared_vector.hpp"

namespace tonari {

class VectorOneShotCall {
 public:
  // steps: one for each step of the direction's program, on these streams.
  VectorOneShotCall(SharedVector& vector, const VectorCall& call, VectorValues values,
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
  MarkedTypes types_;
  VectorValues values_;
  std::unique_ptr<SteppedExchange> exchange_;
  ValueWork* work_;                        // of the exchange
  std::vector<DirectMessages> messages_;   // by step
  std::vector<DirectExchange*> direct_;    // the steps
  std::vector<std::ptrdiff_t> distances_;  // of all arrays from the first that were found right
};

}  // namespace tonari
