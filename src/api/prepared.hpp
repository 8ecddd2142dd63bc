// An exchange ready to be started, and what tonari_request_get_info tells of it.
#pragma once

#include <memory>
#include <string>

#include "engine/context.hpp"
#include "engine/exchange.hpp"
#include "tonari/tonari.h"

namespace tonari {

// A receive block, for those who want to read it where it arrives.
struct Arrival {
  const std::byte* address = nullptr;  // in the receive buffer
  Bytes bytes = 0;
  std::size_t number = 0;  // the exchange's
};

// Shared by a request's handle with what the neighbourhood keeps for the next call.
struct Prepared {
  Prepared();
  ~Prepared();
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  std::shared_ptr<Context> context;  // outlives the neighborhood's handle
  std::unique_ptr<Exchange> exchange;
  bool running = false;  // stays true if start, test or wait fails: the exchange can only be destroyed then
  bool complete = false;        // the last exchange that was started is
  std::optional<Error> broken;  // what test or wait failed with
  std::vector<Arrival> arrivals;  // by the program's numbers
  std::string description, algorithm, variant, channel, channel_detail, reason;
  double predicted = 0, init = 0, measured = 0;
  int rounds = 0;
  std::unique_ptr<tonari_request_s> spare;  // a handle for the next non-blocking call
};

}  // namespace tonari
