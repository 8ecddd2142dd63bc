// Runs halo exchanges.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "channels/owned_comm.hpp"
#include "engine/exchange.hpp"
#include "grid/ghost_maps.hpp"
#include "grid/halo_program.hpp"
#include "memory/wait.hpp"

namespace tonari {

// By MPI point to point, with persistent requests.
class HaloExchange final : public Exchange {
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
  MPI_Comm comm() const { return comm_->get(); }
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
class MappedExchange final : public Exchange {
 public:
  // maps: of the grid, which lives as long as its requests.
  MappedExchange(GhostMaps& maps, int copy, std::unique_ptr<HaloExchange> rest, WaitPolicy wait);

  void check_start() const override { maps_.check_turn(copy_); }
  void start() override;
  bool test() override;
  void wait() override;
  Pause pause() const override { return rest_done_ ? Pause::sleep : rest_->pause(); }
  int messages() const override { return rest_->messages(); }
  Bytes bytes() const override { return rest_->bytes(); }
  std::size_t scratch_bytes() const override { return rest_->scratch_bytes(); }
  void give_up() override { maps_.give_up(); }

 private:
  bool look();
  void after_idle_look(Wait::Then then);

  GhostMaps& maps_;
  int copy_;
  std::unique_ptr<HaloExchange> rest_;
  WaitPolicy policy_;
  IdleTests idle_tests_;
  bool rest_done_ = true;
};

}  // namespace tonari
