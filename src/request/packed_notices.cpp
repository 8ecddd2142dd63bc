// SPDX-License-Identifier: BSD-3-Clause
#include "request/packed_notices.hpp"

#include <algorithm>

#include "channels/abandon.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/mpi_usable.hpp"

namespace tonari {
namespace {

constexpr int words[] = {0, 1};  // of the notices: messages lie where they stay

}  // namespace

PackedNotices::PackedNotices(std::shared_ptr<const OwnedComm> comm,
                             std::shared_ptr<const Node> node, int tag,
                             const std::vector<std::int32_t>& peers)
    : comm_(std::move(comm)), node_(std::move(node)), tag_(tag) {
  for (const std::int32_t peer : peers) peers_.push_back({peer});
  sends_.reserve(std::size(words) * peers.size());
}

PackedNotices::~PackedNotices() {
  if (mpi_usable()) (void)abandon(sends_, [](std::size_t) { return true; });
}

void PackedNotices::tell(Notice notice) {
  for (const Peer& peer : peers_) {
    if (ended(peer)) continue;
    MPI_Request& request = sends_.emplace_back(MPI_REQUEST_NULL);
    check_mpi(MPI_Isend(&words[static_cast<int>(notice)], 1, MPI_INT, peer.rank, tag_, comm_->get(),
                        &request),
              "MPI_Isend");
  }
}

void PackedNotices::look() {
  for (int found = 1; found;) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    call_mpi("MPI_Improbe", [&] {
      return MPI_Improbe(MPI_ANY_SOURCE, tag_, comm_->get(), &found, &message, &status);
    });
    if (!found) return;
    int word = 0;
    call_mpi("MPI_Mrecv",
             [&] { return MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE); });
    const auto peer = std::ranges::find(peers_, status.MPI_SOURCE, &Peer::rank);
    if (peer == peers_.end()) continue;
    (word == words[static_cast<int>(Notice::closed)] ? peer->closed : peer->gave_up) = true;
  }
}

bool PackedNotices::ended(const Peer& peer) const {
  return node_ && node_->here(peer.rank) && node_->ended(node_->index(peer.rank));
}

std::int32_t PackedNotices::lost() const {
  const auto found = std::ranges::find_if(
      peers_, [&](const Peer& peer) { return peer.gave_up || (!peer.closed && ended(peer)); });
  return found == peers_.end() ? -1 : found->rank;
}

bool PackedNotices::all_closed() const {
  return std::ranges::all_of(peers_, [&](const Peer& peer) { return peer.closed || ended(peer); });
}

}  // namespace tonari
