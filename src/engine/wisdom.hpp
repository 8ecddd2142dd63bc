// SPDX-License-Identifier: BSD-3-Clause
// Wisdom: the results of contests, kept between runs in the user's cache directory.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/context.hpp"
#include "select/break_even.hpp"

namespace tonari {

struct Remembered {
  std::string label;  // of the winner
  AgainstNative times = {};
  // What starts have left (select/contenders.hpp). From `recall`: what this request is to try.
  std::vector<std::string> untried = {};
};

// Reads and writes one line of the file. A label alone is one whose times are not known.
std::string to_text(const Remembered& remembered);
Remembered remembered_from_text(const std::string& text);
// Lines that end each with a line break. All of them, or std::bad_alloc.
std::vector<Remembered> remembered_from_lines(const std::string& lines);

// `question` is what the choice depends on besides the machine. Only rank 0's counts. Collective at
// a context's first call.
std::string wisdom_key(Context& context, const std::string& question);

// Behind a question: what the starts of requests have answered. They compare few candidates, so
// `auto` does not use that.
inline constexpr const char* by_starts = "|online";

// Of bytes, by eighths of octaves: near an MPI's eager limit a few bytes decide.
int size_class(double bytes);

// Collective: returns what rank 0 finds for any of the keys, in their order. Rank 0 has first
// written what starts have decided meanwhile. With Trials::one, the first may have something that
// no request has tried; that one is noted as tried, so no other gets it.
enum class Trials : bool { none, one };
std::vector<Remembered> recall(Context& context, std::span<const std::string> keys,
                               Trials trials = Trials::none);

// Rank 0 writes.
void remember(Context& context, const std::string& key, const Remembered& remembered);
// This rank does. False if it could not.
bool write_wisdom(const std::string& key, const Remembered& remembered);
// The same, but what is known to be untried stays so, if the key is known.
void write_winner(const std::string& key, Remembered remembered);

// Says why a winner is not remembered.
inline constexpr const char* unsteady_times =
    "the times varied much (is the machine busy with something else?), so this is not "
    "remembered\n";

}  // namespace tonari
