#include "channels/node.hpp"

#include <algorithm>

#include "channels/mpi_error.hpp"

namespace tonari {
namespace {

// What ranks of a node tell each other.
struct Card {
  std::int64_t rank, process;
  std::uint64_t address, word;  // where this word lies there
  Cpus cpus;
};

bool can_read(const Card& card) {
  std::uint64_t seen = 0;
  const Piece to{reinterpret_cast<std::uintptr_t>(&seen), sizeof seen}, from{card.address, sizeof card.word};
  return read_process(card.process, {&to, 1}, {&from, 1}) == 0 && seen == card.word;
}

}  // namespace

Node::Node(std::shared_ptr<const OwnedComm> members, std::int32_t rank) : comm_(std::move(members)) {
  int me = 0, size = 0;
  MPI_Comm_rank(comm(), &me);
  MPI_Comm_size(comm(), &size);
  word_ = std::make_unique<std::uint64_t>(static_cast<std::uint64_t>(this_process()) * 0x9E37'79B9'7F4A'7C15);  // what only this process has there
  const Card mine{rank, this_process(), reinterpret_cast<std::uintptr_t>(word_.get()), *word_, allowed_cpus()};
  std::vector<Card> cards(static_cast<std::size_t>(size));
  check_mpi(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE, comm()), "MPI_Allgather");
  Cpus cpus{};
  for (const Card& card : cards) {
    ranks_.push_back(static_cast<std::int32_t>(card.rank));
    processes_.push_back(card.process);
    watches_.emplace_back(card.process);
    for (std::size_t k = 0; k < cpus.size(); ++k) cpus[k] |= card.cpus[k];
  }
  crowded_ = is_crowded(size, cpus);
  reads_ = can_read(cards[static_cast<std::size_t>(me + 1) % cards.size()]);  // permissions are the same for all processes of one user
}

std::size_t Node::index(std::int32_t rank) const {
  const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
  return found != ranks_.end() && *found == rank ? static_cast<std::size_t>(found - ranks_.begin()) : ranks_.size();
}

}  // namespace tonari
