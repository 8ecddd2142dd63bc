// SPDX-License-Identifier: BSD-3-Clause
#include "inplace/peak.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "inplace/heap.hpp"

namespace bench::inplace {

namespace {

// The sum of two lines of a file below /proc/self, in bytes; -1 if one is not there. Allocates
// nothing.
long long lines_of(const char* path, const char* one, const char* other = nullptr) {
  char text[8192];
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  text[std::max<ssize_t>(0, length)] = 0;
  long long sum = 0;
  for (const char* key : {one, other ? other : one}) {
    const char* const found = std::strstr(text, key);
    if (!found) return -1;
    sum += std::strtoll(found + std::strlen(key), nullptr, 10) * 1024;
  }
  return other ? sum : sum / 2;
}

long long resident() { return lines_of("/proc/self/smaps_rollup", "\nAnonymous:", "\nPss_Shmem:"); }

// proc(5): writing 5 resets VmHWM to what is resident now.
bool restart_high_water() {
  const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = write(file, "5", 1) == 1;
  close(file);
  return done;
}

std::atomic<long long> most_resident{0};

void look() {
  const long long now = resident();
  for (long long seen = most_resident.load();
       now > seen && !most_resident.compare_exchange_weak(seen, now);) {
  }
}

// The maximum over ranks, -1 if one of them has none.
long long over_ranks(long long mine, MPI_Comm comm) {
  long long ends[] = {mine, -mine};
  MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_LONG_LONG, MPI_MAX, comm);
  return -ends[1] < 0 ? -1 : ends[0];
}

}  // namespace

Peak peak_of(const std::function<void()>& what, MPI_Comm comm) {
  malloc_trim(0);
  MPI_Barrier(comm);
  start_counting_heap(look);  // touches memory itself
  const bool restarted = restart_high_water();
  const long long before = lines_of("/proc/self/status", "VmRSS:"), pages_before = resident();
  most_resident = pages_before;
  what();
  MPI_Barrier(comm);  // who ends first would leave its part of what is shared to the others
  look();
  const long long heap = stop_counting_heap();
  const long long after = lines_of("/proc/self/status", "VmHWM:");
  const bool pages = heap_is_counted() && pages_before >= 0;
  return {over_ranks(pages ? most_resident - pages_before : -1, comm),
          over_ranks(restarted && before >= 0 ? std::max(0LL, after - before) : -1, comm),
          over_ranks(heap_is_counted() ? heap : -1, comm)};
}

long long peak_bytes(const Peak& peak) {
  return peak.resident >= 0 ? peak.resident : peak.high_water >= 0 ? peak.high_water : peak.heap;
}

std::string peak_method(const Peak& peak) {
  const char* const method =
      peak.resident >= 0
          ? "resident pages (smaps_rollup: Anonymous and Pss_Shmem) before each release"
      : peak.high_water >= 0 ? "VmHWM less VmRSS before"
      : peak.heap >= 0       ? "allocator hook (resident memory is not shown here)"
                             : "none";
  return std::string(method) + ", over init and one exchange; maximum over ranks";
}

}  // namespace bench::inplace
