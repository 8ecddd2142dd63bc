// SPDX-License-Identifier: BSD-3-Clause
// A request of tonari's, as every comparison runs it.
#pragma once

#include <string>

#include "harness.hpp"
#include "keys.hpp"

namespace bench {

// Exchange: what the comparison calls its ways.
template <class Exchange>
class TonariWay : public Exchange {
 public:
  explicit TonariWay(tonari_request request) : request_(request) {}
  ~TonariWay() override { tonari_request_free(&request_); }
  TonariWay(const TonariWay&) = delete;
  TonariWay& operator=(const TonariWay&) = delete;
  void run() override {
    check(tonari_start(request_));
    check(tonari_wait(request_));
  }
  std::string channel() const override { return info().channel; }
  bool ours() const override { return true; }

 protected:
  // As it is now: starts may have found out more.
  tonari_request_info info() const {
    tonari_request_info now;
    check(tonari_request_get_info(request_, &now));
    return now;
  }

  tonari_request request_;
};

}  // namespace bench
