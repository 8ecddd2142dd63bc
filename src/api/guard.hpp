// The border between C++ and C: exceptions become codes, sentences are kept for tonari_last_error.
#pragma once

#include "base/error.hpp"

namespace tonari {

// Keep the sentence for this thread; return the code.
int record(const char* sentence, Errc code) noexcept;
int record_current_exception() noexcept;

// Runs work, returns TONARI_SUCCESS or the code of what it threw.
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
