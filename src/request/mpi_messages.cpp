// SPDX-License-Identifier: BSD-3-Clause
#include "request/mpi_messages.hpp"

#include <algorithm>
#include <utility>

#include "mpi/mpi_usable.hpp"

namespace tonari {

MpiMessages::MpiMessages(std::shared_ptr<const OwnedComm> comm, std::shared_ptr<const Node> node,
                         double timeout, std::vector<MpiMessage> messages)
    : PolledExchange(std::move(comm), {true, timeout}),
      node_(std::move(node)),
      messages_(std::move(messages)),
      requests_(messages_.size(), MPI_REQUEST_NULL) {
  for (std::size_t k = 0; k < messages_.size(); ++k) {
    const MpiMessage& m = messages_[k];
    if (m.send)
      check_mpi(MPI_Send_init(m.at, m.bytes, MPI_BYTE, m.peer, m.tag, comm_->get(), &requests_[k]),
                "MPI_Send_init");
    else
      check_mpi(MPI_Recv_init(m.at, m.bytes, MPI_BYTE, m.peer, m.tag, comm_->get(), &requests_[k]),
                "MPI_Recv_init");
  }
}

MpiMessages::~MpiMessages() {
  if (!mpi_usable()) return;
  for (MPI_Request& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

void MpiMessages::start() {
  done_ = requests_.empty();
  if (done_) return;
  call_mpi("MPI_Startall",
           [&] { return MPI_Startall(static_cast<int>(requests_.size()), requests_.data()); });
}

bool MpiMessages::advance() {
  int complete = 0;
  call_mpi("MPI_Testall", [&] {
    return MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &complete,
                       MPI_STATUSES_IGNORE);
  });
  return done_ = complete != 0;
}

void MpiMessages::check_peers() const {
  for (const MpiMessage& m : messages_) check_alive(node_.get(), m.peer);
}

int MpiMessages::messages() const {
  return static_cast<int>(std::ranges::count_if(messages_, &MpiMessage::send));
}

Bytes MpiMessages::bytes() const {
  Bytes all = 0;
  for (const MpiMessage& m : messages_)
    if (m.send) all += static_cast<Bytes>(m.bytes);
  return all;
}

void MpiMessages::awaits(Awaited& awaited) const {
  awaited.in(call_);
  if (done_) return;
  for (const MpiMessage& m : messages_)
    awaited.add(m.send ? Awaited::What::taking : Awaited::What::message, node_.get(), m.peer, 0,
                static_cast<Bytes>(m.bytes));
}

}  // namespace tonari
