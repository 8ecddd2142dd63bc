// SPDX-License-Identifier: BSD-3-Clause
// Contiguous messages by persistent requests of the MPI, which get addresses as they are: of memory
// that no code here may touch.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tonari {

struct MpiMessage {
  std::byte* at = nullptr;
  int bytes = 0;
  std::int32_t peer = 0;  // this rank, too
  int tag = 0;            // distinguishes the messages from one rank to another
  bool send = false;
};

class PersistentMessages {
 public:
  // Throws Errc::mpi.
  PersistentMessages(MPI_Comm comm, std::vector<MpiMessage> messages);
  // Those that are under way still use their memory.
  ~PersistentMessages();
  PersistentMessages(PersistentMessages&&) = default;
  PersistentMessages(const PersistentMessages&) = delete;
  PersistentMessages& operator=(const PersistentMessages&) = delete;

  std::span<const MpiMessage> all() const { return messages_; }
  // Both throw Errc::mpi.
  void start();
  bool complete();
  // After a failure. Hands over all requests, and whether each sends, to be abandoned together.
  void give(std::vector<MPI_Request>& requests, std::vector<bool>& sends);

 private:
  static void init(MPI_Comm comm, const MpiMessage& message, MPI_Request& request);
  void free();

  std::vector<MpiMessage> messages_;
  std::vector<MPI_Request> requests_;
};

}  // namespace tonari
