// SPDX-License-Identifier: BSD-3-Clause
// Exchanges as the program makes them. An epoch is what a thread sends and receives on one
// communicator up to the wait for some of it: it ends with the first message after that wait.
// Epochs whose wait stands at one place of the program are those of a loop; a loop has patterns:
// who is sent to, and how much. Where sizes never come back, as in molecular dynamics, partners
// alone make the pattern. What one thread keeps is bounded, and made once.
//
//     Irecv Irecv Isend Isend .. compute .. Waitall .. compute .. Irecv Irecv ...
//     |---------------- epoch ------------|                      |--- next ---
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "watch/mode.hpp"
#include "watch/patterns.hpp"

namespace tonari::watch {

constexpr std::size_t most_loops = 64;  // of a thread

// Which epoch a request belongs to, for those of the last requests that have not lost their place.
class RequestTable {
 public:
  void put(std::uintptr_t request, std::uint64_t epoch) { at(request) = {request, epoch}; }
  std::uint64_t epoch_of(std::uintptr_t request) {
    const Entry& entry = at(request);
    return entry.request == request ? entry.epoch : 0;
  }

 private:
  struct Entry {
    std::uintptr_t request = 0;
    std::uint64_t epoch = 0;
  };
  static constexpr int bits = 11;
  Entry& at(std::uintptr_t request) {
    return entries_[(request * 0x9E3779B97F4A7C15U) >> (64 - bits)];
  }
  std::array<Entry, std::size_t{1} << bits> entries_{};
};

// Calls at one place that are no messages: MPI_Pack, MPI_Unpack and neighborhood collectives.
struct CountedCall {
  const char* call = "";
  const void* site = nullptr;
  std::uint64_t calls = 0, bytes = 0;
  Ticks inside = 0;
};

// What is known of one thread. Only that thread changes it while it watches.
class Watcher {
 public:
  // A message is posted: between begin and end the thread was in MPI.
  void post(std::uint64_t communicator, int ranks, const Message& message, std::uintptr_t request,
            Ticks begin, Ticks end);
  // The open epoch of the first of these requests that has one; null: none.
  Epoch* epoch_of(std::uintptr_t request);
  // The thread has waited for some of it, or has only looked.
  void waited(Epoch& epoch, const char* call, const void* site, bool completed, Ticks begin,
              Ticks end);
  void counted(const char* call, const void* site, std::uint64_t bytes, Ticks begin, Ticks end);
  // A collective call is an epoch: what was posted since its beginning.
  void close_all();
  void close_of(std::uint64_t communicator);
  // After the last epoch: sizes that came once each are one pattern whose sizes change, and
  // patterns that come in turn are brought together.
  void finish_loops();
  // Joins the loops in which another thread, which watches no more, did the same as this one.
  void join(Watcher& other);

  const std::vector<std::unique_ptr<Loop>>& loops() const { return loops_; }
  const std::vector<CountedCall>& counted_calls() const { return counted_calls_; }
  std::uint64_t not_kept() const { return not_kept_; }  // epochs of loops beyond the bound

 private:
  Epoch& opened(std::uint64_t communicator, int ranks, const Message& message, Ticks begin);
  void close(Epoch& epoch);
  Loop* known_loop(const Epoch& epoch) const;
  Loop* loop_of(const Epoch& epoch);

  std::array<Epoch, 4> open_;
  std::size_t last_ = 0;  // in open_
  std::uint64_t numbers_ = 0, not_kept_ = 0;
  RequestTable requests_;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<CountedCall> counted_calls_;
};

// That of the calling thread; made with its first message, used again by others after its end.
Watcher* this_threads_watcher() noexcept;
// All of them, in the order in which they were made; for MPI_Finalize.
std::vector<Watcher*> all_watchers();
// Then, too. Which thread does which part of the same work differs from rank to rank, and so does
// which one gets what a thread that has ended used.
void join_threads();

}  // namespace tonari::watch
