// SPDX-License-Identifier: BSD-3-Clause
#include "planners/patterns/schedule_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <tuple>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "memory/owned.hpp"

namespace tonari {
namespace {

constexpr std::uint64_t comment_bytes = 4096;  // that any file may have
constexpr std::uint64_t most_bytes_of_all = std::uint64_t{1} << 30;

template <class... Parts>
[[noreturn]] void refuse(const std::string& name, const Parts&... parts) {
  fail(Errc::file, "the schedule '", name, "' cannot be used: ", parts...);
}

[[noreturn]] void refuse_size(const ScheduleQuestion& question, std::uint64_t bytes) {
  refuse(question.name, "it has ", bytes,
         " bytes or more, and a schedule for this neighborhood has ", question.most_bytes,
         " at most; name the file that was written for this pattern");
}

// The bytes of a file one after the other, through a buffer whose pieces are the same however the
// system cuts what it reads.
class Bytes {
 public:
  static constexpr int end = -1;

  Bytes(const ScheduleQuestion& question, const ReadBytes& read)
      : question_(question), read_(read), buffer_(1 << 16) {}

  int peek() {
    if (at_ == filled_ && !ended_) refill();
    return at_ == filled_ ? end : static_cast<unsigned char>(buffer_[at_]);
  }
  void skip() { ++at_; }
  // once the end was seen
  std::uint64_t fingerprint() const { return hash_.value(); }

 private:
  void refill() {
    at_ = filled_ = 0;
    while (filled_ < buffer_.size() && !ended_) {
      const std::size_t more = read_(std::span(buffer_).subspan(filled_));
      ended_ = more == 0;
      filled_ += more;
    }
    all_ += filled_;
    if (all_ > question_.most_bytes) refuse_size(question_, all_);
    hash_.bytes({buffer_.data(), filled_});
  }

  const ScheduleQuestion& question_;
  const ReadBytes& read_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, filled_ = 0;
  std::uint64_t all_ = 0;
  bool ended_ = false;
  Hash hash_;
};

class ScheduleParser {
 public:
  ScheduleParser(const ScheduleQuestion& question, const ReadBytes& read)
      : question_(question), bytes_(question, read) {}

  OwnSchedule read() {
    expect("tonari schedule 1\n",
           "the first line must be 'tonari schedule 1', as `tonari share "
           "--schedule` writes it");
    skip_comments();
    expect("ranks ", "'ranks' and their number must come here");
    if (const auto ranks = number("the number of ranks"); ranks != question_.ranks)
      wrong("it is for ", ranks, " ranks, and the neighborhood has ", question_.ranks,
            "; name the file that was written for this pattern");
    end_line("the number of ranks");
    for (skip_comments(); bytes_.peek() != Bytes::end; skip_comments()) read_message();
    own_.fingerprint = bytes_.fingerprint();
    return std::move(own_);
  }

 private:
  struct Message {
    std::int32_t stage, from, to;
  };

  template <class... Parts>
  [[noreturn]] void wrong(const Parts&... parts) {
    refuse(question_.name, "line ", line_, ": ", parts...);
  }
  // The next byte is not what it must be.
  template <class... Parts>
  [[noreturn]] void unexpected(const Parts&... parts) {
    if (bytes_.peek() == Bytes::end)
      wrong("the file ends here, in the middle of a line; write it again, it was cut off");
    wrong(parts...);
  }

  void expect(std::string_view words, const char* otherwise) {
    for (const char c : words) {
      if (bytes_.peek() != static_cast<unsigned char>(c)) unexpected(otherwise);
      bytes_.skip();
      line_ += c == '\n';
    }
  }
  void end_line(const char* behind) {
    if (bytes_.peek() != '\n') unexpected("the line must end behind ", behind);
    bytes_.skip();
    ++line_;
  }
  void skip_comments() {
    while (bytes_.peek() == '#') {
      while (bytes_.peek() != '\n' && bytes_.peek() != Bytes::end) bytes_.skip();
      end_line("a comment");
    }
  }

  std::int32_t number(const char* what) {
    const auto is_digit = [&] { return bytes_.peek() >= '0' && bytes_.peek() <= '9'; };
    if (!is_digit()) unexpected(what, " must come here, as a whole number");
    std::int64_t value = 0;
    bool first = true;
    for (; is_digit(); first = false) {
      if (!first && value == 0) wrong("a number must not begin with a zero");
      value = 10 * value + (bytes_.peek() - '0');
      if (value > INT32_MAX) wrong(what, " is larger than ", INT32_MAX);
      bytes_.skip();
    }
    return static_cast<std::int32_t>(value);
  }
  std::int32_t rank(const char* what) {
    const std::int32_t value = number(what);
    if (value >= question_.ranks)
      wrong(what, " is ", value, ", and ranks go from 0 to ", question_.ranks - 1);
    return value;
  }

