// What the opaque handles of tonari.h point to.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>

#include "api/bound_call.hpp"
#include "api/prepared.hpp"
#include "api/shelf.hpp"
#include "engine/selector.hpp"

struct tonari_neighborhood_s {
  std::shared_ptr<tonari::Context> context;
  // For one-shot calls, the same on all ranks: what was chosen for problems of a kind, and what was
  // prepared lately.
  std::map<std::string, tonari::Choice> choices;
  tonari::Shelf shelf;
  // With cdag_static_buffers: what the first call of each operation bound.
  std::array<tonari::BoundCall, tonari::operations> bound;
};

struct tonari_request_s {
  std::shared_ptr<tonari::Prepared> prepared;
  bool active = false;
  bool once = false;    // of a non-blocking one-shot call: not to be started again
  bool may_go = false;  // started or waited for with others, of which one failed: it can be freed
};
