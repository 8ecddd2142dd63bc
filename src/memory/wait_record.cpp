// SPDX-License-Identifier: BSD-3-Clause
#include "memory/wait_record.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <mutex>
#include <string_view>

#include "base/lasting.hpp"
#include "memory/owned.hpp"
#include "memory/process.hpp"

namespace tonari {
namespace {

constexpr const char* file_name = "tonari-waits";
constexpr std::string_view link_begins = "/memfd:tonari-waits";
constexpr std::uint64_t record_version = 0x746F'6E61'7269'0101;

struct Shown {
  std::uint64_t version = 0;
  WaitRecord record;
};

// Threads may wait side by side: the last one's word counts. Never destroyed, as programs may wait
// until they end; the system closes the file.
struct Own {
  std::mutex mutex;
  OpenFile file;
  std::int64_t process = 0;  // that made it: a child by fork() shows nothing of its own
};
Own& own() { return lasting<Own>(); }

// Looks at one entry of /proc/<process>/fd.
std::optional<WaitRecord> read_if_shown(int directory, const char* entry) {
  char target[64];
  const ssize_t length = ::readlinkat(directory, entry, target, sizeof target);
  if (length < 0 ||
      !std::string_view(target, static_cast<std::size_t>(length)).starts_with(link_begins))
    return std::nullopt;
  const OpenFile file(::openat(directory, entry, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  Shown shown;
  if (!file || ::pread(file.descriptor(), &shown, sizeof shown, 0) != sizeof shown ||
      shown.version != record_version)
    return std::nullopt;
  shown.record.exchange.back() = 0;
  return shown.record;
}

}  // namespace

double steady_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void show_wait(const WaitRecord& record) noexcept {
  const std::lock_guard lock(own().mutex);
  if (own().process != this_process())
    own().file = OpenFile(::memfd_create(file_name, MFD_CLOEXEC)), own().process = this_process();
  const Shown shown{record_version, record};
  // whoever reads meanwhile may see a part of it: a report, no more
  if (own().file && ::pwrite(own().file.descriptor(), &shown, sizeof shown, 0) < 0)
    own().file.close();
}

void hide_wait() noexcept {
  const std::lock_guard lock(own().mutex);
  own().file.close();
  own().process = 0;
}

std::optional<WaitRecord> shown_wait(std::int64_t process) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%lld/fd", static_cast<long long>(process));
  DIR* const all = ::opendir(path);
  if (!all) return std::nullopt;
  std::optional<WaitRecord> found;
  while (const dirent* const entry = found ? nullptr : ::readdir(all))
    found = read_if_shown(::dirfd(all), entry->d_name);
  ::closedir(all);
  return found;
}

char process_state(std::int64_t process) noexcept {
  char path[64], line[512];
  std::snprintf(path, sizeof path, "/proc/%lld/stat", static_cast<long long>(process));
  const OpenFile file(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t length = file ? ::read(file.descriptor(), line, sizeof line - 1) : 0;
  if (length <= 0) return 0;
  line[length] = 0;
  // the name before it may contain anything, brackets too
  const char* const bracket = std::strrchr(line, ')');
  return bracket && bracket[1] == ' ' ? bracket[2] : char{0};
}

}  // namespace tonari
