// SPDX-License-Identifier: BSD-3-Clause
// Messages between two ranks that measure, while the others wait for them. All memory is there
// before they begin: the other one would wait for a rank that fails. Calls are started and tested,
// as those of all ranks are (mpi/collective.hpp): if one has died, they throw Errc::peer.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <span>

#include "channels/abandon.hpp"
#include "channels/control_tags.hpp"
#include "memory/in_mpi.hpp"
#include "memory/memory.hpp"
#include "mpi/collective.hpp"
#include "mpi/mpi_error.hpp"

namespace tonari {

class Partner {
 public:
  static constexpr std::size_t most_messages = 32;  // under way at a time

  Partner(MPI_Comm comm, int rank, std::size_t bytes) : comm_(comm), rank_(rank), memory_(bytes) {}

  // Messages lie here.
  std::byte* data() const { return memory_.data(); }

  void start_send(const std::byte* at, int count, MPI_Datatype type, ControlTag tag) {
    MPI_Request& request = next(true);
    check_mpi(MPI_Isend(at, count, type, rank_, tag, comm_, &request), "MPI_Isend");
  }
  void start_recv(std::byte* at, int count, MPI_Datatype type, ControlTag tag) {
    MPI_Request& request = next(false);
    check_mpi(MPI_Irecv(at, count, type, rank_, tag, comm_, &request), "MPI_Irecv");
  }
  void send(const std::byte* at, int count, MPI_Datatype type, ControlTag tag) {
    start_send(at, count, type, tag);
    complete_last();
  }
  void recv(std::byte* at, int count, MPI_Datatype type, ControlTag tag) {
    start_recv(at, count, type, tag);
    complete_last();
  }
  // Of those under way, the one that was started last.
  bool test_last() { return is_complete(requests_[under_way_ - 1]); }
  // Looks once at what is under way; whether nothing is any more.
  bool complete_soon() {
    while (under_way_ > 0 && test_last()) --under_way_;
    return under_way_ == 0;
  }
  // For some time it only looks, so that what is measured is the MPI.
  void complete_last(int most_looks = usual_looks) {
    MPI_Request& request = requests_[under_way_ - 1];
    try {
      for (int looks = 0; request != MPI_REQUEST_NULL && looks < most_looks; ++looks) test_last();
      if (request != MPI_REQUEST_NULL) complete_call(comm_, request, IfOneDies::give_up);
    } catch (...) {
      give_up();
      throw;
    }
    --under_way_;
  }
  void complete() {
    while (under_way_ > 0) complete_last();
  }

 private:
  static constexpr int usual_looks = 2000;

  MPI_Request& next(bool sends) {
    sends_[under_way_] = sends;
    return requests_[under_way_++] = MPI_REQUEST_NULL;
  }
  // The MPI may still know where messages lie.
  void give_up() {
    if (abandon(std::span(requests_).first(under_way_), [&](std::size_t k) { return sends_[k]; }))
      memory_.leak();
    under_way_ = 0;
  }

  MPI_Comm comm_;
  int rank_;
  Memory memory_;
  std::array<MPI_Request, most_messages> requests_;
  std::array<bool, most_messages> sends_;
  std::size_t under_way_ = 0;
};

}  // namespace tonari
