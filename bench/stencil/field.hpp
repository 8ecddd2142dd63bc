// SPDX-License-Identifier: BSD-3-Clause
// Memory of a field, on huge pages where the system gives them: pages would otherwise decide more
// than storage does.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace tonari::bench {

class Field {
 public:
  explicit Field(std::int64_t elements) {
    constexpr std::size_t huge = std::size_t{2} << 20;
    const std::size_t bytes =
        (static_cast<std::size_t>(elements) * sizeof(double) + 4096 + huge - 1) / huge * huge;
    data_ = static_cast<double*>(std::aligned_alloc(huge, bytes));
    if (!data_) throw std::bad_alloc();
    madvise(data_, bytes, MADV_HUGEPAGE);
    for (std::size_t i = 0; i < bytes / sizeof(double); ++i) data_[i] = 0;
  }
  Field(const Field&) = delete;
  ~Field() { std::free(data_); }
  double* data() const { return data_; }

 private:
  double* data_;
};

}  // namespace tonari::bench
