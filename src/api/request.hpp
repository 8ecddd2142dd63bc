// Prepares exchanges for calls.
#pragma once

#include "api/agree_on_arguments.hpp"
#include "api/call.hpp"
#include "api/handles.hpp"

namespace tonari {

enum class Use { persistent, once };

// Collective. output: for the request; where it is missing, all ranks learn of it. For use once it
// may be one that an earlier call prepared, and nothing is measured. On a neighborhood with
// promises a call that breaks one is an error (Errc::promise) on all ranks.
std::shared_ptr<Prepared> prepare(tonari_neighborhood near, const Call& call, Use use,
                                  MPI_Info info, Output output);

// A handle of it for the program. Needs no memory: what was prepared comes with one.
tonari_request request_of(std::shared_ptr<Prepared> prepared);

// Collective where the neighborhood has not seen such a problem yet. Measures nothing.
const Choice& remembered_choice(tonari_neighborhood near, const Problem& problem,
                                const Settings& settings);

// The three forms of a call, from arguments to what the function returns. prepare(output): what is
// prepared for the call.
template <class Prepare>
int init_request(tonari_request* request, Prepare prepare) {
  return guarded([&] { *request = request_of(prepare(Output{request, "request"})); });
}
template <class Prepare>
int start_once(tonari_request* request, Prepare prepare) {
  return guarded([&] {
    std::shared_ptr<Prepared> prepared = prepare(Output{request, "request"});
    prepared->start();
    *request = request_of(std::move(prepared));
    (*request)->active = (*request)->once = true;
  });
}
template <class Prepare>
int run_once(Prepare prepare) {
  return guarded([&] {
    const std::shared_ptr<Prepared> prepared = prepare(inside);
    prepared->start();
    prepared->wait();
  });
}

}  // namespace tonari
