// Planning together with one rank per process. Letters travel by NBX (Hoefler, Siebert, Lumsdaine, "Scalable Communication Protocols for Dynamic Sparse
// Data Exchange", PPoPP 2010): a rank sends to those it has letters for, nobody has to know before from whom letters come, and nothing grows with the
// number of ranks but the depth of a barrier.
#pragma once

#include <mpi.h>

#include <map>

#include "channels/control_tags.hpp"
#include "graphs/world.hpp"

namespace tonari {

class MpiWorld final : public World {
 public:
  // Collective. comm: not owned, must outlive the world and carry nothing else meanwhile (messages use the tags 0 and 1); one world at a time. A
  // message has at most longest_message words (>= 1, the same on all ranks); letters for one rank that are longer together are cut.
  explicit MpiWorld(MPI_Comm comm, int longest_message = 1 << 26);
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;
  using World::max;
  using World::put;
  using World::sum;

  void put(std::size_t k, std::int32_t to, std::span<const Word> words) override;
  // After an error (Errc::mpi) the world and its communicator can only be freed.
  void exchange() override;
  std::span<const Letter> mail(std::size_t) const override { return mail_; }
  std::span<const std::size_t> receivers() const override;
  void sum(std::span<Word> words) override { reduce(words, MPI_SUM); }
  void max(std::span<Word> words) override { reduce(words, MPI_MAX); }

 private:
  using Stream = std::vector<Word>;  // letters one after the other, each as its length and its words
  class Sends;

  bool receive_if_any();
  void open_streams();
  void reduce(std::span<Word> words, MPI_Op operation);

  MPI_Comm comm_;
  int longest_message_;
  int tag_ = planning_even;
  std::map<std::int32_t, Stream> outgoing_, incoming_;  // by peer
  std::vector<Letter> mail_;
};

}  // namespace tonari
