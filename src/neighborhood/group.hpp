// SPDX-License-Identifier: BSD-3-Clause
// Groups: calls that would make requests are collected, and become one exchange with one message
// from rank to rank.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "copy/moves.hpp"
#include "neighborhood/inner_call.hpp"
#include "request/stepped_exchange.hpp"

namespace tonari {

// What goes to other ranks, or comes from them, in one step: a block for each, in the order in
// which the sender has those for one rank. Ranks are those of the call's communicator.
struct GroupSide {
  std::vector<int> peers;
  AbsoluteBlocks blocks;
};

// Bytes at absolute addresses.
struct TouchedBytes {
  Layout read, written;  // without a byte in common
};

// A call that a group has collected. What one rank can check was checked when it was made.
class GroupedCall {
 public:
  GroupedCall() = default;
  virtual ~GroupedCall() = default;
  GroupedCall(const GroupedCall&) = delete;
  GroupedCall& operator=(const GroupedCall&) = delete;

  virtual std::string name() const = 0;  // the same on all ranks
  virtual Context& context() const = 0;
  // Collective: compares with the other ranks what must be the same, and then gets ready for what
  // is asked below. Throws the same on all ranks.
  virtual void agree_and_prepare() = 0;
  virtual std::size_t steps() const = 0;  // the same on all ranks
  virtual GroupSide sent(std::size_t step) = 0;
  virtual GroupSide received(std::size_t step) = 0;
  virtual TouchedBytes touched() const = 0;
  // These are asked last. What it exchanges by itself, beside the blocks of the group.
  virtual std::shared_ptr<Prepared> beside() { return nullptr; }
  virtual std::unique_ptr<LocalWork> work() { return nullptr; }
};

// One of the six operations, read. Local.
std::unique_ptr<GroupedCall> group_operation(const Call& call);

// What a thread collects from tonari_group_start to tonari_group_end.
class Group {
 public:
  static Group* current();  // that of this thread; null if none is open

  explicit Group(MPI_Comm comm) : comm_(comm) {}
  MPI_Comm comm() const { return comm_; }
  const std::vector<std::unique_ptr<GroupedCall>>& calls() const { return calls_; }
  const std::optional<Error>& wrong() const { return wrong_; }

  // Keeps what read() returns, or what it throws: the end tells all ranks. Returns the result of
  // the call that is collected.
  template <class Read>
  int add(tonari_request* request, Read read) {
    if (request) *request = TONARI_REQUEST_NULL;
    note(error_of([&] {
      throw_refusal();
      calls_.push_back(read());
    }));
    ++made_;
    return TONARI_SUCCESS;
  }
  void note(const std::optional<Error>& wrong);  // the first counts

 private:
  MPI_Comm comm_;
  std::vector<std::unique_ptr<GroupedCall>> calls_;
  std::size_t made_ = 0;
  std::optional<Error> wrong_;
};

// A call makes a request, or the group of this thread collects it. held() returns a GroupedCall.
template <class Prepare, class Held>
int init_or_collect(tonari_request* request, Prepare prepare, Held held) {
  if (Group* const group = Group::current()) return group->add(request, held);
  return init_request(request, prepare);
}

// For calls in a group, whose keys come at its end.
inline void require_no_keys(MPI_Info info) {
  if (info != MPI_INFO_NULL)
    fail(Errc::argument,
         "`info` is not MPI_INFO_NULL; in a group, give the keys to tonari_group_end");
}

}  // namespace tonari
