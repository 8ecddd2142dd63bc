// SPDX-License-Identifier: BSD-3-Clause
// One-shot calls on a vector, and what they keep for the calls to come.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "base/most_recent.hpp"
#include "engine/comm/call_record.hpp"
#include "request/kept.hpp"
#include "vector/one_shot_call.hpp"

namespace tonari {

// Those of one direction by streams: no call asks the others anything (ADR 20). Those used last are
// remembered.
class StreamedOneShots {
 public:
  // Collective: connects the streams of all steps.
  StreamedOneShots(SharedVector& vector, Direction direction, WaitPolicy wait);

  // Reads what a call needs, so that it fails on no rank alone. Local.
  void expect(const VectorCall& call) { (void)find(call); }
  // Throws what is wrong here, or at a neighbor in some hop, once the exchange is over. Returns the
  // exchange, until the next call.
  const Exchange& run(const VectorCall& call);

 private:
  VectorOneShotCall& find(const VectorCall& call);
  void refuse(std::size_t first, const Error& why);
  DirectExchange& direct(std::size_t step) const {
    return static_cast<DirectExchange&>(*steps_[step]->exchange);
  }

  SharedVector& vector_;
  std::vector<std::shared_ptr<Streams>> streams_;  // by step
  std::vector<std::shared_ptr<Prepared>> steps_;   // each holds the exchange on these
  MostRecent<std::unique_ptr<VectorOneShotCall>, 8> recent_;
};

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
