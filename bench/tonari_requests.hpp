// SPDX-License-Identifier: BSD-3-Clause
// Making tonari's requests for a workload.
#pragma once

#include <memory>
#include <string>

#include "candidate.hpp"
#include "keys.hpp"

namespace bench {

tonari_neighborhood make_neighborhood(const Place& place);
tonari_request make_request(const Workload& work, tonari_neighborhood near, const Keys& keys);
tonari_request make_request(const Workload& work, BufferPair buffers, tonari_neighborhood near,
                            MPI_Info info);

// name: auto, one-shot, an algorithm, algorithm/channel, tonari-native, tonari-irecv. It may end in
// /view (blocks are read where they arrived), or in a use of several_buffers.hpp.
std::unique_ptr<Candidate> make_tonari(const std::string& name, const Workload& work,
                                       tonari_neighborhood near, const std::string& tune);

}  // namespace bench
