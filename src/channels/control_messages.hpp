// SPDX-License-Identifier: BSD-3-Clause
// Messages between ranks while something is made. All of them are known, with their memory, before
// the first is sent. They travel between copies: if a rank has died, the exchange is given up by
// Errc::peer, and the MPI may still know where its messages lie.
#pragma once

#include <mpi.h>

#include <cstring>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "channels/abandon.hpp"
#include "channels/control_tags.hpp"
#include "memory/memory.hpp"
#include "mpi/collective.hpp"
#include "mpi/mpi_error.hpp"

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
    std::size_t bytes = 0;
    for (const Message& m : messages_) bytes += static_cast<std::size_t>(m.bytes);
    copies_ = Memory(bytes);
    agree();
    run();
    for_copies([](const Message& m, const std::byte* copy) {
      if (!m.sends && m.bytes > 0) std::memcpy(m.data, copy, static_cast<std::size_t>(m.bytes));
    });
  }

 private:
  struct Message {
    std::byte* data;
    int bytes, peer;
    bool sends;
  };
  static int size(std::size_t bytes) { return checked_cast<int>(bytes, "bytes of a message"); }
  template <class Visit>
  void for_copies(Visit visit) {
    std::byte* copy = copies_.data();
    for (const Message& m : messages_) visit(m, copy), copy += m.bytes;
  }
  void start(const Message& m, std::byte* copy) {
    MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
    if (m.sends) {
      if (m.bytes > 0) std::memcpy(copy, m.data, static_cast<std::size_t>(m.bytes));
      check_mpi(MPI_Isend(copy, m.bytes, MPI_BYTE, m.peer, tag_, comm_, &request), "MPI_Isend");
    } else {
      check_mpi(MPI_Irecv(copy, m.bytes, MPI_BYTE, m.peer, tag_, comm_, &request), "MPI_Irecv");
      ++receives_;
    }
  }
  // Receives are started first.
  void run() {
    try {
      for (bool sends : {false, true})
        for_copies([&](const Message& m, std::byte* copy) {
          if (m.sends == sends) start(m, copy);
        });
      for (MPI_Request& request : requests_) complete_call(comm_, request, IfOneDies::give_up);
    } catch (...) {
      if (abandon(requests_, [&](std::size_t k) { return k >= receives_; })) copies_.leak();
      throw;
    }
  }

  MPI_Comm comm_;
  ControlTag tag_;
  std::vector<Message> messages_;
  std::vector<MPI_Request> requests_;
  Memory copies_;  // of all messages, one after the other
  std::size_t receives_ = 0;
};

}  // namespace tonari
