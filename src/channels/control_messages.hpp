// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks while something is made. All of them are known, with their memory, before
// the first is sent.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "base/checked.hpp"
#include "channels/control_tags.hpp"
#include "channels/mpi_error.hpp"

namespace tonari {

class ControlMessages {
 public:
  ControlMessages(MPI_Comm comm, ControlTag tag) : comm_(comm), tag_(tag) {}

  // The words must stay where they are until the exchange is over.
  template <class Words>
  void send(const Words& words, int peer) {
    const auto bytes = std::as_bytes(std::span(words));
    messages_.push_back({const_cast<std::byte*>(bytes.data()), size(bytes.size()), peer, true});
  }
  template <class Words>
  void recv(Words&& words, int peer) {
    const auto bytes = std::as_writable_bytes(std::span(words));
    messages_.push_back({bytes.data(), size(bytes.size()), peer, false});
  }

  // Collective. `agree` is called when nothing can fail any more on one rank alone.
  template <class Agree>
  void exchange(Agree agree) {
    requests_.reserve(messages_.size());
    agree();
    for (bool sends : {false, true})
      for (const Message& m : messages_)
        if (m.sends == sends) start(m);
    check_mpi(
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
  }

 private:
  struct Message {
    std::byte* data;
    int bytes, peer;
    bool sends;
  };
  static int size(std::size_t bytes) { return checked_cast<int>(bytes, "bytes of a message"); }
  void start(const Message& m) {
    MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
    if (m.sends)
      check_mpi(MPI_Isend(m.data, m.bytes, MPI_BYTE, m.peer, tag_, comm_, &request), "MPI_Isend");
    else
      check_mpi(MPI_Irecv(m.data, m.bytes, MPI_BYTE, m.peer, tag_, comm_, &request), "MPI_Irecv");
  }

  MPI_Comm comm_;
  ControlTag tag_;
  std::vector<Message> messages_;
  std::vector<MPI_Request> requests_;
};

}  // namespace tonari
