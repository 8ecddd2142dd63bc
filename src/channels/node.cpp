#include "channels/node.hpp"

#include <algorithm>

#include "channels/mpi_error.hpp"

namespace tonari {
namespace {

struct Card {
  std::int64_t process;
  std::uint64_t address, word;  // where this word lies there
};

}  // namespace

Node::Node(MPI_Comm comm, std::vector<std::int32_t> ranks) : ranks_(std::move(ranks)) {
  MPI_Comm made = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(comm, ranks_.front(), 0, &made), "MPI_Comm_split");
  comm_ = std::make_shared<const OwnedComm>(made);

  Cpus cpus = allowed_cpus();
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, cpus.data(), static_cast<int>(cpus.size()), MPI_UINT64_T, MPI_BOR, made), "MPI_Allreduce");
  crowded_ = is_crowded(static_cast<int>(ranks_.size()), cpus);

  int me = 0;
  MPI_Comm_rank(made, &me);
  std::uint64_t word = static_cast<std::uint64_t>(this_process()) * 0x9E37'79B9'7F4A'7C15;  // what only this process has there
  const Card mine{this_process(), reinterpret_cast<std::uintptr_t>(&word), word};
  std::vector<Card> cards(ranks_.size());
  check_mpi(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE, made), "MPI_Allgather");
  for (const Card& card : cards) {
    processes_.push_back(card.process);
    watches_.emplace_back(card.process);
  }
  // Each tries its right neighbour: permissions are the same for all processes of one user.
  const Card& next = cards[(static_cast<std::size_t>(me) + 1) % cards.size()];
  std::uint64_t seen = 0;
  const Piece to{reinterpret_cast<std::uintptr_t>(&seen), sizeof seen}, from{next.address, sizeof next.word};
  int reads = read_process(next.process, {&to, 1}, {&from, 1}) == 0 && seen == next.word;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &reads, 1, MPI_INT, MPI_MIN, made), "MPI_Allreduce");  // also: nobody leaves before his word was read
  reads_ = reads;
}

std::size_t Node::index(std::int32_t rank) const {
  const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
  return found != ranks_.end() && *found == rank ? static_cast<std::size_t>(found - ranks_.begin()) : ranks_.size();
}

}  // namespace tonari
