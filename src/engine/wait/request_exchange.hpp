// SPDX-License-Identifier: BSD-3-Clause
// Exchanges that are one request of the MPI's: its own collectives.
#pragma once

#include <mpi.h>

#include <memory>
#include <utility>
#include <vector>

#include "engine/wait/polled_exchange.hpp"

namespace tonari {

// The class derived from it starts request_, and then sets active_.
class RequestExchange : public PolledExchange<RequestExchange> {
 public:
  // Collectives can be neither canceled nor freed while they are active.
  ~RequestExchange() override {
    if (!active_ && request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }

  // By testing, as in PlanExchange.
  void wait() override {
    wait_by([this] { return advance(); });
  }
  std::size_t scratch_bytes() const override { return 0; }
  void awaits(Awaited& awaited) const override {
    awaited.note("for messages of these ranks, of which the MPI does not tell which are missing");
    for (const std::int32_t rank : partners_)
      awaited.add(Awaited::What::entering, node_.get(), rank);
  }

 protected:
  // partners: ranks without which it cannot be complete.
  RequestExchange(std::shared_ptr<const OwnedComm> comm, std::shared_ptr<const Node> node,
                  std::vector<std::int32_t> partners, double timeout)
      : PolledExchange(std::move(comm), {.look_after = timeout}),
        node_(std::move(node)),
        partners_(std::move(partners)) {}

  MPI_Request request_ = MPI_REQUEST_NULL;
  bool active_ = false;

 private:
  friend PolledExchange;
  static constexpr Pause idle_pause = Pause::yield;
  bool finished() const { return !active_; }
  bool advance() {
    active_ = !is_complete(request_);
    return !active_;
  }
  void progress() const {}  // each look does it
  void check_peers() const {
    for (const std::int32_t rank : partners_) check_alive(node_.get(), rank);
  }

  std::shared_ptr<const Node> node_;
  std::vector<std::int32_t> partners_;
};

}  // namespace tonari
