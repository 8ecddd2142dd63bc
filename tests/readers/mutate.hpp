// SPDX-License-Identifier: BSD-3-Clause
// Random changes of texts: of bytes, of numbers, of parts, and words that are special.
#pragma once

#include <algorithm>
#include <cctype>
#include <random>
#include <string>
#include <vector>

namespace tonari::test {

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string changed(const std::vector<std::string>& examples) {
    std::string text = examples[below(examples.size())];
    for (std::size_t times = below(6); times > 0; --times) change(text, examples);
    return text;
  }

 private:
  void change(std::string& text, const std::vector<std::string>& examples) {
    static const std::string words[] = {"",
                                        "0",
                                        "-1",
                                        "1",
                                        "4294967296",
                                        "18446744073709551616",
                                        "9223372036854775807",
                                        "nan",
                                        "inf",
                                        "1e999",
                                        "1e-999",
                                        "0x10",
                                        "\n",
                                        "\r\n",
                                        "\t",
                                        "=",
                                        "#",
                                        ":",
                                        ",",
                                        "/",
                                        "'",
                                        "(",
                                        "{",
                                        "}",
                                        std::string(1, '\0'),
                                        "\xff",
                                        "\xe2\x88\x9e",
                                        std::string(300, '9')};
    const std::size_t at = below(text.size() + 1), length = below(text.size() - at + 1);
    switch (below(8)) {
      case 0:
        text.erase(at, std::min<std::size_t>(length, 1 + below(8)));
        break;
      case 1:
        text.insert(at, words[below(std::size(words))]);
        break;
      case 2:
        text.insert(at, text.substr(at, length));  // twice
        break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 4:
        text.resize(at);
        break;
      case 5:
        replace_number(text, at, words[below(std::size(words))]);
        break;
      case 6: {
        const std::string& other = examples[below(examples.size())];
        text = text.substr(0, at) + other.substr(below(other.size() + 1));
        break;
      }
      default:
        text.insert(at, 1, static_cast<char>(below(256)));
    }
  }
  void replace_number(std::string& text, std::size_t from, const std::string& by) {
    const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    const auto begin =
        std::find_if(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), digit);
    text.replace(begin, std::find_if_not(begin, text.end(), digit), by);
  }
  std::size_t below(std::size_t bound) { return random_() % bound; }

  std::mt19937 random_;
};

}  // namespace tonari::test
