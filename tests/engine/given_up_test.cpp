// SPDX-License-Identifier: BSD-3-Clause
// What exchanges that failed still tell of themselves, though their memory is given to nobody any
// more.
#include <gtest/gtest.h>

#include <memory>

#include "cells/contributions.hpp"
#include "grid/halo_use.hpp"

namespace {

using namespace tonari;

class Fails final : public LeafExchange {
 public:
  void start() override { fail(Errc::peer, "the other rank has ended"); }
  bool test() override { return false; }
  void wait() override {}
  int messages() const override { return 1; }
  Bytes bytes() const override { return 8; }
  std::size_t scratch_bytes() const override { return 100; }
};

TEST(GivenUp, AReverseExchangeSaysWhatItHolds) {
  double value = 0;
  Layout to;
  to.add(static_cast<std::ptrdiff_t>(reinterpret_cast<std::intptr_t>(&value)), sizeof value);
  const auto contributions = std::make_shared<Contributions>();
  contributions->add(to, recv_space);
  contributions->allocate();
  CombiningExchange exchange(std::make_shared<Fails>(), contributions,
                             reduction_of(MPI_DOUBLE, MPI_SUM));
  EXPECT_THROW(exchange.start(), Error);
  exchange.give_up();
  EXPECT_GE(exchange.scratch_bytes(), 100u);
  EXPECT_FALSE(exchange.nothing());
  EXPECT_GE(contributions.use_count(), 3) << "somebody may still write to it";
}

TEST(GivenUp, ViewsOfAGridStayWithTheirExchange) {
  HaloUse use{nullptr, std::make_shared<Views>()};
  use.give_up();
  ASSERT_TRUE(use.views);
  EXPECT_EQ(use.views.use_count(), 2);
}

}  // namespace
