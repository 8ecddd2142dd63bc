// SPDX-License-Identifier: BSD-3-Clause
// The file of wisdom in the user's cache directory: a line for each contest, by its key.
#pragma once

#include <string>
#include <vector>

#include "select/break_even.hpp"
#include "select/cache.hpp"

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

CacheFile wisdom_file();

// Without the other ranks. False if it could not.
bool write_wisdom(const std::string& key, const Remembered& remembered);
// The same, but what is known to be untried stays so, if the key is known.
void write_winner(const std::string& key, Remembered remembered);

}  // namespace tonari
