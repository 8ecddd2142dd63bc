// SPDX-License-Identifier: BSD-3-Clause
// The streams of a neighborhood, made for its one-shot calls.
#pragma once

#include <memory>

#include "channels/streams/link.hpp"
#include "engine/comm/context.hpp"

namespace tonari {

// Connects the streams of a context's neighborhood. It is collective, together on the communicator;
// the caller takes stream_tags tags of that once all ranks have them.
std::shared_ptr<Streams> connect_streams(Context& context);

// Makes streams that go by MPI alone. No rank waits for another. But all must make them, and know
// that all have, before the first exchange and Streams::tell_numbers. Their tags must be there.
std::shared_ptr<Streams> streams_by_mpi(Context& context);

// Throws what keeps this process from exchanging by streams. owner: "neighborhood", whose they are.
void check_usable(const Streams& streams, const char* owner);

}  // namespace tonari
