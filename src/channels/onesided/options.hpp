// SPDX-License-Identifier: BSD-3-Clause
// What a channel of windows does, by the words of its detail.
#pragma once

#include <string>

#include "channels/onesided/link.hpp"

namespace tonari {

// Pure. The memory that it may take is not known here.
OneSided::Options window_options(const std::string& detail);

}  // namespace tonari
