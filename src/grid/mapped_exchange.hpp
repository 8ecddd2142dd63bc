// SPDX-License-Identifier: BSD-3-Clause
// A halo exchange through mapped ghosts; messages carry the rest.
#pragma once

#include <memory>

#include "engine/wait/polled_exchange.hpp"
#include "engine/wait/wrapped_exchange.hpp"
#include "grid/ghost_maps.hpp"

namespace tonari {

class MappedExchange final : public PolledExchange<MappedExchange, WrappedExchange> {
 public:
  // `maps` belong to the grid, which lives as long as its requests; `comm` carries the messages.
  MappedExchange(GhostMaps& maps, int copy, std::shared_ptr<Exchange> messages,
                 std::shared_ptr<const OwnedComm> comm, WaitPolicy wait);

  void check_start() const override { maps_.turns().check_turn(copy_); }
  void start() override;
  Pause pause() const override { return messages_done_ ? Pause::sleep : inner().pause(); }
  bool proceeds_by_itself() const override { return false; }
  bool nothing() const override { return false; }
  void give_up() override;
  void awaits(Awaited& awaited) const override;

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
