// SPDX-License-Identifier: BSD-3-Clause
#include "option_table.hpp"

#include <getopt.h>

#include <algorithm>
#include <string_view>

#include "base/error.hpp"
#include "base/nearest_name.hpp"
#include "planners/registry.hpp"

namespace bench {
using tonari::Errc;

namespace {

// getopt gives back the place in the table; 0 and 1 mean other things to it.
constexpr int first_key = 256;

std::vector<option> keys_of(const std::vector<Option>& options) {
  std::vector<option> keys;
  for (std::size_t i = 0; i < options.size(); ++i)
    keys.push_back({options[i].name, options[i].has_value ? required_argument : no_argument,
                    nullptr, first_key + static_cast<int>(i)});
  keys.push_back({nullptr, 0, nullptr, 0});
  return keys;
}

}  // namespace

std::string dashed(const char* name) { return std::string("--") + name; }

Option flag(const char* name, bool& into) {
  return {name, [&into](const std::string&) { into = true; }, false};
}
Option word(const char* name, std::string& into) {
  return {name, [&into](const std::string& word) { into = word; }};
}
Option duration(const char* name, double& into) {
  return {name,
          [=, &into](const std::string& word) { into = seconds(word, dashed(name).c_str()); }};
}

Option numbers(const char* name, std::vector<long long>& into, long long least, long long most) {
  return {name, [=, &into](const std::string& list) {
            into.clear();
            for (const std::string& part : split(list, ','))
              into.push_back(whole(part, least, most, dashed(name).c_str()));
            if (into.empty()) tonari::fail(Errc::argument, dashed(name), " names no number");
          }};
}

// Of an algorithm, or of a vector's route.
static std::string current_name(const std::string& word) {
  constexpr std::string_view vector = "vector/";
  if (!word.starts_with(vector)) return tonari::current_name(word);
  return std::string(vector) + tonari::current_name(word.substr(vector.size()));
}

Option names(const char* name, std::vector<std::string>& into, std::vector<std::string> known,
             const char* what) {
  return {name, [=, &into](const std::string& list) {
            into = split(list, ',');
            std::string all;
            for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
            for (std::string& each : into)
              if (each = current_name(each);
                  std::find(known.begin(), known.end(), each) == known.end())
                tonari::fail(Errc::argument, "unknown ", what, " '", each, "'; there are ", all,
                             tonari::did_you_mean(each, known));
            if (into.empty())
              tonari::fail(Errc::argument, "the list of ", what, "s is empty; there are ", all);
          }};
}

void read_options(int argc, char** argv, std::vector<Option> own, CommonOptions& common) {
  own.insert(own.end(),
             {number("rounds", common.rounds, 1, 10'000'000), duration("max-time", common.max_time),
              word("output", common.output), flag("help", common.help)});
  const std::vector<option> keys = keys_of(own);
  opterr = 0;
  for (int key; (key = getopt_long(argc, argv, "h", keys.data(), nullptr)) != -1;) {
    if (key == 'h')
      common.help = true;
    else if (key < first_key)
      tonari::fail(Errc::argument, "unknown or incomplete option '", argv[optind - 1],
                   "'; --help lists them");
    else
      own[static_cast<std::size_t>(key - first_key)].take(optarg ? optarg : "");
    if (common.help) return;
  }
  if (optind < argc)
    tonari::fail(Errc::argument, "unexpected argument '", argv[optind],
                 "'; --help lists the options");
}

}  // namespace bench
