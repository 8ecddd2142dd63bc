// SPDX-License-Identifier: BSD-3-Clause
// Tells all ranks the error of one, without blocking. It needs no memory.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/error.hpp"

namespace tonari {

class ErrorBroadcast {
 public:
  ErrorBroadcast() = default;
  ErrorBroadcast(const ErrorBroadcast&) = delete;
  ErrorBroadcast& operator=(const ErrorBroadcast&) = delete;

  // Collective. mine: of rank `from`, on that rank. A long sentence is cut short.
  void start(MPI_Comm comm, int from, const Error* mine);
  bool test();
  // After completion.
  Error error() const;

 private:
  struct Message {
    std::int32_t code = 0;
    std::uint32_t length = 0;
    std::array<char, 1016> sentence;
  };
  Message message_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace tonari
