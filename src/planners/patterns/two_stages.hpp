// SPDX-License-Identifier: BSD-3-Clause
// balanced (balanced.hpp) in two stages: a way is the rank in its middle, and all is much faster
// than over many stages.
#pragma once

#include <utility>

#include "planners/patterns/balance_options.hpp"
#include "planners/patterns/message_schedule.hpp"

namespace tonari {

// The busiest rank's time if a message costs as much as `price` words, words taken from the average
// rank. An infinite price: messages first.
std::pair<double, double> time_of(double messages, double words, double price);

// options.stages is not looked at.
MessageSchedule over_two_stages(const CommunicationMatrix& matrix, const BalanceOptions& options);

}  // namespace tonari
