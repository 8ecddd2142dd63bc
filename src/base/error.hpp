// SPDX-License-Identifier: BSD-3-Clause
// Errors of tonari: one code per kind of mistake, and one sentence that says what to change.
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/classic.hpp"

namespace tonari {

// The values are part of the C ABI (TONARI_ERR_* in tonari.h); append only.
enum class Errc : int {
  success = 0,
  argument = 1,   // a null handle or pointer, a negative count
  topology = 2,   // no Cartesian topology, wrong number of dimensions
  mismatch = 3,   // ranks disagree: offsets, sizes, algorithm
  overflow = 4,   // a size or a displacement does not fit
  buffers = 5,    // send and receive buffers overlap
  active = 6,     // started twice, freed or changed while active
  algorithm = 7,  // unknown, or not applicable here
  memory = 8,
  mpi = 9,  // an MPI call failed
  internal = 10,
  file = 11,     // a file cannot be read, or says nonsense
  promise = 12,  // what an info key promised does not hold
  peer = 13,     // another rank has ended, or has freed its part of what this one waits for
};

inline constexpr const char* out_of_memory =
    "out of memory; use smaller blocks or fewer requests at a time";

// An error is also made, copied and thrown where no memory is left: then the sentence may be
// missing, but not the code.
class Error : public std::exception {
 public:
  Error(Errc code, std::string_view sentence) noexcept : code_(code) {
    try {
      sentence_ = std::make_shared<const std::string>(sentence);
    } catch (const std::bad_alloc&) {  // what() has words for that
    }
  }
  Errc code() const { return code_; }
  const char* what() const noexcept override {
    if (sentence_) return sentence_->c_str();
    return code_ == Errc::memory ? out_of_memory
                                 : "no memory is left for the sentence that says why; use smaller "
                                   "blocks or fewer requests at a time";
  }

  // If all ranks throw it, none of them has to tell the others.
  bool on_all_ranks() const { return on_all_ranks_; }
  Error& now_on_all_ranks() { return on_all_ranks_ = true, *this; }

 private:
  Errc code_;
  bool on_all_ranks_ = false;
  std::shared_ptr<const std::string> sentence_;
};

// text("rank ", 3, " sends ", 8, " bytes") builds a sentence from anything that streams. Throws
// std::bad_alloc: a stream without memory only notes that it is bad, and drops what comes then.
template <class... Parts>
std::string text(const Parts&... parts) {
  Classic<std::ostringstream> out;
  (out << ... << parts);
  if (out.bad()) throw std::bad_alloc();
  return out.str();
}

template <class... Parts>
[[noreturn]] void fail(Errc code, const Parts&... parts) {
  throw Error(code, text(parts...));
}

Error current_error() noexcept;

// Returns what the callable throws, as an Error, or nothing. It needs no memory itself.
template <class Work>
std::optional<Error> error_of(Work&& work) {
  try {
    std::forward<Work>(work)();
  } catch (...) {
    return current_error();
  }
  return std::nullopt;
}

// Returns what is being handled, as an Error; std::bad_alloc becomes Errc::memory.
inline Error current_error() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(Errc::memory, out_of_memory);
  } catch (const std::exception& other) {
    return *error_of([&] { fail(Errc::internal, "unexpected: ", other.what()); });
  } catch (...) {
    return Error(Errc::internal, "an unknown exception");
  }
}

}  // namespace tonari
