// SPDX-License-Identifier: BSD-3-Clause
// The six operations in a group.
#pragma once

#include <memory>

#include "neighborhood/group.hpp"

namespace tonari {

// Reads the call. Local.
std::unique_ptr<GroupedCall> group_operation(const Call& call);

}  // namespace tonari
