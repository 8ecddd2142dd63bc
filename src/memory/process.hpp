// SPDX-License-Identifier: BSD-3-Clause
// Other processes of this node: whether they live, and what is in their memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tonari {

std::int64_t this_process();

// A number for the system that this process runs on and that shows it others: one kernel, which
// names processes alike. The same for all that share memory; 0 if the system does not say.
std::uint64_t this_system();

// Tells whether fork() made this process after the first call of watch_forks(). Such a child has
// copies of all objects and shared memory, but takes no part in the job. The system's handler sets
// a flag, because the caller may be between start and wait, where a system call is expensive.
void watch_forks();
bool in_forked_child();

// Watches one process, and holds on to it, so that a later one with the same number is not taken
// for it.
class Watch {
 public:
  Watch() = default;
  // A process that cannot be watched (another container, an old kernel) counts as alive as long as
  // its number is in use.
  explicit Watch(std::int64_t process);
  Watch(Watch&& other) noexcept;
  Watch& operator=(Watch&& other) noexcept;
  ~Watch();
  bool ended() const;  // true for a zombie, too

 private:
  std::int64_t process_ = 0;
  int descriptor_ = -1;      // pidfd of the process; where the system has none:
  std::uint64_t began_ = 0;  // the time at which it began
};

// A piece of some process's memory.
struct Piece {
  std::uint64_t address = 0, bytes = 0;
};

inline constexpr std::size_t most_pieces = 64;  // in one call of read_process or write_process

// Whether this process has memory at this address that it may read, as far as the system says.
// Allocates nothing.
bool may_be_read(const void* address);

// Copies the pieces `from` of `process` to the pieces `to` of this one by process_vm_readv. Both
// lists have equal sums and at most most_pieces. Returns 0 or the errno: EPERM where the system
// does not allow it. Allocates nothing.
int read_process(std::int64_t process, std::span<const Piece> to, std::span<const Piece> from);
// The other way round, by process_vm_writev: the pieces `from` of this process to `to` of that one.
// Where the system allows the one, it allows the other.
int write_process(std::int64_t process, std::span<const Piece> to, std::span<const Piece> from);

}  // namespace tonari
