// SPDX-License-Identifier: BSD-3-Clause
#include "inplace/heap.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define COUNT_HEAP 0
#else
#define COUNT_HEAP 1
#endif

namespace bench::inplace {

namespace {

std::atomic<bool> counting{false};
std::atomic<long long> held{0}, most{0};
std::atomic<void (*)()> before_release{nullptr};
// less than what the C library maps by itself, or gives back to the system at once
constexpr long long large = 32 << 10;

[[maybe_unused]] void hold(long long bytes) {
  const long long now = held.fetch_add(bytes) + bytes;
  for (long long seen = most.load(); now > seen && !most.compare_exchange_weak(seen, now);) {
  }
}

// Blocks that were there before counting and are freed now make room: they count, too.
[[maybe_unused]] void note(void* p, int sign) {
  if (!p || !counting.load(std::memory_order_relaxed)) return;
  const long long bytes = static_cast<long long>(malloc_usable_size(p));
  if (sign < 0 && bytes >= large) before_release.load()();
  hold(sign * bytes);
}

// Mappings made while counting, so that munmap knows what of a range was counted. Those that find
// no room are counted and never taken back.
struct Mapping {
  std::uintptr_t begin = 0, end = 0;
};
Mapping mappings[4096];
std::atomic_flag mappings_busy = ATOMIC_FLAG_INIT;

[[maybe_unused]] void note_mapping(void* p, std::size_t bytes) {
  hold(static_cast<long long>(bytes));
  while (mappings_busy.test_and_set(std::memory_order_acquire)) {
  }
  for (Mapping& each : mappings)
    if (each.begin == each.end) {
      each = {reinterpret_cast<std::uintptr_t>(p), reinterpret_cast<std::uintptr_t>(p) + bytes};
      break;
    }
  mappings_busy.clear(std::memory_order_release);
}

// A hole in the middle of a mapping gives its upper part up: it counts until the end.
[[maybe_unused]] void note_unmapping(void* p, std::size_t bytes) {
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(p), end = begin + bytes;
  while (mappings_busy.test_and_set(std::memory_order_acquire)) {
  }
  for (Mapping& each : mappings) {
    const std::uintptr_t from = begin > each.begin ? begin : each.begin,
                         to = end < each.end ? end : each.end;
    if (from >= to) continue;
    hold(-static_cast<long long>(to - from));
    if (from == each.begin)
      each.begin = to;
    else
      each.end = from;
  }
  mappings_busy.clear(std::memory_order_release);
}

}  // namespace

bool heap_is_counted() { return COUNT_HEAP; }

void start_counting_heap(void (*look)()) {
  for (Mapping& each : mappings) each = {};
  before_release = look;
  held = 0;
  most = 0;
  counting = true;
}

long long stop_counting_heap() {
  counting = false;
  return most;
}

}  // namespace bench::inplace

#if COUNT_HEAP
#define EXPORT extern "C" __attribute__((visibility("default")))
using bench::inplace::note;

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

EXPORT void* malloc(std::size_t n) {
  void* const p = __libc_malloc(n);
  note(p, +1);
  return p;
}
EXPORT void* calloc(std::size_t n, std::size_t m) {
  void* const p = __libc_calloc(n, m);
  note(p, +1);
  return p;
}
// While it copies, both pieces exist; the C library moves the pages of large ones instead, so only
// one is counted.
EXPORT void* realloc(void* old, std::size_t n) {
  note(old, -1);
  void* const p = __libc_realloc(old, n);
  note(p ? p : n ? old : nullptr, +1);
  return p;
}
EXPORT void* memalign(std::size_t alignment, std::size_t n) {
  void* const p = __libc_memalign(alignment, n);
  note(p, +1);
  return p;
}
EXPORT void* aligned_alloc(std::size_t alignment, std::size_t n) { return memalign(alignment, n); }
EXPORT int posix_memalign(void** p, std::size_t alignment, std::size_t n) {
  void* const found = memalign(alignment, n);
  if (!found) return ENOMEM;
  *p = found;
  return 0;
}
EXPORT void free(void* p) {
  note(p, -1);
  __libc_free(p);
}

EXPORT void* mmap(void* where, std::size_t n, int protection, int flags, int file,
                  off_t offset) noexcept {
  void* const p =
      reinterpret_cast<void*>(syscall(SYS_mmap, where, n, protection, flags, file, offset));
  const bool memory = (flags & (MAP_ANONYMOUS | MAP_SHARED)) && protection != PROT_NONE;
  if (p != MAP_FAILED && memory && bench::inplace::counting.load(std::memory_order_relaxed))
    bench::inplace::note_mapping(p, n);
  return p;
}
EXPORT void* mmap64(void* where, std::size_t n, int protection, int flags, int file,
                    off_t offset) noexcept {
  return mmap(where, n, protection, flags, file, offset);
}
EXPORT int munmap(void* p, std::size_t n) noexcept {
  if (bench::inplace::counting.load(std::memory_order_relaxed)) {
    bench::inplace::before_release.load()();
    bench::inplace::note_unmapping(p, n);
  }
  return static_cast<int>(syscall(SYS_munmap, p, n));
}
#endif
