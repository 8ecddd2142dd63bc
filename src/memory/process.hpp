// Other processes of this node: whether they live, and their memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tonari {

std::int64_t this_process();

// Whether this is a child that fork() made since the first call of watch_forks(): it has copies of
// all objects and all memory that is shared, but none of it is its part of the job. A flag that the
// system's handler sets, since the caller may be between start and wait, where a system call
// counts.
void watch_forks();
bool in_forked_child();

// Watches one process. Holds on to that very process, so that a later one with the same number is
// not taken for it.
class Watch {
 public:
  Watch() = default;
  // one that cannot be watched (another container, an old kernel) counts as alive as long as its
  // number is in use
  explicit Watch(std::int64_t process);
  Watch(Watch&& other) noexcept;
  Watch& operator=(Watch&& other) noexcept;
  ~Watch();
  bool ended() const;  // also if it is a zombie

 private:
  std::int64_t process_ = 0;
  int descriptor_ = -1;      // of the process (pidfd); where the system has none:
  std::uint64_t began_ = 0;  // when it began
};

// A piece of some process's memory.
struct Piece {
  std::uint64_t address = 0, bytes = 0;
};

inline constexpr std::size_t most_pieces = 64;  // in one call below

// Copies the pieces `from` of `process` to the pieces `to` of this one (equal sums, each list of at
// most most_pieces), by process_vm_readv. Returns 0, or the errno: EPERM where the system does not
// allow it. Allocates nothing.
int read_process(std::int64_t process, std::span<const Piece> to, std::span<const Piece> from);

}  // namespace tonari
