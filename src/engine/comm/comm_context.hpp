// SPDX-License-Identifier: BSD-3-Clause
// Contexts of communicators, for exchanges between all their ranks.
#pragma once

#include <memory>

#include "engine/comm/context.hpp"

namespace tonari {

// Those on one communicator of the program share this, as long as one of them lives.
// Local.
std::shared_ptr<Context> context_on(const std::shared_ptr<SharedComm>& shared);

}  // namespace tonari
