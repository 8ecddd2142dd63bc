// SPDX-License-Identifier: BSD-3-Clause
#include "memory/in_mpi.hpp"

#include <array>

namespace tonari {
namespace {

constinit std::array<MpiMark, most_mpi_marks> marks{};

}  // namespace

MpiMark& mpi_mark(std::size_t k) { return marks[k]; }

InMpi::InMpi(const char* call) noexcept {
  for (MpiMark& mark : marks) {
    const char* free = nullptr;
    if (!mark.call.compare_exchange_strong(free, call, std::memory_order_acquire)) continue;
    mark.number.store(mark.number.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    mark_ = &mark;
    return;
  }
}

}  // namespace tonari
