// SPDX-License-Identifier: BSD-3-Clause
// Builds exchanges in place on which ranks have agreed.
#pragma once

#include "in_place/agree_on_call.hpp"

namespace tonari {

// Collective. start: the time of the call. Exchanges of symmetric one-shot calls are kept for the
// calls to come.
std::shared_ptr<Prepared> build_symmetric(const InPlaceCall& call, Use use, double start,
                                          AgreedInPlace& agreed);
std::shared_ptr<Prepared> build_general(double start, AgreedInPlace& agreed);

}  // namespace tonari
