// SPDX-License-Identifier: BSD-3-Clause
// MPICH over UCX (device ch4:ucx): all messages leave through UCX's tagged sends, and ours stand in
// front of them.
#include <mpi.h>

#if !defined(OPEN_MPI)

#include <dlfcn.h>

#include <cstdint>

#include "wire_source.hpp"

namespace {
bool looking = false;
long sends = 0;
using UcxSend = void* (*)(void* ep, const void* buffer, std::size_t count, std::uint64_t tag,
                          const void* param);
}  // namespace

#define BENCH_IN_FRONT_OF(NAME)                                                                \
  extern "C" __attribute__((visibility("default"))) void* NAME(                                \
      void* ep, const void* buffer, std::size_t count, std::uint64_t tag, const void* param) { \
    static const auto real = reinterpret_cast<UcxSend>(dlsym(RTLD_NEXT, #NAME));               \
    sends += looking;                                                                          \
    return real(ep, buffer, count, tag, param);                                                \
  }
BENCH_IN_FRONT_OF(ucp_tag_send_nbx)
BENCH_IN_FRONT_OF(ucp_tag_send_sync_nbx)

namespace bench {

void start_looking() {
  sends = 0;
  looking = true;
}

Sent stop_looking() {
  looking = false;
  return {sends, 0};
}

}  // namespace bench

#endif
