// SPDX-License-Identifier: BSD-3-Clause
// One-shot calls on a vector, and what they keep for the calls to come.
#pragma once

#include <array>
#include <memory>

#include "engine/comm/call_record.hpp"
#include "request/kept.hpp"
#include "vector/call.hpp"
#include "vector/shared_vector.hpp"
#include "vector/streamed_one_shots.hpp"

namespace tonari {

// Of one vector, which lives longer.
class VectorOneShots {
 public:
  // Collective: runs a call to its end.
  void run(SharedVector& vector, const VectorCall& call);

 private:
  const Exchange& run_unrecorded(SharedVector& vector, const VectorCall& call);
  const Exchange& run_agreed(SharedVector& vector, const VectorCall& call);
  CallRecord* record_of(const SharedVector& vector, Direction direction) noexcept;

  // By streams, unless something is forced; made by the first call of a direction.
  std::array<std::unique_ptr<StreamedOneShots>, SharedVector::directions> streamed_;
  KeptCalls kept_;
  // Made by the first call of a direction, if there is a report.
  std::array<std::unique_ptr<CallRecord>, SharedVector::directions> records_;
};

}  // namespace tonari
