// SPDX-License-Identifier: BSD-3-Clause
// The most memory that something takes, beyond what the process had before.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>

namespace bench::inplace {

// All in bytes, the maximum over ranks; -1 where the system or the build does not let it be found.
struct Peak {
  // What is resident shrinks only when something is given back. So the pages are counted before
  // anything large is, and at the end (smaps_rollup: those of this process alone, and of those
  // shared in memory an equal part for each process that has touched them; pages of program files
  // are nobody's).
  long long resident = 0;
  // VmHWM, made to start anew, less VmRSS: the kernel's own record. It counts shared pages in full,
  // pages of program files, too, and is off by up to 128 KiB per processor.
  long long high_water = 0;
  long long heap = 0;  // what was allocated, whether touched or not
};

// [collective] Free memory that the C library keeps is given back first, so that what `what` takes
// is new. What it holds at its end is to be freed after this has returned: then no rank counts
// shared memory that another one has already left.
Peak peak_of(const std::function<void()>& what, MPI_Comm comm);

// The best of them, and how it was found in words.
long long peak_bytes(const Peak& peak);
std::string peak_method(const Peak& peak);

}  // namespace bench::inplace
