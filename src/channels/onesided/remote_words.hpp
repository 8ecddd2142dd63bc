// SPDX-License-Identifier: BSD-3-Clause
// How one-sided messages reach a window and are looked at there, on both memory models of MPI (MPI
// 4.0, 12.4): one object per user of a window.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/checked.hpp"
#include "channels/onesided/window.hpp"
#include "mpi/mpi_error.hpp"

namespace tonari {

using Word64 = std::uint64_t;

class RemoteWords {
 public:
  RemoteWords(std::shared_ptr<Window> window, int rank, bool separate)
      : window_(std::move(window)), rank_(rank), unified_(window_->unified && !separate) {}

  bool unified() const { return unified_; }
  MPI_Win window() const { return window_->win; }
  std::size_t bytes() const { return window_->bytes; }
  std::byte* here(MPI_Aint at) const { return open().base + at; }

  // Writes into the window of `peer`. The source must not change until the next flush. Words arrive
  // when look sees them; bytes need a flush and a word.
  void put_words(const Word64* from, std::size_t count, int peer, MPI_Aint at) {
    const int n = static_cast<int>(count);
    if (unified_)
      check_mpi(MPI_Put(from, n, MPI_UINT64_T, peer, at, n, MPI_UINT64_T, open().win), "MPI_Put");
    else
      check_mpi(
          MPI_Accumulate(from, n, MPI_UINT64_T, peer, at, n, MPI_UINT64_T, MPI_REPLACE, open().win),
          "MPI_Accumulate");
    unflushed_ = true;
  }
  void put_bytes(const std::byte* from, Bytes bytes, int peer, MPI_Aint at) {
    constexpr Bytes most = Bytes{1} << 30;
    for (Bytes done = 0; done < bytes; done += most) {
      const int n = static_cast<int>(std::min(most, bytes - done));
      const MPI_Aint to = at + static_cast<MPI_Aint>(done);
      check_mpi(MPI_Put(from + done, n, MPI_BYTE, peer, to, n, MPI_BYTE, open().win), "MPI_Put");
    }
    unflushed_ = true;
  }

  // A word that the next flush puts as soon as the bytes put so far are there.
  void announce(const Word64* word, int peer, MPI_Aint at) {
    announcements_.push_back({word, peer, at});
  }
  void reserve(std::size_t announcements) { announcements_.reserve(announcements); }

  // Ensures that everything that was put is there, by one wait for all bytes and one for all words.
  void flush() {
    if (!unflushed_) return;
    if (!announcements_.empty()) {
      call_mpi("MPI_Win_flush_all", [&] { return MPI_Win_flush_all(open().win); });
      for (const Announcement& a : announcements_) put_words(a.word, 1, a.peer, a.at);
      announcements_.clear();
    }
    call_mpi("MPI_Win_flush_all", [&] { return MPI_Win_flush_all(open().win); });
    unflushed_ = false;
    ++flushes_;
  }
  Word64 flushes() const { return flushes_; }

  // A word of this rank's window.
  Word64 look(MPI_Aint at) const {
    if (unified_) return load(at);
    Word64 word = 0;
    fetch(&word, 1, at);
    return word;
  }
  // Several words, each of them old or new, on the separate model.
  void fetch(Word64* to, std::size_t count, MPI_Aint at) const {
    const int n = static_cast<int>(count);
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Rget_accumulate(to, 0, MPI_UINT64_T, to, n, MPI_UINT64_T, rank_, at, n,
                                  MPI_UINT64_T, MPI_NO_OP, open().win, &request),
              "MPI_Rget_accumulate");
    call_mpi("MPI_Wait", [&] { return MPI_Wait(&request, MPI_STATUS_IGNORE); });
  }
  Word64 load(MPI_Aint at) const {
    return std::atomic_ref<Word64>(*reinterpret_cast<Word64*>(here(at)))
        .load(std::memory_order_relaxed);
  }

  // After this, what was flushed to this window before the word that was seen can be read. Ranks
  // told afterwards may overwrite what was read before.
  void sync() const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    check_mpi(MPI_Win_sync(open().win), "MPI_Win_sync");
  }

 private:
  // MPI_Finalize frees all windows before it calls what the program wants to be called.
  const Window& open() const {
    if (window_->win == MPI_WIN_NULL)
      fail(Errc::mpi, "MPI_Finalize has freed the window of this request: ",
           "a callback that exchanges must use a request of another channel, or a new one");
    return *window_;
  }

  std::shared_ptr<Window> window_;
  int rank_;
  bool unified_;
  struct Announcement {
    const Word64* word;
    int peer;
    MPI_Aint at;
  };
  std::vector<Announcement> announcements_;
  bool unflushed_ = false;
  Word64 flushes_ = 0;
};

}  // namespace tonari
