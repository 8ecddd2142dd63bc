// SPDX-License-Identifier: BSD-3-Clause
// Prepares exchanges for calls.
#pragma once

#include "neighborhood/agree_on_call.hpp"
#include "request/request_record.hpp"

namespace tonari {

// Collective. Where `output` for the request is missing, all ranks learn of it. This serves calls
// whose request is used once: it may be one that an earlier call prepared, and nothing is measured.
// With promises, a call that breaks one is an error (Errc::promise) on all ranks. contenders: that
// starts choose from at most.
std::shared_ptr<Prepared> prepare(const Call& call, Use use, Output output,
                                  ReadsBlocks reads = ReadsBlocks::in_buffer,
                                  std::size_t contenders = Race::most_candidates);

// Gives the program a handle of it. This needs no memory: a prepared exchange comes with a handle.
tonari_request request_of(std::shared_ptr<Prepared> prepared);

// The three forms of a call, from arguments to the function's result. prepare(output) returns what
// is prepared for the call.
template <class Prepare>
int init_request(tonari_request* request, Prepare prepare) {
  return guarded([&] {
    *request = request_of(recorded(prepare(Output{request, "request"}), CalledBy::request));
  });
}
template <class Prepare>
int start_one_shot(tonari_request* request, Prepare prepare) {
  return guarded([&] {
    std::shared_ptr<Prepared> prepared =
        recorded(prepare(Output{request, "request"}), CalledBy::one_shot);
    prepared->start();
    *request = request_of(std::move(prepared));
    (*request)->active = (*request)->one_shot = true;
  });
}
inline void run_to_end(Prepared& prepared) {
  prepared.start();
  prepared.wait();
}
template <class Prepare>
int run_one_shot(Prepare prepare) {
  return guarded([&] {
    const std::shared_ptr<Prepared> prepared = recorded(prepare(inside), CalledBy::one_shot);
    run_to_end(*prepared);
  });
}

}  // namespace tonari
