// SPDX-License-Identifier: BSD-3-Clause
// The data that the rows of channels get to do their part of a request (select/channel.hpp).
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "channels/link.hpp"
#include "channels/node.hpp"
#include "channels/onesided/window.hpp"
#include "channels/p2p/program.hpp"

namespace tonari {

// For Channel::compile.
struct Compiling {
  const Plan& plan;
  const Binding& binding;
  const Arguments& arguments;
  const std::string& detail;
  Packing packing;  // which messages have edges
};

// The communicator on which ranks connect something, and how they agree there.
struct ConnectComm {
  MPI_Comm comm;
  std::int32_t rank;
  std::shared_ptr<const Node> node;
  bool reads_memory;  // on all nodes, ranks can read each other's
  // Collective: throws on all ranks an error that one of them brings. Without an error it keeps
  // ranks together: a step that begins with it may fail on one rank alone before it, but not after.
  std::function<void(const std::optional<Error>&)> agree;
  std::function<Windows&()> windows;  // collective
};

// Collective: whether all ranks have come so far with the memory that they need; if not, `refusal`
// says why, and on which rank. Descriptors and whatever else the system may lack count as memory
// (Errc::memory). Anything else is an error, thrown on all ranks.
inline bool all_have_memory(const ConnectComm& on, const std::optional<Error>& mine,
                            std::string& refusal) {
  try {
    on.agree(mine);
    return true;
  } catch (const Error& error) {
    if (error.code() != Errc::memory) throw;
    refusal = error.what();
    return false;
  }
}

// For Channel::connect: the messages of one plan, and what has become of them.
struct Connecting {
  const ConnectComm& on;
  const std::string& detail;
  bool views;                            // receive blocks are read where they arrive
  std::vector<EdgeMessage> in, out;      // of this rank
  std::shared_ptr<Link> link = nullptr;  // null: they are not connected
  std::string refusal = {};              // why, the same on all ranks
};

}  // namespace tonari
