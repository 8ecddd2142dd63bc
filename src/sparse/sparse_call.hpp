// SPDX-License-Identifier: BSD-3-Clause
// A call of a sparse exchange: it waits for its turn, goes through the exchange, and makes of what
// came what the program reads.
#pragma once

#include <mpi.h>

#include <memory>

#include "engine/comm/shared_comm.hpp"
#include "sparse/read_call.hpp"
#include "sparse/sparse_exchange.hpp"
#include "tonari/sparse.h"

namespace tonari {

struct OwnedMessages;
void free_messages(tonari_messages messages) noexcept;

class SparseCall final : public LeafExchange {
 public:
  // Whether the call may wait for the other ranks wherever it is tested.
  enum class Kind : bool { blocking, in_flight };

  // Collective at the first call of a kind on a communicator; before one is made.
  static void connect(SharedComm& shared, Kind kind);
  // Local. What is wrong here all ranks hear of in the exchange, or `error`, known already.
  // place: for what has arrived, to be freed with free_messages.
  SparseCall(std::shared_ptr<SharedComm> shared, const SparseArguments& given, MPI_Info info,
             Kind kind, tonari_messages* place, const std::optional<Error>& error = {});
  ~SparseCall() override;

  // Queues for its turn, and begins if that has come.
  void start() override;
  // They throw on all ranks the error of one; then it is over.
  bool test() override;
  void wait() override;  // drives exchanges in flight
  Pause pause() const override;
  void give_up() override;

  int messages() const override { return static_cast<int>(outgoing_.messages().size()); }
  Bytes bytes() const override;
  std::size_t scratch_bytes() const override { return 0; }
  const std::string& algorithm() const { return name_; }

 private:
  enum class Phase : std::uint8_t { made, queued, opening, completing, over };

  bool over() const { return phase_ == Phase::over; }
  bool step();
  void read();
  void open();
  void complete();
  void check_alike() const;
  void leave();
  template <class Work>
  void or_leave(const Work& work);

  std::shared_ptr<SharedComm> shared_;
  SparseExchange& exchange_;
  const Kind kind_;
  const MPI_Info info_;  // of a blocking call
  OutgoingMessages outgoing_;
  tonari_messages* const place_;
  std::string name_;
  SparseTask call_;
  std::unique_ptr<OwnedMessages> made_;
  SparseResult none_;  // in its place, where there is an error
  Phase phase_ = Phase::made;
  std::uint64_t ticket_ = 0;
};

}  // namespace tonari
