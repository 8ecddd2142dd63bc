// SPDX-License-Identifier: BSD-3-Clause
// The fewest messages of the busiest sender for a limit of words: a point of the front, and never
// behind it. And any point by its options.
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

#include "planners/patterns/balance_options.hpp"
#include "planners/patterns/message_schedule.hpp"

namespace tonari {

// words: most of all, relative to sending them directly. word: what a word of 8 bytes is in the
// matrix, if that counts something else; prices are in such. Throws Errc::argument if `words` is
// less than 1 or there are more than most_balanced_ranks.
MessageSchedule within_words(const CommunicationMatrix& matrix, double words, double word = 1);

// balanced (balanced.hpp), or within_words for any_stages. The options are in words of 8 bytes.
MessageSchedule front_point(const CommunicationMatrix& matrix, BalanceOptions options,
                            double word = 1);

}  // namespace tonari
