#include "option_table.hpp"

#include <getopt.h>

#include "base/error.hpp"
#include "words.hpp"

namespace bench {
using tonari::Errc;

namespace {

void add_common(std::vector<Option>& options, CommonOptions& common) {
  options.push_back({"rounds", [&](const std::string& word) {
                       common.rounds = static_cast<int>(whole(word, 1, 10'000'000, "--rounds"));
                     }});
  options.push_back({"max-time", [&](const std::string& word) {
                       common.max_time = seconds(word, "--max-time");
                     }});
  options.push_back({"output", [&](const std::string& word) { common.output = word; }});
  options.push_back(flag("help", common.help));
}

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

Option flag(const char* name, bool& into) {
  return {name, [&into](const std::string&) { into = true; }, false};
}

std::vector<long long> whole_numbers(const std::string& list, long long least, long long most,
                                     const char* what, const char* nothing) {
  std::vector<long long> numbers;
  for (const std::string& part : split(list, ','))
    numbers.push_back(whole(part, least, most, what));
  if (numbers.empty()) tonari::fail(Errc::argument, nothing);
  return numbers;
}

void read_options(int argc, char** argv, std::vector<Option> own, CommonOptions& common) {
  add_common(own, common);
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
