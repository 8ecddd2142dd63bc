// SPDX-License-Identifier: BSD-3-Clause
// Makes the exchange that is chosen, or several among which starts choose.
#pragma once

#include <memory>

#include "neighborhood/agree_on_call.hpp"

namespace tonari {

// What ranks prepared together; they keep it together once all of them have it.
struct Made {
  std::shared_ptr<Prepared> prepared;
  std::size_t tags = 0;
  std::unique_ptr<const BoundCall> bound;  // the call, as promised; null if nothing was
};

// The beginning and the end of making one, whatever it exchanges by. Local. The end takes the
// blocks of `mine` if the call is bound, and comes after Prepared::describe.
Made begin_request(const Call& call, const LocalArguments& mine);
void end_request(Made& made, const Call& call, LocalArguments& mine);
// What is exchanged, as the first words of a description.
std::string what_of(const Problem& problem);
// The file whose schedule it follows, as a line; empty if it follows none.
std::string followed_file(const Settings& settings);

// Collective. `start` is when the call began. Takes the blocks of `mine` if the call is bound.
Made make_request(const Call& call, double start, Choice choice, const Problem& problem,
                  LocalArguments& mine);
// The same, which its caller may still end.
Made make_without_end(const Call& call, double start, Choice choice, const Problem& problem,
                      const LocalArguments& mine);

}  // namespace tonari
