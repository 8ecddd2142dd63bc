// SPDX-License-Identifier: BSD-3-Clause
// Bytes that malloc and its relatives and mmap (anonymous or shared) have given out, seen by
// functions of these names in this program, which stand in front of the C library's for everything
// in the process: the benchmark, tonari, MPI.
#pragma once

namespace bench::inplace {

bool heap_is_counted();  // sanitizers have a malloc of their own

// Counts between start and stop, all threads together; the result is the most that was held at any
// time above what was held at the start. before_release is called before anything large is given
// back; it must not allocate.
void start_counting_heap(void (*before_release)());
long long stop_counting_heap();

}  // namespace bench::inplace
