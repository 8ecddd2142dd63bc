// SPDX-License-Identifier: BSD-3-Clause
// Runs MPI's own neighborhood collective as an exchange.
#pragma once

#include <memory>

#include "channels/native/native.hpp"
#include "engine/comm/context.hpp"
#include "engine/wait/request_exchange.hpp"
#include "mpi/owned_comm.hpp"

namespace tonari {

class NativeExchange final : public RequestExchange {
 public:
  // Collective. graph: the context's.
  NativeExchange(Context& context, const Arguments& arguments,
                 std::shared_ptr<const OwnedComm> graph, double timeout);
  ~NativeExchange() override;

  void start() override;
  void rebind(Shifts shifts) override;
  int messages() const override { return messages_; }  // today's MPIs send one per block
  Bytes bytes() const override { return bytes_; }

 private:
  NativeArguments arguments_;
  bool persistent_;
  int messages_ = 0;
  std::vector<std::ptrdiff_t> shifts_;
  Bytes bytes_ = 0;
};

}  // namespace tonari
