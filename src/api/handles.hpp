// What the opaque handles of tonari.h point to.
#pragma once

#include <memory>
#include <string>

#include "engine/context.hpp"
#include "engine/exchange.hpp"
#include "tonari/tonari.h"

struct tonari_neighborhood_s {
  std::shared_ptr<tonari::Context> context;
};

struct tonari_request_s {
  std::shared_ptr<tonari::Context> context;  // outlives the neighborhood's handle
  std::unique_ptr<tonari::Exchange> exchange;
  bool active = false;
  std::string description, algorithm, variant, channel, channel_detail, reason;
  double predicted = 0, init = 0, measured = 0;
  int rounds = 0;
};
