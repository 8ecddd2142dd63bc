// SPDX-License-Identifier: BSD-3-Clause
// Runs MPI's own all-to-all with MPI_IN_PLACE as an exchange.
//
// It is the non-blocking form, since start must return at once, on a communicator of its own, since
// ranks may start their requests in different orders.
#pragma once

#include <memory>
#include <vector>

#include "channels/arguments.hpp"
#include "engine/wait/request_exchange.hpp"
#include "mpi/owned_comm.hpp"
#include "mpi/owned_type.hpp"

namespace tonari {

// As the program gives them. Types are the program's, which may free them.
struct TypedBlocks {
  void* buffer = nullptr;
  std::vector<TypedBlock> of;  // each rank
  bool regular = false;        // all ranks call the regular form
};

class NativeSwaps final : public RequestExchange {
 public:
  // Local. Throws Errc::algorithm if displacements are longer than the collective can say, or if
  // the MPI cannot be trusted with it (mpi/quirks.hpp).
  NativeSwaps(std::shared_ptr<const OwnedComm> comm, const TypedBlocks& blocks, int rank,
              std::shared_ptr<const Node> node = nullptr, double timeout = 10);
  ~NativeSwaps() override;

  void start() override;
  int messages() const override { return messages_; }  // what MPIs do today: one per block
  Bytes bytes() const override { return bytes_; }

 private:
  void* buffer_;
  bool regular_;
  std::vector<int> counts_, displacements_;
  std::vector<MPI_Datatype> types_;
  std::vector<OwnedType> owned_;
  int messages_ = 0;
  Bytes bytes_ = 0;
};

}  // namespace tonari
