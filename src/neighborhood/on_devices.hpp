// SPDX-License-Identifier: BSD-3-Clause
// Requests whose blocks all lie on devices go from device to device: within a node by handles, else
// by an MPI that takes memory of devices. Many bytes are staged in pieces. Where the program asks
// for measuring, the fastest way is taken.
#pragma once

#include <string>

#include "neighborhood/make_request.hpp"

namespace tonari {

// Collective, together; only where some rank has blocks on a device. Returns an empty string if
// `made` is such a request, or one that is staged because that was the fastest. Otherwise returns
// why there is none, as the end of a sentence, the same on all ranks. Throws Errc::argument with
// that on all ranks if the program asked for nothing else.
// `start`, and blocks of `mine`: as for make_request.
std::string make_on_devices(const Call& call, double start, const Problem& problem,
                            LocalArguments& mine, Made& made);

}  // namespace tonari
