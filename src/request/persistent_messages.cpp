// SPDX-License-Identifier: BSD-3-Clause
#include "request/persistent_messages.hpp"

#include <utility>

#include "mpi/mpi_error.hpp"
#include "mpi/mpi_usable.hpp"

namespace tonari {

PersistentMessages::PersistentMessages(MPI_Comm comm, std::vector<MpiMessage> messages)
    : messages_(std::move(messages)), requests_(messages_.size(), MPI_REQUEST_NULL) {
  try {
    for (std::size_t k = 0; k < messages_.size(); ++k) init(comm, messages_[k], requests_[k]);
  } catch (...) {
    free();
    throw;
  }
}

void PersistentMessages::init(MPI_Comm comm, const MpiMessage& m, MPI_Request& request) {
  if (m.send)
    check_mpi(MPI_Send_init(m.at, m.bytes, MPI_BYTE, m.peer, m.tag, comm, &request),
              "MPI_Send_init");
  else
    check_mpi(MPI_Recv_init(m.at, m.bytes, MPI_BYTE, m.peer, m.tag, comm, &request),
              "MPI_Recv_init");
}

PersistentMessages::~PersistentMessages() { free(); }

void PersistentMessages::free() {
  if (!mpi_usable()) return;
  for (MPI_Request& request : requests_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

void PersistentMessages::start() {
  if (requests_.empty()) return;
  call_mpi("MPI_Startall",
           [&] { return MPI_Startall(static_cast<int>(requests_.size()), requests_.data()); });
}

bool PersistentMessages::complete() {
  int complete = 1;
  if (requests_.empty()) return true;
  call_mpi("MPI_Testall", [&] {
    return MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &complete,
                       MPI_STATUSES_IGNORE);
  });
  return complete != 0;
}

void PersistentMessages::give(std::vector<MPI_Request>& requests, std::vector<bool>& sends) {
  for (std::size_t k = 0; k < requests_.size(); ++k) {
    requests.push_back(requests_[k]), sends.push_back(messages_[k].send);
    requests_[k] = MPI_REQUEST_NULL;
  }
}

}  // namespace tonari
