// SPDX-License-Identifier: BSD-3-Clause
// What all sparse exchanges on one communicator share.
#pragma once

#include <memory>

#include "engine/comm/shared_comm.hpp"
#include "sparse/pair_messages.hpp"
#include "sparse/sparse_exchange.hpp"

namespace tonari {

// Collective at the first call for a communicator, and the same object from then on. It lives as
// long as `shared`. Throws the same on all ranks.
SparseExchange& sparse_exchange_of(SharedComm& shared);

// Collective: messages between any two ranks. Throws on each rank what is wrong there.
std::unique_ptr<PairMessages> connect_pairs(SharedComm& shared);

}  // namespace tonari
