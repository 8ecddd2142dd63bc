// SPDX-License-Identifier: BSD-3-Clause
#include "memory/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "base/hash.hpp"

namespace tonari {
namespace {

// The kernel draws it when it boots. Machines that are copies of a running one have the same, so
// the name counts, too.
std::uint64_t read_system() {
  char boot[64] = "";
  const int file = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = ::read(file, boot, sizeof boot);
  ::close(file);
  struct stat processes{};
  utsname names{};
  if (length <= 0 || ::stat("/proc/self/ns/pid", &processes) != 0 || ::uname(&names) != 0) return 0;
  return Hash()
             .bytes(std::string_view(boot, static_cast<std::size_t>(length)))
             .word(processes.st_dev)
             .word(processes.st_ino)
             .bytes(names.nodename)
             .value() |
         1;
}

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434  // on every architecture; Linux 5.3
#endif

constexpr std::uint64_t over = std::numeric_limits<std::uint64_t>::max();

bool is_number(std::int64_t process) {
  return process > 0 && process <= std::numeric_limits<pid_t>::max();
}

bool number_in_use(std::int64_t process) {
  return ::kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH;
}

// The time at which a process began, in ticks since boot; it and the process number identify one
// process forever. Returns `over` if it has ended (even as a zombie), and 0 if that cannot be
// known. The line's second field, the name, may contain anything, so parsing begins behind the last
// bracket. It allocates nothing.
std::uint64_t beginning_of(std::int64_t process) {
  char path[64], line[1024];
  std::snprintf(path, sizeof path, "/proc/%lld/stat", static_cast<long long>(process));
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return number_in_use(process) ? 0 : over;
  const ssize_t length = ::read(file, line, sizeof line - 1);
  const int error = errno;
  ::close(file);
  if (length <= 0) return length < 0 && error == ESRCH ? over : 0;  // ended between open and read
  line[length] = 0;
  const char* bracket = std::strrchr(line, ')');
  char state = 0;
  unsigned long long began = 0;  // the fields 3 and 22 of the line
  if (!bracket ||
      std::sscanf(
          bracket + 1,
          " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
          &state, &began) != 2)
    return 0;
  return state == 'Z' || state == 'X' ? over : began;
}

}  // namespace

std::uint64_t this_system() {
  static const std::uint64_t here = read_system();
  return here;
}

std::int64_t this_process() { return ::getpid(); }

namespace {

bool forked = false;  // written while there is only one thread

}  // namespace

void watch_forks() {
  static const int watched = ::pthread_atfork(nullptr, nullptr, [] { forked = true; });
  (void)watched;
}

bool in_forked_child() { return forked; }

Watch::Watch(std::int64_t process) : process_(process) {
  if (!is_number(process))
    began_ = over;
  else if (descriptor_ =
               static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0));
           descriptor_ < 0)
    began_ = beginning_of(process);
}

Watch::Watch(Watch&& other) noexcept
    : process_(std::exchange(other.process_, 0)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      began_(std::exchange(other.began_, 0)) {}

Watch& Watch::operator=(Watch&& other) noexcept {
  Watch taken(std::move(other));
  std::swap(process_, taken.process_);
  std::swap(descriptor_, taken.descriptor_);
  std::swap(began_, taken.began_);
  return *this;
}

Watch::~Watch() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Watch::ended() const {
  if (descriptor_ >= 0) {
    pollfd watched{descriptor_, POLLIN, 0};
    return ::poll(&watched, 1, 0) > 0;
  }
  if (began_ == over) return true;
  if (process_ == 0) return false;  // no process is watched
  const std::uint64_t now = beginning_of(process_);
  return now == over || (began_ != 0 && now != 0 && now != began_);
}

// ---- reading another process's memory

namespace {

using Vectors = std::array<iovec, most_pieces>;

// The part of a list that is still to be moved.
struct Rest {
  Vectors vectors;
  std::size_t first = 0, end = 0;

  explicit Rest(std::span<const Piece> pieces) : end(pieces.size()) {
    std::transform(pieces.begin(), pieces.end(), vectors.begin(), [](const Piece& piece) {
      return iovec{reinterpret_cast<void*>(static_cast<std::uintptr_t>(piece.address)),
                   static_cast<std::size_t>(piece.bytes)};
    });
  }
  iovec* begin() { return vectors.data() + first; }
  std::size_t size() const { return end - first; }
  void drop(std::size_t bytes) {
    for (; first < end && bytes >= vectors[first].iov_len; ++first) bytes -= vectors[first].iov_len;
    if (first == end) return;
    vectors[first].iov_base = static_cast<char*>(vectors[first].iov_base) + bytes;
    vectors[first].iov_len -= bytes;
  }
};

std::uint64_t sum(std::span<const Piece> pieces) {
  std::uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.bytes;
  return bytes;
}

// Moves bytes between the pieces `here` of this process and `there` of that one.
template <class Call>
int move_bytes(const Call& call, std::int64_t process, std::span<const Piece> here,
               std::span<const Piece> there) {
  if (!is_number(process)) return ESRCH;
  std::uint64_t left = sum(here);
  if (here.size() > most_pieces || there.size() > most_pieces || sum(there) != left) return EINVAL;
  // The system moves at most 2 GiB at once and stops before the first missing page; the next call
  // then reports that page.
  for (Rest mine(here), theirs(there); left > 0;) {
    const ssize_t moved = call(static_cast<pid_t>(process), mine.begin(), mine.size(),
                               theirs.begin(), theirs.size(), 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return moved < 0 ? errno : EFAULT;
    mine.drop(static_cast<std::size_t>(moved));
    theirs.drop(static_cast<std::size_t>(moved));
    left -= static_cast<std::uint64_t>(moved);
  }
  return 0;
}

}  // namespace

bool may_be_read(const void* address) {
  std::byte byte{};
  const Piece here{reinterpret_cast<std::uint64_t>(&byte), 1};
  const Piece there{reinterpret_cast<std::uint64_t>(address), 1};
  return read_process(this_process(), {&here, 1}, {&there, 1}) != EFAULT;
}

int read_process(std::int64_t process, std::span<const Piece> to, std::span<const Piece> from) {
  return move_bytes(::process_vm_readv, process, to, from);
}

int write_process(std::int64_t process, std::span<const Piece> to, std::span<const Piece> from) {
  return move_bytes(::process_vm_writev, process, from, to);
}

}  // namespace tonari
