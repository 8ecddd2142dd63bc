// Runs MPI's own neighborhood collective as an exchange.
#pragma once

#include <memory>

#include "channels/native/native.hpp"
#include "channels/owned_comm.hpp"
#include "engine/context.hpp"
#include "engine/polled_exchange.hpp"

namespace tonari {

class NativeExchange final : public PolledExchange<NativeExchange> {
 public:
  // Collective. graph: the context's.
  NativeExchange(Context& context, const Arguments& arguments,
                 std::shared_ptr<const OwnedComm> graph);
  ~NativeExchange() override;
  NativeExchange(const NativeExchange&) = delete;
  NativeExchange& operator=(const NativeExchange&) = delete;

  void start() override;
  void wait() override;
  void rebind(Shifts shifts) override;
  int messages() const override { return messages_; }  // what MPIs do today: one per block
  Bytes bytes() const override { return bytes_; }
  std::size_t scratch_bytes() const override { return 0; }

 private:
  friend PolledExchange;
  static constexpr Pause idle_pause = Pause::yield;
  bool finished() const { return !active_; }
  bool advance();
  void progress() const {}  // each look does it

  NativeArguments arguments_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool persistent_, active_ = false;
  int messages_ = 0;
  std::vector<std::ptrdiff_t> shifts_;
  Bytes bytes_ = 0;
};

}  // namespace tonari
