// SPDX-License-Identifier: BSD-3-Clause
// What a one-shot call on a neighborhood says whatever its buffers are, read once and remembered. A
// call that says the same compares it, and then only moves data.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "memory/gpu_memory.hpp"
#include "neighborhood/known_side.hpp"
#include "neighborhood/staged_call.hpp"
#include "one_shot/direct_messages.hpp"
#include "one_shot/hop_messages.hpp"
#include "one_shot/hop_table.hpp"
#include "request/prepared.hpp"

namespace tonari {

struct OneShotCall : std::enable_shared_from_this<OneShotCall> {
  // What one side says, and the bytes from its buffer between which its blocks lie.
  struct Side : KnownSide {
    Side() = default;
    // Throws Errc::mpi.
    Side(const BufferArguments& given, std::size_t blocks, const std::vector<Block>& read);

    std::ptrdiff_t low = 0, high = 0;
    bool has_bytes = false;
    bool on_gpu = false;  // the buffer is

    bool same(const BufferArguments& given) const {
      return tonari::on_gpu(given.buffer) == on_gpu && KnownSide::same(given);
    }
  };

  // What this rank has read of the call. Throws Errc::mpi.
  OneShotCall(const Call& call, const LocalTopology& topology, const Binding& read);

  bool same(const Call& call) const {
    return call.collective == collective && send.same(call.send) && recv.same(call.recv);
  }
  // Whether the buffers are where blocks may be. If not, the arguments must be read again.
  bool fits(const Call& call) const;
  void remember(const Call& call);  // these were read, and are right

  Collective collective;
  Side send, recv;
  // From send to receive buffer, where the two sides mingle without a common byte.
  std::array<std::uintptr_t, 4> distances{};
  std::size_t known_distances = 0;
  const HopTable::Row* row = nullptr;  // how such calls combine; null: they do not
  DirectMessages direct;
  std::optional<HopMessages> hops;     // where they combine
  std::shared_ptr<StagedCall> staged;  // null: the host reads all blocks
  std::vector<Arrival> arrivals;       // for the receive buffer at `base`
  const void* base;
};

}  // namespace tonari
