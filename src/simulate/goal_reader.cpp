// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <unordered_map>

#include "base/classic.hpp"
#include "base/error.hpp"
#include "simulate/goal.hpp"
#include "simulate/schedule_builder.hpp"

namespace tonari::sim {
namespace {

bool begins_a_label(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

constexpr std::uint64_t most_nanoseconds = longest_time / nanosecond / 4;
constexpr std::uint64_t most_ranks = (std::uint64_t{1} << 30) - 1;

// Words and signs, with the ends of lines, which end statements.
class Words {
 public:
  Words(std::string_view text, const std::string& name) : rest_(text), name_(name) { next(); }

  std::string_view word() const { return word_; }  // "\n": end of a line; empty: of the file
  bool is(std::string_view word) const { return word_ == word; }

  void next() {
    if (is("\n")) ++line_;
    skip();
    if (rest_.empty()) {
      word_ = {};
      return;
    }
    const std::size_t length = in_word(rest_[0]) ? rest_.find_first_of(" \t\r\n:{}/") : 1;
    word_ = rest_.substr(0, in_word(rest_[0]) ? length : 1);
    rest_.remove_prefix(word_.size());
  }
  bool take(std::string_view word) {
    if (!is(word)) return false;
    next();
    return true;
  }
  void must(std::string_view word) {
    if (!take(word)) wrong(text("'", word == "\n" ? "end of line" : word, "' is expected"));
  }
  void lines() {
    while (take("\n")) {
    }
  }
  std::uint64_t number(std::string_view what, std::uint64_t most) {
    std::uint64_t value = 0;
    const auto [end, status] = std::from_chars(word_.data(), word_.data() + word_.size(), value);
    // "8b" is a number and a word
    if (status != std::errc() || value > most || (end == word_.data()))
      wrong(text(what, " must be a number from 0 to ", most));
    const std::string_view behind(end, static_cast<std::size_t>(word_.data() + word_.size() - end));
    if (behind.empty())
      next();
    else
      word_ = behind;
    return value;
  }
  std::string_view label() {
    const std::string_view found = word_;
    if (found.empty() || !begins_a_label(found[0])) wrong("a label such as l1 is expected");
    next();
    return found;
  }
  [[noreturn]] void wrong(const std::string& what) const {
    std::string shown(word_.substr(0, 20));
    for (char& c : shown)
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
    fail(Errc::file, name_, ": line ", line_, ": ", what,
         is("\n")        ? ", and the line ends"
         : word_.empty() ? ", and the file ends"
                         : ", not '" + shown + "'");
  }

 private:
  static bool in_word(char c) {
    return std::string_view(" \t\r\n:{}/").find(c) == std::string_view::npos;
  }
  void skip() {
    for (;;) {
      const std::size_t blank = rest_.find_first_not_of(" \t\r");
      rest_.remove_prefix(blank == std::string_view::npos ? rest_.size() : blank);
      if (rest_.starts_with("//")) {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else if (rest_.starts_with("/*")) {
        const std::size_t end = rest_.find("*/");
        const std::string_view comment = rest_.substr(0, end);
        line_ += static_cast<std::size_t>(std::count(comment.begin(), comment.end(), '\n'));
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 2);
      } else {
        return;
      }
    }
  }

  std::string_view rest_, word_;
  const std::string& name_;
  std::size_t line_ = 1;
};

class GoalReader {
 public:
  GoalReader(std::string_view text, const std::string& name) : words_(text, name) {}

  Schedule read() {
    builder_.schedule().matched = false;
    words_.lines();
    words_.must("num_ranks");
    ranks_ = words_.number("num_ranks", most_ranks);
    if (ranks_ == 0) words_.wrong("num_ranks must be at least 1");
    for (std::uint64_t rank = 0; rank < ranks_; ++rank) {
      words_.lines();
      words_.must("rank");
      if (words_.number("a rank", most_ranks) != rank)
        words_.wrong(text("ranks must come in order, and rank ", rank, " is next"));
      words_.lines();
      words_.must("{");
      read_rank();
    }
    words_.lines();
    if (!words_.word().empty()) words_.wrong("all ranks are there, and nothing more is expected");
    return builder_.take();
  }

 private:
  void read_rank() {
    labels_.clear();
    for (words_.lines(); !words_.take("}"); words_.lines()) read_statement();
    builder_.end_rank();
  }

  void read_statement() {
    if (read_operation()) return;
    const std::string_view label = words_.label();
    if (words_.take(":")) {
      if (!labels_.emplace(label, builder_.steps_of_rank()).second)
        words_.wrong(text("label ", label, " is given twice"));
      if (!read_operation()) words_.wrong("send, recv or calc is expected");
      return;
    }
    const bool started = words_.is("irequires");
    if (!started && !words_.is("requires")) words_.wrong("':', requires or irequires is expected");
    words_.next();
    const std::uint32_t later = find(label);
    builder_.require(later, find(words_.label()), started);
    end_statement();
  }

  std::uint32_t find(std::string_view label) const {
    const auto found = labels_.find(label);
    if (found == labels_.end()) words_.wrong(text("label ", label, " is not defined before"));
    return found->second;
  }

  bool read_operation() {
    const bool sends = words_.is("send"), receives = words_.is("recv");
    if (words_.take("calc")) {
      builder_.add(Act::calc, words_.number("a calculation", most_nanoseconds) * nanosecond);
      read_options();
      end_statement();
      return true;
    }
    if (!sends && !receives) return false;
    words_.next();
    const std::uint64_t size = words_.number("a size", std::uint64_t{1} << 62);
    words_.must("b");
    words_.must(sends ? "to" : "from");
    const std::uint32_t peer =
        receives && words_.take("-1")
            ? any
            : static_cast<std::uint32_t>(words_.number("a rank", ranks_ - 1));
    const std::uint32_t tag = read_tag();
    builder_.add(sends ? Act::send : Act::recv, size, peer, tag);
    read_options();
    end_statement();
    return true;
  }
  std::uint32_t read_tag() {
    if (!words_.take("tag")) return 0;
    return words_.take("-1") ? any : static_cast<std::uint32_t>(words_.number("a tag", any - 1));
  }
  void read_options() {
    for (const char* option : {"cpu", "nic"})
      if (words_.take(option) && words_.number(option, 255) != 0)
        words_.wrong("a rank has one processor and one interface, so cpu and nic must be 0");
  }
  void end_statement() {
    if (!words_.is("}")) words_.must("\n");
  }

  Words words_;
  std::uint64_t ranks_ = 0;
  ScheduleBuilder builder_;
  std::unordered_map<std::string_view, std::uint32_t> labels_;
};

}  // namespace

Schedule read_goal(const std::string& text, const std::string& name) {
  return GoalReader(text, name).read();
}

Schedule read_goal_file(const std::string& path) {
  Classic<std::ifstream> in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in.is_open() || in.bad())
    fail(Errc::file, path, ": cannot be read; name a readable file with a GOAL schedule");
  return read_goal(text, path);
}

}  // namespace tonari::sim
