// SPDX-License-Identifier: BSD-3-Clause
#include "select/cache.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <map>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/lasting.hpp"
#include "base/setting_table.hpp"
#include "memory/owned.hpp"
#include "memory/whole_file.hpp"
#include "select/machine_words.hpp"

namespace tonari {
namespace {

constexpr std::string_view version_line = "tonari cache 1";
constexpr std::size_t most_entries = 10'000;
constexpr std::size_t longest_line = 64 * 1024;
constexpr std::int64_t largest_file = 64 << 20;  // more was not written by put
constexpr auto longest_wait = std::chrono::seconds(10);

bool is_directory(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool make_directories(const std::string& path) {
  if (is_directory(path)) return true;
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    // it may be there all the same
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
      return false;
    if (end == std::string::npos) break;
  }
  return is_directory(path);
}

// Waits for the lock, but not forever: some file systems have no locks and a holder may be stopped.
// Without it an entry may get lost, no more.
OpenFile lock(const std::string& path) {
  OpenFile file(::open(path.c_str(),
                       O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  const auto give_up = std::chrono::steady_clock::now() + longest_wait;
  while (file && ::flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || std::chrono::steady_clock::now() > give_up)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return file;
}

bool clean(std::string_view word) {
  return std::none_of(word.begin(), word.end(),
                      [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}
bool acceptable(std::string_view key, std::string_view value) {
  return !key.empty() && key.size() + value.size() + 2 <= longest_line && clean(key) &&
         clean(value);
}

struct Entry {
  std::string_view key, value;
};

// Well-formed entries in the order of the file. A line without its newline was cut off.
std::vector<Entry> parse(std::string_view content) {
  std::vector<Entry> entries;
  bool first = true;
  for (std::size_t end; (end = content.find('\n')) != content.npos;
       content.remove_prefix(end + 1)) {
    const std::string_view line = content.substr(0, end);
    if (std::exchange(first, false)) {
      if (line != version_line) return entries;
      continue;
    }
    const std::size_t tab = line.find('\t');
    if (tab == line.npos) continue;
    const Entry entry{line.substr(0, tab), line.substr(tab + 1)};
    if (acceptable(entry.key, entry.value)) entries.push_back(entry);
  }
  return entries;
}

// The newest entry of every key, at most most_entries.
std::string compose(const std::vector<Entry>& entries) {
  std::unordered_set<std::string_view> seen;
  std::vector<Entry> kept;
  for (auto entry = entries.rbegin(); entry != entries.rend() && kept.size() < most_entries;
       ++entry)
    if (seen.insert(entry->key).second) kept.push_back(*entry);
  std::string content(version_line);
  content += '\n';
  for (auto entry = kept.rbegin(); entry != kept.rend(); ++entry)
    content.append(entry->key).append("\t").append(entry->value).append("\n");
  return content;
}

}  // namespace

std::string cache_directory() {
  const std::pair<const char*, const char*> places[] = {{setting("TONARI_CACHE_DIR").variable, ""},
                                                        {"XDG_CACHE_HOME", "/tonari"},
                                                        {"HOME", "/.cache/tonari"}};
  for (const auto& [variable, below] : places) {
    const char* const value = std::getenv(variable);
    if (!value || *value == '\0') continue;
    // the XDG specification: a relative path is to be ignored
    if (*below && *value != '/') continue;
    const std::string path = std::string(value) + below;
    return make_directories(path) ? path : "";
  }
  return "";
}

std::optional<std::string> wrong_cache_directory() {
  const Setting& row = setting("TONARI_CACHE_DIR");
  const auto path = in_environment(row);
  if (!path || make_directories(*path)) return std::nullopt;
  return text(row.variable, " is '", *path, "', which is no directory and cannot be made one (",
              std::generic_category().message(errno),
              "); name one where this process may write, or "
              "nothing that is measured will be remembered");
}

CacheFile::CacheFile(std::string directory, std::string name)
    : path_(directory.empty() ? "" : std::move(directory) + "/" + std::move(name)) {}

namespace {

// A file as it was when this process last read it, so that it is not read for every question.
class LastRead {
 public:
  std::optional<std::string> get(const std::string& path, const std::string& key) {
    struct stat now;
    if (::stat(path.c_str(), &now) != 0) return std::nullopt;
    if (!at_rest_ || !is(now)) read(path);
    const auto found = newest_.find(key);
    return found != newest_.end() ? std::optional(found->second) : std::nullopt;
  }

 private:
  static bool same(const timespec& a, const timespec& b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
  }
  bool is(const struct stat& now) const {
    return now.st_dev == status_.st_dev && now.st_ino == status_.st_ino &&
           now.st_size == status_.st_size && same(now.st_mtim, status_.st_mtim) &&
           same(now.st_ctim, status_.st_ctim);
  }
  void read(const std::string& path) {
    newest_.clear(), at_rest_ = false;
    const std::optional<std::string> content = read_file(path, largest_file, status_);
    if (!content) return;
    for (const Entry& entry : parse(*content))
      newest_.insert_or_assign(std::string(entry.key), std::string(entry.value));
    // What changes once more within a tick of the file system's clock may look the same.
    at_rest_ = ::time(nullptr) - status_.st_mtim.tv_sec > 1;
  }

  struct stat status_ = {};
  bool at_rest_ = false;
  std::unordered_map<std::string, std::string> newest_;
};

struct LastReads {
  std::mutex mutex;
  std::map<std::string, LastRead> of;  // by path
};

LastReads& last_reads() { return lasting<LastReads>(); }

}  // namespace

std::optional<std::string> CacheFile::get(const std::string& key) const {
  if (path_.empty()) return std::nullopt;
  const std::lock_guard lock(last_reads().mutex);
  return last_reads().of[path_].get(path_, key);
}

bool CacheFile::put(const std::string& key, const std::string& value) const {
  if (path_.empty() || !acceptable(key, value)) return false;
  const OpenFile locked = lock(path_ + ".lock");
  const std::string content = read_file(path_, largest_file).value_or("");
  std::vector<Entry> entries = parse(content);
  entries.push_back({key, value});
  return replace_file(path_, compose(entries));
}

namespace {

struct Parameter {
  const char* name;
  double LogGP::* time;
  bool needed = true;
  bool may_be_zero = false;
};
constexpr Parameter parameters[] = {{"L", &LogGP::L},
                                    {"o", &LogGP::o},
                                    {"g", &LogGP::g},
                                    {"G", &LogGP::G},
                                    {"copy_block", &LogGP::copy_block},
                                    {"copy_byte", &LogGP::copy_byte},
                                    {"typed_block", &LogGP::typed_block},
                                    {"rendezvous", &LogGP::rendezvous, true, true},
                                    {"shared_latency", &LogGP::shared_latency, false},
                                    {"shared_overhead", &LogGP::shared_overhead, false},
                                    {"shared_byte", &LogGP::shared_byte, false, true},
                                    {"copy_beyond", &LogGP::copy_beyond, false},
                                    {"start", &LogGP::start, false, true},
                                    {"node_latency", &LogGP::node_latency, false},
                                    {"node_overhead", &LogGP::node_overhead, false},
                                    {"node_gap", &LogGP::node_gap, false},
                                    {"node_byte", &LogGP::node_byte, false},
                                    {"node_rendezvous", &LogGP::node_rendezvous, false, true},
                                    {"core_switch", &LogGP::core_switch, false}};
struct Number {
  const char* name;
  std::size_t LogGP::* count;
  std::size_t most;
  const char* of;
};
constexpr Number numbers[] = {{"eager", &LogGP::eager, std::size_t{1} << 30, "bytes "},
                              {"node_eager", &LogGP::node_eager, std::size_t{1} << 30, "bytes "},
                              {"cache", &LogGP::cache, std::size_t{1} << 40, "bytes "},
                              {"ranks_per_core", &LogGP::ranks_per_core, std::size_t{1} << 20, ""}};
constexpr double longest_time = 10;             // seconds
constexpr const char* otherwise = "otherwise";  // where missing parameters come from
constexpr const char* generic = "generic";

template <class Number>
// the shortest text that reads back as the same number, in no locale
std::string number(Number value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}
template <class Number>
bool read_number(const std::string& word, Number& value) {
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  return status == std::errc() && end == word.data() + word.size();
}

// Sets one parameter. Returns what is wrong, or nothing.
std::string set(LogGP& machine, const std::string& name, const std::string& value) {
  if (is_of_simulations(name)) return "";  // they read the file once more
  if (name == otherwise)
    return value == generic ? ""
                            : text(otherwise, " is ", in_quotes(value), "; it must be ", generic);
  for (const Number& row : numbers) {
    if (name != row.name) continue;
    std::size_t& count = machine.*row.count;
    const bool good = read_number(value, count) && count >= 1 && count <= row.most;
    return good ? ""
                : text(name, " is ", in_quotes(value), "; it must be a whole number ",
                       *row.of ? "of " : "", row.of, "from 1 to ", row.most);
  }
  for (const Parameter& parameter : parameters) {
    if (name != parameter.name) continue;
    double& time = machine.*parameter.time;
    const bool good = read_number(value, time) && std::isfinite(time) && time < longest_time &&
                      (time > 0 || (parameter.may_be_zero && time == 0));
    if (good) return "";
    return text(name, " is ", in_quotes(value), "; it must be a time in seconds, ",
                parameter.may_be_zero ? "at least" : "above", " 0 and below ", longest_time);
  }
  return text(
      in_quotes(name),
      " is no machine parameter; there are L, o, g, G, copy_block, copy_byte, typed_block, "
      "eager, rendezvous, shared_latency, shared_overhead, shared_byte, copy_beyond, cache, "
      "start, node_latency, node_overhead, node_gap, node_byte, node_eager, node_rendezvous, "
      "core_switch and ranks_per_core");
}

// Returns what is wrong with the text, or nothing.
std::string parse_machine(const std::string& source, LogGP& machine) {
  const std::vector<std::string> list = machine_words(source);
  std::unordered_set<std::string> given;
  for (std::size_t k = 0; k < list.size(); k += 2) {
    if (k + 1 == list.size())
      return in_quotes(list[k]) + " has no value; write name=value, for example L=1e-6";
    if (std::string wrong = set(machine, list[k], list[k + 1]); !wrong.empty()) return wrong;
    if (!given.insert(list[k]).second) return list[k] + " is given twice";
  }
  if (given.contains(otherwise)) return "";  // what is missing stays that of the generic machine
  for (const Parameter& parameter : parameters)
    if (parameter.needed && !given.contains(parameter.name))
      return text(parameter.name, " is missing; give it in seconds, for example ", parameter.name,
                  "=1e-6, or write ", otherwise, "=", generic,
                  " to take what is missing from the generic machine");
  return given.contains("eager")
             ? ""
             : text("eager is missing; give it in bytes, for example eager=4096, or write ",
                    otherwise, "=", generic, " to take what is missing from the generic machine");
}

}  // namespace

std::string to_text(const LogGP& machine) {
  std::string line;
  constexpr LogGP usual;
  for (const Parameter& parameter : parameters)
    if (usual.*parameter.time > 0 || machine.*parameter.time != usual.*parameter.time)
      line += text(parameter.name, "=", number(machine.*parameter.time), " ");
  for (const Number& row : numbers)  // eager is always known, and last
    if (machine.*row.count != usual.*row.count && row.count != &LogGP::eager)
      line += text(row.name, "=", number(machine.*row.count), " ");
  return line + "eager=" + number(machine.eager);
}

std::optional<LogGP> loggp_from_text(const std::string& text) {
  LogGP machine;
  return parse_machine(text, machine).empty() ? std::optional(machine) : std::nullopt;
}

LogGP read_machine_file(const std::string& path) {
  constexpr std::int64_t largest = 64 * 1024;
  const std::optional<std::string> content = read_file(path, largest);
  if (!content)
    fail(Errc::file, "machine file '", path,
         "' cannot be read: it must be a readable file of at most ", largest / 1024, " KiB");
  LogGP machine;
  if (const std::string wrong = parse_machine(*content, machine); !wrong.empty())
    fail(Errc::file, "machine file '", path, "': ", wrong);
  return machine;
}

}  // namespace tonari
