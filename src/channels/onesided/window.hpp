// SPDX-License-Identifier: BSD-3-Clause
// MPI windows that one user takes after another. Making one is collective and expensive. Freeing
// one is collective even where users end in different orders, or when nothing collective is left.
// So nobody frees: a window that its users have left is offered to the next user, and taken where
// all ranks offer it. MPI_Finalize frees the rest: it calls back for the attributes of
// MPI_COMM_SELF while everything still works. There all ranks free in the same order. It cannot be
// the order in which they made them: with several threads, two ranks may make two windows in
// different orders.
// several threads, two windows may be made in one order here and in another there.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "mpi/owned_comm.hpp"

namespace tonari {

// Open for access to all ranks (MPI_Win_lock_all) from its making to its end.
struct Window {
  MPI_Win win = MPI_WIN_NULL;  // null again once it was freed
  std::byte* base = nullptr;
  std::size_t bytes = 0;
  bool unified = false;  // MPI_WIN_UNIFIED, on all ranks
  bool in_use = false;   // on this rank
  // The same on all ranks, and different for every window: the process of the lowest rank, and a
  // number that counts there.
  std::array<std::uint64_t, 2> order = {};
  // The communicator that it was made of. MPICH 4.0.2 knows a window by the number of its
  // communicator, and reuses that of a freed one: messages for one window then reach another.
  std::shared_ptr<const OwnedComm> comm = nullptr;
};

class Windows {
 public:
  // `comm` returns its errors. Windows are made of it, and their users may send messages with
  // control tags on it.
  explicit Windows(std::shared_ptr<const OwnedComm> comm) : comm_(std::move(comm)) {}

  MPI_Comm comm() const { return comm_->get(); }

  // Collective: memory of at least this many bytes here (it may differ between ranks), all zero.
  // Other ranks may access it once they have a message that this rank sent after the call. The last
  // copy of the pointer gives it back without any communication. Throws the same error on all
  // ranks.
  std::shared_ptr<Window> take(std::size_t bytes);

  // Collective: frees the windows that no rank uses. Needs no memory.
  void trim();
  std::size_t count() const { return all_.size(); }

  // The windows of this process that are not freed.
  static std::size_t alive();

 private:
  std::uint64_t common(std::size_t first, std::size_t bytes) const;
  std::shared_ptr<Window> make(std::size_t bytes);

  std::shared_ptr<const OwnedComm> comm_;
  std::vector<std::shared_ptr<Window>> all_;  // the same on all ranks
};

// Collective: throws Errc::mpi on all ranks if there is an error on one, with the sentence of the
// lowest such rank. Every collective step here begins with it, as those of the engine begin with
// agree().
void fail_together(MPI_Comm comm, const std::optional<Error>& error);

}  // namespace tonari
