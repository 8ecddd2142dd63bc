// SPDX-License-Identifier: BSD-3-Clause
// How much memory this process takes, as the kernel counts it.
#pragma once

#include <optional>

// What becomes resident after construction, at its peak. Pages of shared memory count for every
// rank that touches them; pages of files, the code of libraries used for the first time, do not.
class PeakMemory {
 public:
  // gives free memory of the heap back first, so that it does not hide what is allocated next
  PeakMemory();
  // the peak so far is forgotten, and what is resident now counts
  void reset();
  std::optional<long> extra_kib() const;  // nothing where the kernel does not let us reset its mark

 private:
  long before_, code_before_;
  bool marked_ = false;
};
