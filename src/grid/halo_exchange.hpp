// Runs halo exchanges.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "channels/owned_comm.hpp"
#include "engine/polled_exchange.hpp"
#include "engine/wrapped_exchange.hpp"
#include "grid/ghost_maps.hpp"
#include "grid/halo_program.hpp"

namespace tonari {

// By MPI point to point, with persistent requests.
class HaloExchange final : public LeafExchange {
 public:
  // Tags first_tag to first_tag + program.tags - 1 of comm belong to it.
  HaloExchange(HaloProgram program, std::shared_ptr<const OwnedComm> comm, int first_tag);
  ~HaloExchange() override;
  HaloExchange(const HaloExchange&) = delete;
  HaloExchange& operator=(const HaloExchange&) = delete;

  void start() override;
  bool test() override;
  void wait() override;
  int messages() const override { return program_.messages; }
  Bytes bytes() const override { return program_.bytes; }
  std::size_t scratch_bytes() const override { return program_.memory.bytes(); }

 private:
  void begin_step();
  void end_step();

  HaloProgram program_;
  std::shared_ptr<const OwnedComm> comm_;
  std::vector<std::vector<MPI_Request>> requests_;  // by step
  std::size_t step_ = 0;                            // the one that runs; as many as there are: none
};

// Through mapped ghosts; what they do not reach by messages.
class MappedExchange final : public PolledExchange<MappedExchange, WrappedExchange> {
 public:
  // maps: of the grid, which lives as long as its requests. comm: of the messages.
  MappedExchange(GhostMaps& maps, int copy, std::shared_ptr<Exchange> messages,
                 std::shared_ptr<const OwnedComm> comm, WaitPolicy wait);

  void check_start() const override { maps_.check_turn(copy_); }
  void start() override;
  Pause pause() const override { return messages_done_ ? Pause::sleep : inner().pause(); }
  bool proceeds_by_itself() const override { return false; }
  bool nothing() const override { return false; }
  void give_up() override;

 private:
  friend PolledExchange;
  bool finished() const { return finished_; }
  bool advance();
  void check_peers() const { maps_.check_peers(); }

  GhostMaps& maps_;
  int copy_;
  bool finished_ = true, messages_done_ = true;
};

}  // namespace tonari
