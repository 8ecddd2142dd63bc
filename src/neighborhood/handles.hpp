// SPDX-License-Identifier: BSD-3-Clause
// The object behind the handle of a neighborhood.
#pragma once

#include <array>
#include <memory>

#include "engine/tune/selector.hpp"
#include "neighborhood/bound_call.hpp"
#include "neighborhood/one_shots.hpp"
#include "neighborhood/request_cache.hpp"

struct tonari_neighborhood_s {
  std::shared_ptr<tonari::Context> context;
  // For one-shot calls, the same on all ranks: the choices for kinds of problems, and the latest
  // prepared exchanges, null until a call looks for one.
  tonari::RememberedChoices choices;
  std::unique_ptr<tonari::RequestCache> cache;
  // One-shot calls for which nothing is forced: the first ones, and once ranks have connected.
  tonari::FirstOneShots first_one_shots;
  std::unique_ptr<tonari::OneShots> one_shots;
  // With cdag_static_buffers: the first call of each operation, bound; null until then.
  std::array<std::unique_ptr<const tonari::BoundCall>, tonari::operations> bound;
};
