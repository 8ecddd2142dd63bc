// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <new>

#include "request/guard.hpp"
#include "request/refusal.hpp"
#include "tonari/tonari.h"

namespace tonari {
namespace {

// A fixed array: recording an error must not need memory.
thread_local char last_sentence[2048] = "no error so far";

}  // namespace

int record(const char* sentence, Errc code) noexcept {
  std::strncpy(last_sentence, sentence, sizeof last_sentence - 1);
  return static_cast<int>(code);
}

namespace {

int record_what_was_thrown() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return record(error.what(), error.code());
  } catch (const std::bad_alloc&) {
    return record("out of memory; use smaller blocks or fewer requests at a time", Errc::memory);
  } catch (const std::exception& other) {
    return record(other.what(), Errc::internal);
  } catch (...) {
    return record("an unknown exception", Errc::internal);
  }
}

}  // namespace

// Where a call failed before it read its arguments, the layer above still knows better.
int record_current_exception() noexcept {
  const int thrown = record_what_was_thrown();
  int code = thrown;
  const char* const better = take_refusal(code);
  return better ? record(better, Errc{code}) : thrown;
}

}  // namespace tonari

extern "C" const char* tonari_last_error(void) { return tonari::last_sentence; }

extern "C" const char* tonari_error_string(int code) {
  static const char* const words[] = {
      "success",        "wrong argument",          "wrong topology",    "ranks disagree",
      "overflow",       "overlapping buffers",     "request is active", "wrong algorithm",
      "out of memory",  "an MPI call failed",      "internal error",    "unreadable file",
      "broken promise", "a rank has ended or left"};
  constexpr int count = sizeof words / sizeof *words;
  return code >= 0 && code < count ? words[code] : "unknown error code";
}
