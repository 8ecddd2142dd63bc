// SPDX-License-Identifier: BSD-3-Clause
// Less than a process has otherwise: in a process of its own, because nothing gives it back.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>

#include "memory/child.hpp"

namespace tonari::test {

template <class Work>
void in_a_child(Work work) {
  Child([&](Line&) { work(); }).finish();
}

// Files may have so many bytes while it lives. What the test prints may go to one that is longer.
class FileLimit {
 public:
  explicit FileLimit(rlim_t most) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{most, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before_); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
};

inline std::size_t pages_of_addresses() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
}

// What is mapped but for the heap and the stack, which grow by steps of their own when lists need
// room.
inline std::size_t pages_mapped() {
  std::ifstream maps("/proc/self/maps");
  std::size_t bytes = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with("[heap]") || line.ends_with("[stack]")) continue;
    const std::size_t dash = line.find('-');
    bytes += std::stoull(line.substr(dash + 1), nullptr, 16) -
             std::stoull(line.substr(0, dash), nullptr, 16);
  }
  return bytes / static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// From now on this process can map `bytes` more than it has, small lists of its own among them.
inline bool leave_address_space(std::size_t bytes) {
  const rlim_t most =
      pages_of_addresses() * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit limit{most, most};
  return setrlimit(RLIMIT_AS, &limit) == 0;
}

// From now on this process gets `error` from the system call `number`, as in a container that
// forbids it or on a kernel that does not know it.
inline bool refuse(int number, int error) {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{std::size(steps), steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace tonari::test
