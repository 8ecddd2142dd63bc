// The command line of a benchmark program: each lists its own options, and here is what all have in
// common.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bench {

// Of every program.
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

Option flag(const char* name, bool& into);

// Of several whole numbers with commas between them; all the same error where there is none.
std::vector<long long> whole_numbers(const std::string& list, long long least, long long most,
                                     const char* what, const char* nothing);

// Takes the program's own options, and --rounds, --max-time, --output, --help (-h). Throws
// tonari::Error with a sentence, the same on all ranks.
void read_options(int argc, char** argv, std::vector<Option> own, CommonOptions& common);

}  // namespace bench
