// SPDX-License-Identifier: BSD-3-Clause
// Runs a program of up to four ranks in all ways in which the memory model lets it run: every
// interleaving, every message that a load may return (weak_memory.hpp), and every step before
// which a rank may be killed. Code that is compiled with -fsanitize=thread tells of its accesses
// (instrumentation.cpp), so the library's sources are explored as they are.
//
// Ranks are fibers of one thread, and run until their next atomic operation. The search goes in
// depth: the program is run again from the start with the same decisions and another last one
// (stateless, as in CDSChecker: Norris and Demsky 2013). A state that was seen is not left again. A
// state is memory with its views, and what each rank has read so far, as ranks are deterministic.
//
// A loop that waits is an await(). A round in which nothing comes is forgotten: others may go on in
// between anyway. When all is explored, an end must be within reach of every state, else ranks
// wait for each other in vain.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace tonari::explorer {

// One run. It is made anew each time, and must be the same each time.
struct Program {
  std::vector<std::function<void()>> ranks;
  // Called when all have ended or been killed: what came out. It may call must().
  std::function<std::string()> outcome = [] { return std::string(); };
  std::vector<bool> mortal = {};  // which ranks may be killed, one in each run; default: none
};

struct Result {
  std::string failure;             // empty: all is well; else what happened, and how it came to it
  std::set<std::string> outcomes;  // all that there are, where nothing failed
  std::size_t states = 0, runs = 0;
};

// Stops at the first failure.
Result explore(const std::function<Program()>& make);

// ---- for ranks, and for those who make programs

// Memory of all ranks, zeros, at the same place in each run; when a program is made.
std::byte* shared_memory(std::size_t bytes);
// Calls `look` until it returns true. A round that returns false must not have stored anything.
// follows: what the round that ends it leaves in the rank's own variables follows from all that it
// has read, or from its stores alone.
enum class Follows : unsigned char { from_all, from_stores };
void await(const std::function<bool()>& look, Follows follows = Follows::from_all);
// A value that the rank's own variables now depend on, too.
void note(std::uint64_t value);
// One of so many, each in some run.
std::size_t choose(std::size_t many);
void must(bool holds, const std::string& what);
bool was_killed(std::size_t rank);

// ---- for instrumentation.cpp and stand_ins.cpp

enum class Kind : unsigned char { load, store, modify, fence };
struct Operation {
  Kind kind;
  void* at;
  std::size_t bytes;
  std::memory_order order;
  const void* site;  // in the program's code
};

bool is_explored(const void* at);  // a rank runs, and this is memory of all
bool in_rank();
std::uint64_t explored_load(const Operation& operation);
void explored_store(const Operation& operation, std::uint64_t value);
std::uint64_t explored_modify(const Operation& operation,
                              const std::function<std::uint64_t(std::uint64_t)>& change);
std::uint64_t explored_compare_exchange(const Operation& operation, std::memory_order failure,
                                        std::uint64_t expected, std::uint64_t value);
void explored_fence(const Operation& operation);
void explored_access(const void* at, std::size_t bytes, bool writes);
bool explored_ended(std::size_t rank);  // of a run that is over: true
void explored_yield();
void* memory_of_run(std::size_t bytes);  // of the heap of a rank; null: not in a rank
bool is_memory_of_run(const void* at);

}  // namespace tonari::explorer
