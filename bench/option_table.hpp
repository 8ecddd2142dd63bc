// SPDX-License-Identifier: BSD-3-Clause
// The command line of a benchmark program: each lists its own options, and here is what all have in
// common.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "words.hpp"

namespace bench {

// The options of every program.
struct CommonOptions {
  int rounds = 200;
  double max_time = 20;  // seconds of what is timed together
  std::string output;    // empty: standard output
  bool help = false;     // nothing else is looked at then
};

struct Option {
  const char* name;                              // without its dashes
  std::function<void(const std::string&)> take;  // what to do with the value; empty without one
  bool has_value = true;
};

std::string dashed(const char* name);  // --name

Option flag(const char* name, bool& into);
Option word(const char* name, std::string& into);
Option duration(const char* name, double& into);  // seconds
template <class Number>
Option number(const char* name, Number& into, long long least, long long most);
// With commas between them, at least one.
Option numbers(const char* name, std::vector<long long>& into, long long least, long long most);
// The same of words among those that are known; `what` they are.
Option names(const char* name, std::vector<std::string>& into, std::vector<std::string> known,
             const char* what);

// Takes the program's own options, and --rounds, --max-time, --output, --help (-h). Throws
// tonari::Error with a sentence, the same on all ranks.
void read_options(int argc, char** argv, std::vector<Option> own, CommonOptions& common);

template <class Number>
Option number(const char* name, Number& into, long long least, long long most) {
  return {name, [=, &into](const std::string& word) {
            into = static_cast<Number>(whole(word, least, most, dashed(name).c_str()));
          }};
}

}  // namespace bench