  void read_message() {
    Message m{};
    m.stage = number("the stage of a message");
    if (m.stage >= most_schedule_stages)
      wrong("stage ", m.stage, " is too high; stages go from 0 to ", most_schedule_stages - 1);
    expect(" ", "a space must come behind the stage");
    m.from = rank("the sender");
    expect(" ", "a space must come behind the sender");
    m.to = rank("the receiver");
    if (m.from == m.to) wrong("rank ", m.from, " sends a message to itself");
    expect(":", "a colon must come behind the receiver");
    const std::tuple place(m.stage, m.from, m.to);
    if (place <= last_)
      wrong("messages must ascend by stage, sender and receiver, each of them once");
    last_ = place;
    read_blocks(m);
    end_line("the blocks");
  }

  void read_blocks(const Message& m) {
    std::pair<std::int32_t, std::int32_t> last{-1, -1};
    do {
      expect(" ", "a space must come before each block");
      const std::int32_t origin = rank("the origin of a block");
      expect("-", "a block is its origin, a dash and its target");
      const std::int32_t target = rank("the target of a block");
      const std::pair block(origin, target);
      if (block <= last) wrong("blocks must ascend by origin and target, each of them once");
      last = block;
      check_block(m, origin, target);
      const PairHop hop{m.stage, m.from, m.to, origin, target};
      if (m.from == question_.rank) own_.out.push_back(hop);
      if (m.to == question_.rank) own_.in.push_back(hop);
    } while (bytes_.peek() == ' ');
  }

  void check_block(const Message& m, std::int32_t origin, std::int32_t target) {
    if (origin == target) wrong("block ", origin, "-", target, " begins where it is to end");
    if (m.from == target) wrong("block ", origin, "-", target, " leaves its target again");
    if (m.to == origin) wrong("block ", origin, "-", target, " comes back to its origin");
  }

  const ScheduleQuestion& question_;
  Bytes bytes_;
  std::uint64_t line_ = 1;
  std::tuple<std::int32_t, std::int32_t, std::int32_t> last_{-1, -1, -1};  // message
  OwnSchedule own_;
};

std::uint64_t digits(std::uint64_t value) { return std::to_string(value).size(); }

}  // namespace

std::uint64_t most_schedule_bytes(int ranks, std::uint64_t pairs) {
  const auto others = static_cast<std::uint64_t>(std::max(ranks - 1, 0));
  const std::uint64_t rank = digits(others), stage = digits(most_schedule_stages);
  const std::uint64_t hop = (stage + 2 * rank + 4) + (2 * rank + 2);  // a message for each
  const std::uint64_t hops =
      std::min<std::uint64_t>(others, static_cast<std::uint64_t>(most_schedule_stages));
  if (hops > 0 && pairs > most_bytes_of_all / hops) return most_bytes_of_all;
  return std::min(comment_bytes + pairs * hops * hop, most_bytes_of_all);
}

OwnSchedule read_schedule(const ScheduleQuestion& question, const ReadBytes& read) {
  return ScheduleParser(question, read).read();
}

OwnSchedule read_schedule_file(const ScheduleQuestion& question) {
  // a pipe without a writer is not waited for
  const OpenFile file(::open(question.name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  const auto system_refuses = [&](const char* what) {
    refuse(question.name, what, ": ", std::strerror(errno));
  };
  if (!file) system_refuses("it cannot be opened");
  struct stat about{};
  if (::fstat(file.descriptor(), &about) != 0) system_refuses("it cannot be looked at");
  if (!S_ISREG(about.st_mode)) refuse(question.name, "it is no regular file");
  if (static_cast<std::uint64_t>(about.st_size) > question.most_bytes)
    refuse_size(question, static_cast<std::uint64_t>(about.st_size));
  return read_schedule(question, [&](std::span<char> bytes) {
    for (;;) {
      const ssize_t more = ::read(file.descriptor(), bytes.data(), bytes.size());
      if (more >= 0) return static_cast<std::size_t>(more);
      if (errno != EINTR) system_refuses("it cannot be read");
    }
  });
}

}  // namespace tonari
