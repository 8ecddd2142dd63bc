// SPDX-License-Identifier: BSD-3-Clause
// Orders what the program stored in its memory before another process is told that it may read it.
#pragma once

#include <atomic>

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

namespace tonari {

// Whatever this thread has stored becomes visible before what it stores from here on. On x86 a
// release store promises that for ordinary stores only. Streaming stores (movnt, in hand-written
// kernels) wait in buffers of the core that a plain move does not empty. Elsewhere the fence of the
// language is enough; it orders stnp of Arm like any other store.
//
// Where the library itself copies the program's bytes, this is not needed: a core sees its own
// stores, and the copies are ordinary stores. Nor is it needed where another thread takes over an
// exchange: it locks a mutex, and that instruction empties the buffers.
inline void order_program_stores() {
  std::atomic_thread_fence(std::memory_order_release);
#if defined(__x86_64__) || defined(__i386__)
  _mm_sfence();
#endif
}

}  // namespace tonari
