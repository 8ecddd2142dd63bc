// SPDX-License-Identifier: BSD-3-Clause
// The promises that a program makes with the info key cdag_exact_byte_communications (Hoefler 2012,
// §II-B), and what is prepared for them at once.
#pragma once

#include "channels/arguments.hpp"
#include "engine/comm/context.hpp"
#include "engine/comm/read_topology.hpp"
#include "engine/tune/selector.hpp"

namespace tonari {

// Throws Errc::argument if weights are missing or negative. Local.
void check_weights(const TopologyLists& lists, int rank);

// Collective. Compares the weights at both ends of every edge, plans both collectives with these
// sizes and chooses for one-shot calls, which remember it. Requests then only bind buffers.
// `context` has no promised sizes so far, and `lists` has weights.
void promise_exact_sizes(Context& context, RememberedChoices& choices, const TopologyLists& lists);

// Throws Errc::promise, naming rank, block and both sizes, if this rank's blocks do not have the
// promised lengths. Local.
void check_exact_sizes(Context& context, Collective collective, const Binding& binding);

}  // namespace tonari
