// SPDX-License-Identifier: BSD-3-Clause
// An exchange whose blocks lie in memory of a device, on one side or both: it goes through pinned
// memory of the host.
//
//   start   | pack, and wait for it | start of the host's exchange |
//   wait    | the host's exchange | unpack, and wait for it |
#pragma once

#include <memory>
#include <span>
#include <string>

#include "device/pinned_copy.hpp"
#include "engine/wait/wrapped_exchange.hpp"

namespace tonari {

// Null: that side lies in memory of the host.
struct StagedSides {
  std::shared_ptr<PinnedCopy> send, recv;

  Bytes bytes() const;
  // Throws Errc::argument where blocks that lie on devices would not, so far from where they were.
  void check_reach(std::span<const std::ptrdiff_t> shifts) const;
  // What a program is told of it, as a line.
  std::string describe() const;
};

class StagedExchange final : public WrappedExchange {
 public:
  // inner: exchanges the pinned blocks in the place of those of the program.
  StagedExchange(std::shared_ptr<Exchange> inner, StagedSides sides)
      : WrappedExchange(std::move(inner)), sides_(std::move(sides)) {}
  ~StagedExchange() override;

  void start() override;
  bool test() override;
  void wait() override;
  Pause pause() const override;
  bool proceeds_by_itself() const override { return false; }
  std::size_t scratch_bytes() const override { return inner().scratch_bytes() + sides_.bytes(); }
  void rebind(std::span<const std::ptrdiff_t> shifts) override;
  void awaits(Awaited& awaited) const override;

 private:
  void begin_unpacking();

  enum class Step : bool { exchanging, unpacking };
  StagedSides sides_;
  Step step_ = Step::exchanging;
  bool under_way_ = false;  // the host's exchange
};

}  // namespace tonari
