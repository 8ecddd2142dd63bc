// SPDX-License-Identifier: BSD-3-Clause
// The exchange of a rank that has nothing to exchange.
#pragma once

#include <cstddef>
#include <span>

#include "engine/wait/exchange.hpp"

namespace tonari {

class NoMessages final : public LeafExchange {
 public:
  void start() override {}
  bool test() override { return true; }
  void wait() override {}
  void rebind(std::span<const std::ptrdiff_t> /*shifts*/) override {}
  bool nothing() const override { return true; }
  int messages() const override { return 0; }
  Bytes bytes() const override { return 0; }
  std::size_t scratch_bytes() const override { return 0; }
};

}  // namespace tonari
