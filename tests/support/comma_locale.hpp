// SPDX-License-Identifier: BSD-3-Clause
// A locale that writes 1.234,5, as programs in many languages set it.
#pragma once

#include <clocale>
#include <locale>
#include <string>

namespace tonari::test {

// For streams it is there on every machine. For functions of C it must be installed: `of_c` tells.
class CommaLocale {
 public:
  CommaLocale()
      : before_(std::locale::global(std::locale(std::locale::classic(), new Commas))),
        of_c_before_(std::setlocale(LC_ALL, nullptr)) {
    for (const char* name : {"de_DE.utf8", "de_DE.UTF-8", "fr_FR.utf8", "pt_BR.utf8", "tr_TR.utf8"})
      if (std::setlocale(LC_ALL, name)) break;
    of_c = std::string(std::localeconv()->decimal_point) == ",";
  }
  ~CommaLocale() {
    std::setlocale(LC_ALL, of_c_before_.c_str());
    std::locale::global(before_);
  }
  CommaLocale(const CommaLocale&) = delete;
  CommaLocale& operator=(const CommaLocale&) = delete;

  bool of_c = false;

 private:
  struct Commas : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::locale before_;
  std::string of_c_before_;
};

}  // namespace tonari::test
