// Errors of tonari: one code per kind of mistake, and one sentence that says what to change.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace tonari {

// The values are part of the C ABI (TONARI_ERR_* in tonari.h); append only.
enum class Errc : int {
  success = 0,
  argument = 1,      // a null handle or pointer, a negative count
  topology = 2,      // no Cartesian topology, wrong number of dimensions
  mismatch = 3,      // ranks disagree: offsets, sizes, algorithm
  overflow = 4,      // a size or a displacement does not fit
  buffers = 5,       // send and receive buffers overlap
  active = 6,        // started twice, freed or changed while active
  algorithm = 7,     // unknown, or not applicable here
  memory = 8,
  mpi = 9,           // an MPI call failed
  internal = 10,
  file = 11,         // a file cannot be read, or says nonsense
  promise = 12,      // what an info key promised does not hold
  peer = 13,         // another rank has ended, or has freed its part of what this one waits for
};

class Error : public std::runtime_error {
 public:
  Error(Errc code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  Errc code() const { return code_; }

 private:
  Errc code_;
};

// text("rank ", 3, " sends ", 8, " bytes") builds a sentence from anything that streams.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

template <class... Parts>
[[noreturn]] void fail(Errc code, const Parts&... parts) {
  throw Error(code, text(parts...));
}

}  // namespace tonari
