// SPDX-License-Identifier: BSD-3-Clause
// Marks of calls of the MPI that are under way, for a thread that sees whether one never returns
// (engine/wait/hung_mpi.hpp). A rank that dies may leave memory that it shares with others such
// that they spin inside of the MPI forever; none of them can say so itself.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tonari {

// What one thread is in. A mark that has no room goes without.
struct MpiMark {
  std::atomic<const char*> call = nullptr;  // null: it is free
  std::atomic<std::uint64_t> number = 0;    // of calls so far
};
inline constexpr std::size_t most_mpi_marks = 64;
MpiMark& mpi_mark(std::size_t k);

// As long as it lives, this thread is in the call. The name lives forever.
class InMpi {
 public:
  explicit InMpi(const char* call) noexcept;
  ~InMpi() {
    if (mark_) mark_->call.store(nullptr, std::memory_order_release);
  }
  InMpi(const InMpi&) = delete;
  InMpi& operator=(const InMpi&) = delete;

 private:
  MpiMark* mark_ = nullptr;
};

}  // namespace tonari
