// SPDX-License-Identifier: BSD-3-Clause
#include "channels/onesided/connect.hpp"

#include <algorithm>

#include "channels/canary_detail.hpp"
#include "memory/available.hpp"

namespace tonari {
namespace {

// The memory that the ranks of a node may take for windows. Windows that several ranks share are
// files, mostly in /dev/shm.
std::uint64_t room_for_windows(const Node& node) {
  const std::uint64_t memory = available_memory();
  return node.ranks().size() == 1 ? memory : std::min({memory, free_in("/dev/shm"), file_limit()});
}

}  // namespace

OneSided::Options window_options(const std::string& detail) {
  OneSided::Options options;
  if (const std::size_t degree = number_after(detail, ready_tree))
    options.ready = OneSided::Ready::tree, options.degree = static_cast<int>(degree);
  options.short_bytes = std::min(canary_of(detail, options.short_bytes), options.staged_bytes);
  return options;
}

// Each takes what the others before it have left.
void connect_windows(std::span<Connecting> plans) {
  for (Connecting& given : plans) {
    OneSided::Options options = window_options(given.detail);
    options.free = room_for_windows(*given.on.node);
    options.node = given.on.node->ranks();
    given.on.agree(std::nullopt);  // from here on the channel agrees in its own way
    try {
      given.link = OneSided::make(given.on.windows(), given.out, given.in, options);
    } catch (const Error& error) {
      if (error.code() != Errc::mpi) throw;
      given.refusal = error.what();
    }
  }
}

}  // namespace tonari
