// SPDX-License-Identifier: BSD-3-Clause
// Counts what happens between arm() and disarm(), by wrappers around MPI's functions and around
// malloc.
#pragma once

#include <atomic>

namespace tonari::test {

struct Counts {
  long collectives = 0;  // MPI calls that all ranks have to make
  // MPI calls that make or free datatypes, persistent requests and communicators
  long setups = 0;
  long sends = 0;          // messages that were started
  long puts = 0;           // what was started to write to windows
  long calls = 0;          // MPI calls of all kinds that are wrapped
  long allocations = 0;    // malloc and its relatives, called outside of MPI
  const char* first = "";  // the first collective or setup call
};

// Counting by the calling thread.
void arm();
Counts disarm();
const Counts& counted();  // so far

// Objects that exist, since the program began.
struct Live {
  // requests: persistent ones and synchronous sends
  long datatypes = 0, requests = 0, communicators = 0;
  // of memory, allocated outside of MPI; wrong where the MPI's callbacks free some
  long pieces = 0, bytes = 0;
  long objects = 0;  // made by new
};
Live live();

// As long as it lives, MPI_Wtime says what this clock does, in all threads.
class OtherClock {
 public:
  explicit OtherClock(double (*now)());
  ~OtherClock();
  OtherClock(const OtherClock&) = delete;
  OtherClock& operator=(const OtherClock&) = delete;
};

// As long as it lives, every look at MPI_Wtime finds it ten microseconds later. So what is timed
// never varies, and every winner is remembered.
class EvenClock {
 public:
  EvenClock()
      : clock_([] {
          static std::atomic<long> looks = 0;
          return 1e-5 * static_cast<double>(++looks);
        }) {}

 private:
  OtherClock clock_;
};

// The n-th call of MPI_Improbe from now on fails.
void fail_improbe(int n);

// From now on the MPI says that message tags go up to this number; 0: what is true.
void limit_tags(int largest);
// From now on the MPI refuses every new communicator, or no longer does.
void refuse_communicators(bool refuse);

// From now on persistent neighborhood collectives are made to send zeros, or no longer are.
void spoil_neighborhoods(bool spoil);

// The n-th of the library's own allocations by this thread from now on fails, and if not `once` all
// that follow, too. n = 0: none does. MPI's never do.
void fail_allocation(long n, bool once = true);
// How many there were since.
long allocations();

// Sanitizers have a malloc of their own.
bool counts_allocations();

}  // namespace tonari::test
