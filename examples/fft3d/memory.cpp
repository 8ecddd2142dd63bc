// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace {

// proc(5): lines "VmHWM:    1234 kB".
long status_kib(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string name;
  for (long value = 0; status >> name; status.ignore(256, '\n'))
    if (name == field + ':' && status >> value) return value;
  return 0;
}

}  // namespace

PeakMemory::PeakMemory() {
  malloc_trim(0);
  before_ = status_kib("VmRSS");
  code_before_ = status_kib("RssFile");
}

void PeakMemory::reset() {
  std::ofstream marks("/proc/self/clear_refs");
  marks << 5 << std::flush;  // proc(5): resets the peak resident set size
  marked_ = marks.good();
}

std::optional<long> PeakMemory::extra_kib() const {
  if (!marked_) return std::nullopt;
  const long code = status_kib("RssFile") - code_before_;
  return std::max(0L, status_kib("VmHWM") - before_ - code);
}
