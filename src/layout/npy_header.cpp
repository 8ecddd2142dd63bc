// SPDX-License-Identifier: BSD-3-Clause
#include "layout/npy_header.hpp"

#include <charconv>

#include "base/error.hpp"

namespace tonari {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t most = 1 << 20;  // bytes of a header that describes one array

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Reads {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } in any order and spacing.
class Dictionary {
 public:
  explicit Dictionary(std::string_view text) : text_(text) {}

  NpyHeader read() {
    NpyHeader header;
    int seen = 0;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr")
        header.type = quoted(), seen |= 1;
      else if (key == "fortran_order")
        header.fortran_order = truth(), seen |= 2;
      else if (key == "shape")
        header.shape = tuple(), seen |= 4;
      else
        fail(Errc::file, "its header has an entry '", key, "', which .npy files do not have");
      take(',');
    }
    if (seen != 7) fail(Errc::file, "its header lacks one of 'descr', 'fortran_order' and 'shape'");
    return header;
  }

 private:
  void skip() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n'))
      text_.remove_prefix(1);
  }
  bool take(char c) {
    skip();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c))
      fail(Errc::file, "its header should have '", std::string(1, c), "' before '",
           std::string(text_.substr(0, 20)), "'");
  }
  std::string quoted() {
    skip();
    const char quote = text_.empty() ? 0 : text_.front();
    if (quote != '\'' && quote != '"')
      fail(Errc::file, "its header should have a quoted word before '",
           std::string(text_.substr(0, 20)), "' (structured types are not read)");
    const std::size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos)
      fail(Errc::file, "its header has a quotation mark without an end");
    std::string word(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return word;
  }
  bool truth() {
    skip();
    for (const bool value : {true, false})
      if (const std::string_view word = value ? "True" : "False"; text_.starts_with(word))
        return text_.remove_prefix(word.size()), value;
    fail(Errc::file, "its header's fortran_order is neither True nor False");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> numbers;
    expect('(');
    while (!take(')')) {
      skip();
      std::int64_t number = -1;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
      if (error != std::errc() || number < 0)
        fail(Errc::file, "its header's shape is no list of numbers");
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      numbers.push_back(number);
      take(',');
    }
    return numbers;
  }

  std::string_view text_;
};

}  // namespace

std::string write_npy_header(const std::string& type, bool fortran_order,
                             const std::vector<std::int64_t>& shape) {
  std::string dictionary = "{'descr': '" + type +
                           "', 'fortran_order': " + (fortran_order ? "True" : "False") +
                           ", 'shape': (";
  for (std::size_t k = 0; k < shape.size(); ++k)
    dictionary += std::to_string(shape[k]) + (k + 1 < shape.size() ? ", "
                                              : shape.size() == 1  ? ","
                                                                   : "");
  dictionary += "), }";
  const std::size_t before = magic.size() + 4;
  dictionary.append((64 - (before + dictionary.size() + 1) % 64) % 64, ' ');
  dictionary += '\n';
  std::string header(magic);
  header += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xff),
             static_cast<char>(dictionary.size() >> 8)};
  return header + dictionary;
}

std::size_t npy_header_bytes(std::string_view prefix) {
  if (prefix.size() < magic.size() + 4 || !prefix.starts_with(magic))
    fail(Errc::file, "it is no .npy file: it does not begin with the magic word");
  const int version = prefix[6];
  if (version < 1 || version > 3)
    fail(Errc::file, "it has version ", version, " of the .npy format; versions 1 to 3 are read");
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  if (prefix.size() < 8 + length_bytes) fail(Errc::file, "it ends within its header");
  const std::size_t bytes = 8 + length_bytes + little_endian(prefix.substr(8, length_bytes));
  if (bytes > most)
    fail(Errc::file, "its header claims ", bytes, " bytes, more than any array needs");
  return bytes;
}

NpyHeader read_npy_header(std::string_view begin) {
  const std::size_t bytes = npy_header_bytes(begin);
  if (begin.size() < bytes) fail(Errc::file, "it ends within its header");
  const std::size_t before = begin[6] == 1 ? 10 : 12;
  NpyHeader header = Dictionary(begin.substr(before, bytes - before)).read();
  header.bytes = bytes;
  return header;
}

}  // namespace tonari
