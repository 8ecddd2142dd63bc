// SPDX-License-Identifier: BSD-3-Clause
// The one-shot calls of a vector in one direction, by streams: no call asks the other ranks
// anything (ADR 20). Those used last are remembered.
#pragma once

#include <memory>
#include <vector>

#include "base/most_recent.hpp"
#include "vector/one_shot_call.hpp"

namespace tonari {

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

}  // namespace tonari
