// SPDX-License-Identifier: BSD-3-Clause
// The fewest messages of the busiest sender for a limit of words: a point of the front, and never
// behind it.
//
//   few messages    store and forward, every number of dimensions ─┐
//                   message sharing, both phases                   ├─▶ the best within the limit,
//                   balanced, from the pattern's own edges         │   thinned and leveled again
//                   generators (circulant.hpp), dense patterns     ┘
//
// Whatever the pattern, each of the papers' schemes (Selvitopi and Aykanat 2019; Duymuş 2021) that
// keeps to the limit is a special case: it takes part as it is, so the result never has more
// messages than it. Schedules are compared by messages of the busiest sender, then of the busiest
// receiver, then by words.
#pragma once

#include "planners/patterns/message_schedule.hpp"

namespace tonari {

// words: most of all, relative to sending them directly. Throws Errc::argument if it is less than 1
// or there are more than most_balanced_ranks.
MessageSchedule within_words(const CommunicationMatrix& matrix, double words);

}  // namespace tonari
