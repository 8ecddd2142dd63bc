// SPDX-License-Identifier: BSD-3-Clause
// Which one-shot calls on a neighborhood combine, by which plan: a table that is the same on all
// ranks (ADR 50).
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "engine/comm/context.hpp"
#include "one_shot/hop_messages.hpp"
#include "select/combining.hpp"

namespace tonari {

class HopTable {
 public:
  struct Row {
    Combining combining;
    std::shared_ptr<const HopPlan> plan;  // its calls may run on when the table is gone
    std::string reason;                   // fixed rule, model, measured, wisdom
  };

  HopTable() = default;
  // Collective, together on the context's communicator, when its streams are connected. Unless
  // wisdom knows, combining and going straight are timed against each other.
  HopTable(Context& context, const std::shared_ptr<Streams>& streams, Tune tune, WaitPolicy wait);

  // Says how calls of an operation combine that send and receive blocks of these sizes, the same at
  // all blocks of a rank. Null: they do not.
  const Row* find(Collective collective, Bytes sent, Bytes received) const;

 private:
  void add(Context& context, const std::shared_ptr<Streams>& streams, Tune tune, WaitPolicy wait,
           Combining combining);

  SizesElsewhere elsewhere_ = SizesElsewhere::unknown;
  std::array<std::optional<Row>, 2> rows_;  // by collective
};

}  // namespace tonari
