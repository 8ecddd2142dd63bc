// SPDX-License-Identifier: BSD-3-Clause
// Exchanges that are one request of the MPI's: its own collectives.
#pragma once

#include <mpi.h>

#include <memory>
#include <utility>

#include "engine/polled_exchange.hpp"

namespace tonari {

// The class derived from it starts request_, and then sets active_.
class RequestExchange : public PolledExchange<RequestExchange> {
 public:
  // Collectives can be neither canceled nor freed while they are active.
  ~RequestExchange() override {
    if (!active_ && request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }
  RequestExchange(const RequestExchange&) = delete;
  RequestExchange& operator=(const RequestExchange&) = delete;

  void wait() override {
    check_mpi(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
    active_ = false;
  }
  std::size_t scratch_bytes() const override { return 0; }

 protected:
  explicit RequestExchange(std::shared_ptr<const OwnedComm> comm)
      : PolledExchange(std::move(comm), {}) {}

  MPI_Request request_ = MPI_REQUEST_NULL;
  bool active_ = false;

 private:
  friend PolledExchange;
  static constexpr Pause idle_pause = Pause::yield;
  bool finished() const { return !active_; }
  bool advance() {
    int flag = 0;
    check_mpi(MPI_Test(&request_, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    active_ = !flag;
    return flag;
  }
  void progress() const {}  // each look does it
};

}  // namespace tonari
