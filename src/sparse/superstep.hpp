// SPDX-License-Identifier: BSD-3-Clause
// A sparse exchange is a few supersteps, which all ranks take in the same order. Here is what they
// share; what one of them needs besides lies in its own file.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/wait/agree.hpp"
#include "sparse/pair_messages.hpp"
#include "sparse/sparse_message.hpp"
#include "sparse/sparse_method.hpp"
#include "sparse/sparse_result.hpp"

namespace tonari {

struct SparseLimits {           // bytes; the same on all ranks
  Bytes little = 64 << 10;      // for which memory is there at first
  Bytes kept = 4 << 20;         // for which memory is kept, if the last exchange was as large
  Bytes short_most = 16 << 10;  // of a short message
  Bytes piece = 64 << 10;       // of short messages that travel together; fits a short one
  Bytes part = 1 << 30;         // of a long message
};

// What a rank brings to an exchange.
struct SparseTask {
  std::optional<Error> error;  // this rank cannot take part
  SparseMethod method;
  std::span<const SparseMessage> messages;  // must live until the exchange is complete
  std::array<Ballot, 2> alike;              // what ranks compare on the way
};

struct SparseLoad {
  Bytes bytes = 0;  // and some for each message
  std::uint64_t messages = 1;
};

struct SparseState {
  // visit(messages) for each other rank to which any go, ascending.
  template <class Visit>
  void each_receiver(Visit visit) const {
    for (auto next = order.begin(); next != order.end();) {
      const auto other = [&](const SparseMessage* m) { return m->to != (*next)->to; };
      const auto end = std::find_if(next, order.end(), other);
      if ((*next)->to != rank) visit(std::span(next, end));
      next = end;
    }
  }

  MPI_Comm comm;
  const std::unique_ptr<PairMessages> pairs;  // null: there are too many ranks
  const SparseLimits limits;
  const int rank, ranks;
  const MessagePacking packing{limits.short_most};
  // Of the exchange that is under way.
  const SparseTask* task = nullptr;
  SparseResult* result = nullptr;
  SparseMethod::Kind method{};  // automatic: this rank sends nothing but its state
  std::optional<Error> error{};
  std::vector<const SparseMessage*> order{};  // by receiver
  Bytes weight = 0;                           // of what this rank sends, as in SparseLoad
  SparseLoad reserved{};                      // what any rank may receive without an agreement
  SparseInbox inbox{};
  // What all have agreed on; the load is that of the rank that sends most.
  std::array<bool, 2> same{};
  SparseLoad load{};
};

class Superstep {
 public:
  enum class Seen : std::uint8_t { nothing, some, all };

  virtual ~Superstep() = default;
  // Local, before the first superstep of an exchange. Makes ready what this one needs.
  virtual void load() {}
  // Collective, and does not block.
  virtual void start() = 0;
  virtual Seen look() = 0;
  // After all was seen. Throws on all ranks the error of one; false: the exchange does not go on.
  virtual bool finish() { return true; }
  // What it waits for, if that is more than requests of the MPI.
  virtual Exchange* exchange() { return nullptr; }
};

// Each rank tells each other one what they agree on, and messages by `pairwise` (pairwise.cpp).
std::unique_ptr<Superstep> make_pairwise(SparseState& state);
// Messages by `nbx` and `personalized`, and an agreement (consensus.cpp).
std::unique_ptr<Superstep> make_consensus(SparseState& state);
// Long messages, whose lengths are known (long_transfers.cpp).
std::unique_ptr<Superstep> make_long_transfers(SparseState& state);
// Messages by `store-and-forward`, also long ones (sparse_hops.cpp). Waits for other ranks in here.
void forward_by_hops(BspComm& bsp, SparseState& state);

}  // namespace tonari
