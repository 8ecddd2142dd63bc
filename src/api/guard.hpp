// The border between C++ and C: exceptions become codes, sentences are kept for tonari_last_error.
#pragma once

#include <functional>

#include "base/error.hpp"

namespace tonari {

// Runs work, returns TONARI_SUCCESS or the code of what it threw. [[gnu::always_inline]] keeps start and wait cheap.
int record(const char* sentence, Errc code) noexcept;
int record_current_exception() noexcept;

template <class Work>
int guarded(Work&& work) noexcept {
  try {
    work();
    return 0;
  } catch (...) {
    return record_current_exception();
  }
}

}  // namespace tonari
