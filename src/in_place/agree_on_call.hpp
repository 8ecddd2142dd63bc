// SPDX-License-Identifier: BSD-3-Clause
// What ranks agree on before they exchange in place, or take an exchange that they have kept.
#pragma once

#include <memory>
#include <optional>

#include "engine/comm/family_objects.hpp"
#include "in_place/read_call.hpp"
#include "neighborhood/known_side.hpp"
#include "request/kept.hpp"

namespace tonari {

// A one-shot call that may come again, on whatever buffer.
struct SwapCall {
  bool same(const BufferArguments& given) const;

  KnownSide known;
  const void* buffer = nullptr;
  Settings settings;
  bool no_keys = false;  // settings are the environment's, not read for the same call again
};

struct SwapCalls final : FamilyObject {
  bool stays() const override { return false; }
  Kept<SwapCall, 1> kept;  // memory is for one at a time
};

// What a call asks for, as far as this rank has read it, and the exchange that all ranks have kept
// for it, if any, bound to its buffer.
struct AgreedInPlace {
  std::shared_ptr<Context> context = {};
  Settings settings = {};
  std::optional<SwapProblem> symmetric = {};  // not read where this rank knows the call
  std::optional<GeneralProblem> general = {};
  SwapCalls* calls = nullptr;  // of one-shot calls that are symmetric
  std::shared_ptr<Prepared> kept = {};
};

// Collective: if it is right and the same everywhere. Throws the same on all ranks.
AgreedInPlace agree_on_in_place(const InPlaceCall& call, Use use, Output output);

}  // namespace tonari
