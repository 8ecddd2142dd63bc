// SPDX-License-Identifier: BSD-3-Clause
// Exchanges in which a rank knows whom it sends to, and nobody knows who sends to it. Every rank
// knows when it has all that was sent to it, and whether any rank has failed, by one agreement. The
// methods are in files of their own: pairwise.cpp, consensus.cpp (nbx), census.hpp (personalized)
// and sparse_hops.cpp (store-and-forward).
//
// Short messages for one rank travel together, and come before it is known how many there are. Of a
// long one only the length does. When all lengths are known, and all ranks have agreed that they
// have the memory, long ones are received in their final place. That second agreement is left out
// where the memory was there before: each rank keeps as much as any can have got in the last
// exchange, if that is not much.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>

#include "engine/comm/family_objects.hpp"
#include "mpi/owned_comm.hpp"
#include "planners/graphs/bsp_comm.hpp"
#include "sparse/superstep.hpp"

namespace tonari {

// Runs the supersteps of exchanges, one exchange at a time.
class SparseExchange final : public FamilyObject {
 public:
  // Local. comm: not owned; its messages have the sparse tags (channels/control_tags.hpp). pairs:
  // between all ranks if they are at most most_pairwise; otherwise null.
  SparseExchange(MPI_Comm comm, std::unique_ptr<PairMessages> pairs,
                 const SparseLimits& limits = {});

  // What automatic means now, the same on all ranks: it takes the last exchange as an example.
  SparseMethod fastest(bool forwards = true) const;

  // Exchanges take turns, in the order in which they began: as they are collective, that is the
  // same on all ranks.
  Queue& turns() { return turns_; }

  // Collective, in turn; does not block. Short messages travel, and it is found out what is to come
  // and whether all ranks call alike. task, result: live until the exchange is over; result is
  // empty. Throws Errc::peer if an earlier exchange failed in the middle.
  void open(const SparseTask& task, SparseResult& result);
  // When that has finished: which of `alike` are so on all ranks. Where methods are not, the
  // exchange is over.
  const std::array<bool, 2>& same() const { return state_.same; }
  // Collective: the rest. bsp: for store-and-forward, which waits for the other ranks in here.
  void complete(BspComm* bsp);

  // Of either part. advance() looks once, and tells whether anything moved; wait() drives exchanges
  // in flight. Both throw on all ranks the error of one; then the exchange is over.
  bool finished() const { return !now_; }
  bool advance();
  void wait();
  Pause pause() const;

  // From now on messages and agreements go over this one, where nobody else has collective calls:
  // exchanges that do not block are in them whenever they are tested. Between exchanges.
  void move_to(std::shared_ptr<const OwnedComm> apart);
  bool apart() const { return apart_ != nullptr; }
  // This rank does not go on with an exchange: later ones fail.
  void give_up();
  bool given_up() const { return given_up_; }

 private:
  void load();
  SparseLoad room() const;
  void run(Superstep* first, Superstep* then);
  void look_until_all();
  void next();

  std::shared_ptr<const OwnedComm> apart_;
  SparseState state_;
  std::unique_ptr<Superstep> pairwise_;  // null: there are too many ranks
  std::unique_ptr<Superstep> consensus_, long_transfers_;
  Superstep *now_ = nullptr, *then_ = nullptr;
  Queue turns_;
  bool given_up_ = false;
};

}  // namespace tonari
