// SPDX-License-Identifier: BSD-3-Clause
// Prepares exchanges in place for calls.
#pragma once

#include "in_place/read_call.hpp"
#include "neighborhood/request.hpp"

namespace tonari {

// Collective over the call's communicator. output: for the request. For use once nothing is
// measured or recalled.
std::shared_ptr<Prepared> prepare_in_place(const InPlaceCall& call, Use use, Output output);

}  // namespace tonari
