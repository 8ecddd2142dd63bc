// Before another process is told that it may read what the program wrote, in the program's memory.
#pragma once

#include <atomic>

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

namespace tonari {

// Whatever this thread has stored is visible before what it stores from here on. On x86 a release
// store alone promises that for usual stores only: it is a plain move, and streaming stores (movnt,
// as hand-written kernels use them) wait in buffers of the core that it does not empty. Elsewhere
// the fence of the language is enough; it orders stnp of Arm like any other store.
//
// Where the library itself copies the program's bytes this is not needed: a core sees its own
// stores, and what it copies is stored as usual. Nor is it where another thread goes on with an
// exchange: it takes it over under a mutex, whose locked instruction empties the buffers.
inline void order_program_stores() {
  std::atomic_thread_fence(std::memory_order_release);
#if defined(__x86_64__) || defined(__i386__)
  _mm_sfence();
#endif
}

}  // namespace tonari
