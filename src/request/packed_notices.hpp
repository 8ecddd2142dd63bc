// SPDX-License-Identifier: BSD-3-Clause
// What ranks tell each other of a packed exchange besides its flags: that one has given up, and
// that one has closed its part. Each exchange has a tag of its own, so a notice waits until
// somebody looks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "channels/node.hpp"
#include "mpi/owned_comm.hpp"

namespace tonari {

class PackedNotices {
 public:
  enum class Notice : std::uint8_t { gave_up, closed };

  // peers: that map memory of this rank, or whose memory it maps.
  PackedNotices(std::shared_ptr<const OwnedComm> comm, std::shared_ptr<const Node> node, int tag,
                const std::vector<std::int32_t>& peers);
  ~PackedNotices();
  PackedNotices(const PackedNotices&) = delete;
  PackedNotices& operator=(const PackedNotices&) = delete;

  // Does not wait. Each at most once.
  void tell(Notice notice);
  // Takes what has come.
  void look();
  // The lowest peer that has given up or ended; -1: none has, as far as this rank has looked.
  std::int32_t lost() const;
  // Whether no peer maps memory of this rank any more: it has closed its part, or ended.
  bool all_closed() const;

  const std::shared_ptr<const OwnedComm>& comm() const { return comm_; }
  const Node* node() const { return node_.get(); }

 private:
  struct Peer {
    std::int32_t rank;
    bool gave_up = false, closed = false;
  };
  bool ended(const Peer& peer) const;

  std::shared_ptr<const OwnedComm> comm_;
  std::shared_ptr<const Node> node_;
  int tag_;
  std::vector<Peer> peers_;
  std::vector<MPI_Request> sends_;
};

}  // namespace tonari
