// SPDX-License-Identifier: BSD-3-Clause
// A collective call of the library, as something that can be done again and again.
#pragma once

#include <tonari/tonari.h>

#include "support/oracle.hpp"

namespace tonari::test {

// A collective call, again and again.
struct Call {
  virtual ~Call() = default;
  virtual void set_up() {}     // before each attempt
  virtual int make() = 0;      // where memory is short
  virtual void use() {}        // what it made
  virtual void drop() {}       // what it made, if it did
  virtual void tear_down() {}  // after each attempt
  virtual int attempts(int usual) const { return usual; }
  // Whether the error of that rank reaches this one.
  virtual bool hears_of(int /*rank*/) const { return true; }
};

// A request or nothing.
struct Requesting : Call {
  tonari_request request = TONARI_REQUEST_NULL;
  void use() override { EXPECT_OK(start_and_wait(request)); }
  void drop() override { EXPECT_OK(tonari_request_free(&request)); }
};

}  // namespace tonari::test
