// Windows of MPI, one after the other for as many users as come: making one is collective and dear, freeing one is collective even where its users end in
// different orders on different ranks, or when nothing collective is left. So nobody frees: a window that its users have left is offered to the next user,
// and taken where all ranks offer it. What is left is freed by MPI_Finalize, which calls back for the attributes of MPI_COMM_SELF while everything still works;
// there all ranks free in the order in which they made, which waits for nobody for ever, as making in that order did not.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "channels/owned_comm.hpp"

namespace tonari {

// Open for access to all ranks (MPI_Win_lock_all) from its making to its end.
struct Window {
  MPI_Win win = MPI_WIN_NULL;  // null again once it was freed
  std::byte* base = nullptr;
  std::size_t bytes = 0;
  bool unified = false;        // MPI_WIN_UNIFIED, on all ranks
  bool in_use = false;         // on this rank
  // Of which it was made. MPICH 4.0.2 knows a window by the number of its communicator, and gives the number of one that is freed to the next: messages for one
  // window then reach another.
  std::shared_ptr<const OwnedComm> comm = nullptr;
};

class Windows {
 public:
  // Collective; duplicates comm.
  explicit Windows(MPI_Comm comm);

  MPI_Comm comm() const { return comm_->get(); }  // for those that make the same things in the same order on all ranks; nothing else uses it

  // Collective: memory of at least so many bytes here (it may differ between ranks), all zero. Other ranks may access it once they have had a message that this
  // rank sent after the call. Given back, without any communication, when the last copy of the pointer goes. Throws the same error on all ranks.
  std::shared_ptr<Window> take(std::size_t bytes);

  // Collective: frees the windows that no rank uses.
  void trim();
  std::size_t count() const { return all_.size(); }

  // Windows in this process that are not freed.
  static std::size_t alive();

 private:
  std::vector<std::uint64_t> common(std::size_t bytes) const;

  std::shared_ptr<const OwnedComm> comm_;
  std::vector<std::shared_ptr<Window>> all_;  // the same on all ranks
};

// The windows of all that is made on one communicator of the program, which are made when the first is asked for: what outlives one neighbourhood is there for
// the next one.
int drop_pool(MPI_Comm, int, void* value, void*);  // an attribute's delete function

class WindowPool {
 public:
  // Not collective: kept as an attribute of comm, as long as that or a user lives.
  static std::shared_ptr<WindowPool> of(MPI_Comm comm);

  Windows& windows(MPI_Comm comm);  // collective; comm: of the same ranks
  bool attached() const { return attached_; }  // the program has not freed the communicator
  bool empty() const { return !windows_ || windows_->count() == 0; }  // the same on all ranks
  void trim() { windows_->trim(); }  // collective; not empty

 private:
  friend int drop_pool(MPI_Comm, int, void* value, void*);
  std::unique_ptr<Windows> windows_;
  bool attached_ = true;
};

// Collective: throws on all ranks if `reason` is not empty on one: Errc::mpi, the reason of the lowest such rank.
void fail_together(MPI_Comm comm, const std::string& reason);

}  // namespace tonari
