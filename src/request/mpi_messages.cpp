// SPDX-License-Identifier: BSD-3-Clause
#include "request/mpi_messages.hpp"

#include <algorithm>
#include <utility>

namespace tonari {

MpiMessages::MpiMessages(std::shared_ptr<const OwnedComm> comm, std::shared_ptr<const Node> node,
                         double timeout, std::vector<MpiMessage> messages)
    : PolledExchange(std::move(comm), {true, timeout}),
      node_(std::move(node)),
      messages_(comm_->get(), std::move(messages)) {}

void MpiMessages::start() {
  done_ = nothing();
  if (!done_) messages_.start();
}

bool MpiMessages::advance() { return done_ = messages_.complete(); }

void MpiMessages::check_peers() const {
  for (const MpiMessage& m : messages_.all()) check_alive(node_.get(), m.peer);
}

int MpiMessages::messages() const {
  return static_cast<int>(std::ranges::count_if(messages_.all(), &MpiMessage::send));
}

Bytes MpiMessages::bytes() const {
  Bytes all = 0;
  for (const MpiMessage& m : messages_.all())
    if (m.send) all += static_cast<Bytes>(m.bytes);
  return all;
}

void MpiMessages::awaits(Awaited& awaited) const {
  awaited.in(call_);
  if (done_) return;
  for (const MpiMessage& m : messages_.all())
    awaited.add(m.send ? Awaited::What::taking : Awaited::What::message, node_.get(), m.peer, 0,
                static_cast<Bytes>(m.bytes));
}

}  // namespace tonari
