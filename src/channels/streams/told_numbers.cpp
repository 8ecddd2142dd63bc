// SPDX-License-Identifier: BSD-3-Clause
#include "channels/streams/told_numbers.hpp"

#include <utility>

#include "channels/abandon.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/mpi_usable.hpp"

namespace tonari {

// All have told theirs right after the agreement, so this waits for no rank's next call. A message
// that nobody received could be taken for one of a later communicator with the same number.
ToldNumbers::~ToldNumbers() {
  if (!mpi_usable()) return;
  const double deadline = MPI_Wtime() + 1;
  for (MPI_Request& request : requests_)
    if (request != MPI_REQUEST_NULL) (void)is_over(request, deadline);
  if (abandon(std::span(requests_), [](std::size_t k) { return k % 2 == 1; }))
    leak(std::move(peers_));
}

void ToldNumbers::add(int peer, std::span<const std::uint32_t> mine, std::size_t theirs) {
  peers_.push_back({peer, {mine.begin(), mine.end()}, std::vector<std::uint32_t>(theirs)});
  requests_.resize(2 * peers_.size(), MPI_REQUEST_NULL);
}

void ToldNumbers::tell() {
  for (std::size_t k = 0; k < peers_.size(); ++k) {
    Peer& peer = peers_[k];
    if (!peer.theirs.empty())
      check_mpi(MPI_Irecv(peer.theirs.data(), static_cast<int>(peer.theirs.size()), MPI_UINT32_T,
                          peer.rank, tag_, comm_->get(), &requests_[2 * k]),
                "MPI_Irecv");
    if (!peer.mine.empty())
      check_mpi(MPI_Isend(peer.mine.data(), static_cast<int>(peer.mine.size()), MPI_UINT32_T,
                          peer.rank, tag_, comm_->get(), &requests_[2 * k + 1]),
                "MPI_Isend");
  }
}

std::span<const std::uint32_t> ToldNumbers::of(std::size_t k) {
  MPI_Request& request = requests_[2 * k];
  if (request != MPI_REQUEST_NULL && !is_over(request, MPI_Wtime() + 1)) return {};
  return peers_[k].theirs;
}

}  // namespace tonari
