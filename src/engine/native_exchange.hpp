// Runs MPI's own neighborhood collective as an exchange.
#pragma once

#include <memory>

#include "channels/native/native.hpp"
#include "channels/owned_comm.hpp"
#include "engine/context.hpp"
#include "engine/exchange.hpp"

namespace tonari {

class NativeExchange final : public Exchange {
 public:
  // Collective. graph: the context's.
  NativeExchange(Context& context, const Arguments& arguments,
                 std::shared_ptr<const OwnedComm> graph);
  ~NativeExchange() override;
  NativeExchange(const NativeExchange&) = delete;
  NativeExchange& operator=(const NativeExchange&) = delete;

  void start() override;
  bool test() override;
  void wait() override;
  int messages() const override { return messages_; }  // what MPIs do today: one per block
  Bytes bytes() const override { return bytes_; }
  std::size_t scratch_bytes() const override { return 0; }

 private:
  NativeArguments arguments_;
  std::shared_ptr<const OwnedComm> graph_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool persistent_;
  int messages_ = 0;
  Bytes bytes_ = 0;
};

}  // namespace tonari
