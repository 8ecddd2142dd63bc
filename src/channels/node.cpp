// SPDX-License-Identifier: BSD-3-Clause
#include "channels/node.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "mpi/collective.hpp"
#include "mpi/mpi_error.hpp"

namespace tonari {

// The data that ranks of a node tell each other.
struct Node::Card {
  std::int64_t rank, process;
  std::uint64_t system;         // where it runs; 0: it does not know
  std::uint64_t address, word;  // where this word lies there
  Cpus cpus;
};

namespace {

// A word that only this process has at its address, for others to read, and to write as it is. It
// outlives every node: another rank may write it after this one has failed.
std::uint64_t& own_word() {
  static std::uint64_t word = static_cast<std::uint64_t>(this_process()) * 0x9E37'79B9'7F4A'7C15;
  return word;
}

bool can_read_and_write(std::int64_t process, std::uint64_t address, std::uint64_t word) {
  std::uint64_t seen = 0;
  const Piece here{reinterpret_cast<std::uintptr_t>(&seen), sizeof seen},
      there{address, sizeof word};
  return read_process(process, {&here, 1}, {&there, 1}) == 0 && seen == word &&
         write_process(process, {&there, 1}, {&here, 1}) == 0;
}

// The ranks of the whole job on this node, as launchers report them: ranks outside of the
// communicator need cores, too. 0 means unknown.
int ranks_of_job_here() {
  int ranks = 0;
  // Open MPI; MPICH's and Intel's mpiexec
  for (const char* variable : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
    if (const char* value = std::getenv(variable)) ranks = std::max(ranks, std::atoi(value));
  return ranks;
}

// Everyone that watches a process shares one watch, because each takes a file descriptor.
std::shared_ptr<const Watch> shared_watch(std::int64_t process) {
  static std::mutex mutex;
  static std::map<std::int64_t, std::weak_ptr<const Watch>> known;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Watch> watch = known[process].lock();
  if (!watch) known[process] = watch = std::make_shared<const Watch>(process);
  return watch;
}

}  // namespace

namespace {

// What all ranks of the communicator tell each other.
template <class Card>
std::vector<Card> cards_of(MPI_Comm comm, std::int32_t rank, const std::function<void()>& ready) {
  const Card mine{rank,          this_process(),
                  this_system(), reinterpret_cast<std::uintptr_t>(&own_word()),
                  own_word(),    allowed_cpus()};
  std::vector<Card> cards(static_cast<std::size_t>(ranks_of(comm)));
  ready();
  gather_all(&mine, sizeof mine, MPI_BYTE, cards.data(), comm);
  return cards;
}

}  // namespace

Node::Node(MPI_Comm members, std::int32_t rank, const std::function<void()>& ready)
    : Node(cards_of<Card>(members, rank, ready), static_cast<std::size_t>(rank_in(members))) {}

std::shared_ptr<const Node> Node::on_one_system(MPI_Comm comm, std::span<const std::int32_t> among,
                                                const std::function<void()>& ready) {
  const std::int32_t rank = rank_in(comm);
  std::vector<Card> cards = cards_of<Card>(comm, rank, ready);
  if (std::ranges::find(cards, 0U, &Card::system) != cards.end()) return nullptr;
  const std::uint64_t here = cards[static_cast<std::size_t>(rank)].system;
  const auto is_one = [&](const Card& card) {
    return among.empty() || std::ranges::find(among, card.rank) != among.end();
  };
  std::erase_if(cards, [&](const Card& card) { return card.system != here || !is_one(card); });
  const auto me = std::ranges::find(cards, std::int64_t{rank}, &Card::rank);
  return std::shared_ptr<const Node>(new Node(cards, static_cast<std::size_t>(me - cards.begin())));
}

Node::Node(std::span<const Card> cards, std::size_t me) {
  Cpus cpus{};
  for (const Card& card : cards) {
    ranks_.push_back(static_cast<std::int32_t>(card.rank));
    processes_.push_back(card.process);
    watches_.push_back(card.process == this_process() ? nullptr : shared_watch(card.process));
    for (std::size_t k = 0; k < cpus.size(); ++k) cpus[k] |= card.cpus[k];
  }
  const int size = static_cast<int>(cards.size());
  const bool bound =
      std::ranges::any_of(cards, [&](const Card& card) { return card.cpus != cards[me].cpus; });
  ranks_per_core_ = ranks_per_processor(bound ? size : std::max(size, ranks_of_job_here()), cpus);
  // permissions are the same for all processes of one user
  const Card& next = cards[(me + 1) % cards.size()];
  reads_ = can_read_and_write(next.process, next.address, next.word);
}

std::size_t Node::index(std::int32_t rank) const {
  const auto found = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
  return found != ranks_.end() && *found == rank ? static_cast<std::size_t>(found - ranks_.begin())
                                                 : ranks_.size();
}

}  // namespace tonari
