// SPDX-License-Identifier: BSD-3-Clause
// Options of the examples with grids: --name value, or --name alone for switches.
#pragma once

#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

// The same on all ranks, so one of them says it.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Options {
 public:
  void add(const std::string& name, int& number, int least) {
    options_[name] = {
        true, [=, &number](const std::string& value) {
          char* rest = nullptr;
          const long read = std::strtol(value.c_str(), &rest, 10);
          if (value.empty() || *rest || read < least || read > 1 << 30)
            throw UsageError(name + " wants a whole number of at least " + std::to_string(least));
          number = static_cast<int>(read);
        }};
  }
  void add(const std::string& name, std::string& word) {
    options_[name] = {true, [&word](const std::string& value) { word = value; }};
  }
  void add(const std::string& name, std::vector<std::string>& words) {
    options_[name] = {true, [&words](const std::string& value) {
                        words.clear();
                        std::istringstream parts(value);
                        for (std::string part; std::getline(parts, part, ',');)
                          words.push_back(part);
                      }};
  }
  void add(const std::string& name, bool& on) {
    options_[name] = {false, [&on](const std::string&) { on = true; }};
  }

  void parse(int argc, char** argv) const {
    for (int i = 1; i < argc; ++i) {
      const auto option = options_.find(argv[i]);
      if (option == options_.end())
        throw UsageError("unknown option " + std::string(argv[i]) + "; there are" + names());
      if (option->second.has_value && i + 1 == argc)
        throw UsageError(option->first + " wants a value");
      option->second.set(option->second.has_value ? argv[++i] : "");
    }
  }

 private:
  struct Option {
    bool has_value;
    std::function<void(const std::string&)> set;
  };
  std::string names() const {
    std::string all;
    for (const auto& [name, option] : options_) all += " " + name;
    return all;
  }
  std::map<std::string, Option> options_;
};
