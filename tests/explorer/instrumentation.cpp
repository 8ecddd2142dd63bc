// SPDX-License-Identifier: BSD-3-Clause
// What compilers call for accesses in code compiled with -fsanitize=thread. Programs are usually
// linked with ThreadSanitizer, which has these functions; this one is linked with those below. So
// the code that is explored is the library's own, without a change.
//
// The functions' names and arguments are those of compiler-rt/lib/tsan/rtl/tsan_interface*.h.
#include <sched.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "explorer/explorer.hpp"

using namespace tonari::explorer;

namespace {

// The orders' numbers are those of the C++ ABI of GCC and Clang.
std::memory_order order_of(int number) { return static_cast<std::memory_order>(number & 7); }

Operation operation(Kind kind, const volatile void* at, std::size_t bytes, int order,
                    const void* site) {
  return {kind, const_cast<void*>(at), bytes, order_of(order), site};
}

void access(const void* at, std::size_t bytes, bool writes) {
  if (is_explored(at)) explored_access(at, bytes, writes);
}

template <class T, class Change>
T modify(volatile T* at, int order, const void* site, Change change) {
  if (!is_explored(const_cast<T*>(at))) {  // one thread
    const T before = *at;
    *at = change(before);
    return before;
  }
  return static_cast<T>(
      explored_modify(operation(Kind::modify, at, sizeof(T), order, site),
                      [&](std::uint64_t value) { return change(static_cast<T>(value)); }));
}

template <class T>
T load(const volatile T* at, int order, const void* site) {
  if (!is_explored(const_cast<const T*>(at))) return *at;
  return static_cast<T>(explored_load(operation(Kind::load, at, sizeof(T), order, site)));
}

template <class T>
void store(volatile T* at, T value, int order, const void* site) {
  if (!is_explored(const_cast<T*>(at)))
    *at = value;
  else
    explored_store(operation(Kind::store, at, sizeof(T), order, site), value);
}

template <class T>
T compare_exchange(volatile T* at, T expected, T value, int success, int failure,
                   const void* site) {
  if (!is_explored(const_cast<T*>(at))) {
    const T before = *at;
    if (before == expected) *at = value;
    return before;
  }
  return static_cast<T>(explored_compare_exchange(
      operation(Kind::modify, at, sizeof(T), success, site), order_of(failure), expected, value));
}

}  // namespace

#define HERE __builtin_return_address(0)

#define PLAIN(bytes)                                                        \
  void __tsan_read##bytes(void* at) { access(at, bytes, false); }           \
  void __tsan_write##bytes(void* at) { access(at, bytes, true); }           \
  void __tsan_unaligned_read##bytes(void* at) { access(at, bytes, false); } \
  void __tsan_unaligned_write##bytes(void* at) { access(at, bytes, true); } \
  void __tsan_read_write##bytes(void* at) { access(at, bytes, true); }      \
  void __tsan_unaligned_read_write##bytes(void* at) { access(at, bytes, true); }

#define ATOMIC(bits, T)                                                                           \
  T __tsan_atomic##bits##_load(const volatile T* at, int order) { return load(at, order, HERE); } \
  void __tsan_atomic##bits##_store(volatile T* at, T value, int order) {                          \
    store(at, value, order, HERE);                                                                \
  }                                                                                               \
  T __tsan_atomic##bits##_exchange(volatile T* at, T value, int order) {                          \
    return modify(at, order, HERE, [value](T) { return value; });                                 \
  }                                                                                               \
  T __tsan_atomic##bits##_fetch_add(volatile T* at, T value, int order) {                         \
    return modify(at, order, HERE, [value](T old) { return static_cast<T>(old + value); });       \
  }                                                                                               \
  T __tsan_atomic##bits##_fetch_sub(volatile T* at, T value, int order) {                         \
    return modify(at, order, HERE, [value](T old) { return static_cast<T>(old - value); });       \
  }                                                                                               \
  T __tsan_atomic##bits##_fetch_or(volatile T* at, T value, int order) {                          \
    return modify(at, order, HERE, [value](T old) { return static_cast<T>(old | value); });       \
  }                                                                                               \
  T __tsan_atomic##bits##_fetch_and(volatile T* at, T value, int order) {                         \
    return modify(at, order, HERE, [value](T old) { return static_cast<T>(old & value); });       \
  }                                                                                               \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* at, T* expected, T value,         \
                                                    int success, int failure) {                   \
    const T found = compare_exchange(at, *expected, value, success, failure, HERE);               \
    const bool same = found == *expected;                                                         \
    *expected = found;                                                                            \
    return same;                                                                                  \
  }                                                                                               \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* at, T* expected, T value,           \
                                                  int success, int failure) {                     \
    const T found = compare_exchange(at, *expected, value, success, failure, HERE);               \
    const bool same = found == *expected;                                                         \
    *expected = found;                                                                            \
    return same;                                                                                  \
  }                                                                                               \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* at, T expected, T value, int success,  \
                                               int failure) {                                     \
    return compare_exchange(at, expected, value, success, failure, HERE);                         \
  }

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)
void __tsan_read_range(void* at, std::size_t bytes) { access(at, bytes, false); }
void __tsan_write_range(void* at, std::size_t bytes) { access(at, bytes, true); }
ATOMIC(8, std::uint8_t)
ATOMIC(16, std::uint16_t)
ATOMIC(32, std::uint32_t)
ATOMIC(64, std::uint64_t)
void __tsan_atomic_thread_fence(int order) {
  if (in_rank()) explored_fence(operation(Kind::fence, nullptr, 0, order, HERE));
}
void __tsan_atomic_signal_fence(int) {}

// GCC leaves these as they are, and the linker is told to take them from here (--wrap).
void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __real_memset(void* to, int value, std::size_t bytes);

void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  access(from, bytes, false), access(to, bytes, true);
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  access(from, bytes, false), access(to, bytes, true);
  return __real_memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes) {
  access(to, bytes, true);
  return __real_memset(to, value, bytes);
}
// Clang calls these instead.
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  return __wrap_memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
  return __wrap_memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
  return __wrap_memset(to, value, bytes);
}

int sched_yield() noexcept {
  if (in_rank()) explored_yield();
  return 0;
}

}  // extern "C"

// Runs are given up in the middle: what ranks allocate is forgotten with the run.
void* operator new(std::size_t bytes) {
  if (in_rank())
    if (void* const at = memory_of_run(bytes)) return at;
  if (void* const at = std::malloc(bytes)) return at;
  throw std::bad_alloc();
}
void operator delete(void* at) noexcept {
  if (!is_memory_of_run(at)) std::free(at);
}
void operator delete(void* at, std::size_t) noexcept { operator delete(at); }
