// SPDX-License-Identifier: BSD-3-Clause
// An exchange of contiguous messages, by persistent requests of the MPI.
#pragma once

#include <memory>
#include <vector>

#include "channels/node.hpp"
#include "engine/wait/polled_exchange.hpp"
#include "request/persistent_messages.hpp"

namespace tonari {

class MpiMessages final : public PolledExchange<MpiMessages> {
 public:
  // node: null where no rank's death is noticed. timeout: seconds after which a rank that waits
  // looks whether the others still live. Throws Errc::mpi.
  MpiMessages(std::shared_ptr<const OwnedComm> comm, std::shared_ptr<const Node> node,
              double timeout, std::vector<MpiMessage> messages);

  void start() override;
  void rebind(std::span<const std::ptrdiff_t>) override {}  // packed messages stay
  bool nothing() const override { return messages_.all().empty(); }
  int messages() const override;
  Bytes bytes() const override;
  std::size_t scratch_bytes() const override { return 0; }
  void awaits(Awaited& awaited) const override;

 private:
  friend PolledExchange<MpiMessages>;
  static constexpr Pause idle_pause = Pause::yield;  // the MPI proceeds in looks
  bool finished() const { return done_; }
  bool advance();
  void check_peers() const;

  std::shared_ptr<const Node> node_;
  PersistentMessages messages_;
  bool done_ = true;
};

}  // namespace tonari
