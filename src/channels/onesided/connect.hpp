// SPDX-License-Identifier: BSD-3-Clause
// Connects messages through windows, as the words of a channel's detail ask for.
#pragma once

#include <span>
#include <string>

#include "channels/connect.hpp"
#include "channels/onesided/link.hpp"

namespace tonari {

// Receivers tell a sender by a tree of this degree that they are ready; otherwise each tells it.
inline constexpr const char* ready_tree = "ready tree of ";

// Pure. The memory that it may take is not known here.
OneSided::Options window_options(const std::string& detail);

// For Channel::connect. If no window can be made, or memory is too small, the channel is not used.
void connect_windows(std::span<Connecting> plans);

}  // namespace tonari
