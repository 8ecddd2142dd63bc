// An exchange ready to be started, and what tonari_request_get_info tells of it.
#pragma once

#include <memory>
#include <string>

#include "engine/context.hpp"
#include "engine/exchange.hpp"
#include "tonari/tonari.h"

namespace tonari {

// Shared by a request's handle with what the neighbourhood keeps for the next call.
struct Prepared {
  Prepared();
  ~Prepared();
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  std::shared_ptr<Context> context;  // outlives the neighborhood's handle
  std::unique_ptr<Exchange> exchange;
  bool running = false;  // stays true if start, test or wait fails: the exchange can only be destroyed then
  std::string description, algorithm, variant, channel, channel_detail, reason;
  double predicted = 0, init = 0, measured = 0;
  int rounds = 0;
  std::unique_ptr<tonari_request_s> spare;  // a handle for the next non-blocking call
};

}  // namespace tonari
