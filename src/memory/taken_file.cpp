// SPDX-License-Identifier: BSD-3-Clause
#include "memory/taken_file.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace tonari {
namespace {

// Both have one number on every architecture.
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434  // Linux 5.3
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438  // Linux 5.6
#endif

}  // namespace

OpenFile take_file(std::int64_t process, int descriptor) {
  const OpenFile other(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(process), 0)));
  if (!other) return OpenFile();
  return OpenFile(static_cast<int>(::syscall(SYS_pidfd_getfd, other.descriptor(), descriptor, 0)));
}

}  // namespace tonari
