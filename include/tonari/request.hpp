// SPDX-License-Identifier: BSD-3-Clause
// Owner of a request, the exception that functions throw, and how ranges become arguments. Part of
// tonari.hpp.
#pragma once

#if __cplusplus <= 201703L
#error "tonari's C++ headers need C++20: compile with -std=c++20, or use the C headers (tonari.h)"
#endif

#include <tonari/tonari.h>
#include <tonari/ranges.hpp>

#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace tonari {
inline namespace api0 {  // the names link apart from anything else of namespace tonari

class Failure : public std::runtime_error {
 public:
  Failure(int code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  int code() const noexcept { return code_; }  // TONARI_ERR_...

 private:
  int code_;
};

inline void check(int code) {
  if (code != TONARI_SUCCESS) throw Failure(code, tonari_last_error());
}

// Owner of a tonari_request. Empty after a move; an empty request is complete.
class [[nodiscard]] Request {
 public:
  Request() = default;
  explicit Request(tonari_request handle) noexcept : handle_(handle) {}  // takes over
  Request(Request&& other) noexcept : handle_(std::exchange(other.handle_, TONARI_REQUEST_NULL)) {}
  Request& operator=(Request other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Request() {
    tonari_wait(handle_);
    tonari_request_free(&handle_);
  }

  void start() { check(tonari_start(handle_)); }
  // With other buffers, which stay bound: see tonari_start_with. Of vectors: in the order of init.
  // How long they are is not known here; they must have room for what init's had.
  void start_with(const void* sendbuf, void* recvbuf) {
    check(tonari_start_with(handle_, sendbuf, recvbuf));
  }
  // In the order of a stream of a GPU: see tonari_start_on.
  void start_on(void* stream) { check(tonari_start_on(handle_, stream)); }
  void wait_on(void* stream) { check(tonari_wait_on(handle_, stream)); }
  void wait() { check(tonari_wait(handle_)); }
  bool test() {
    int complete = 0;
    check(tonari_test(handle_, &complete));
    return complete != 0;
  }

  std::string describe() const {
    const char* text = tonari_request_describe(handle_);
    return text ? text : "";
  }
  // Strings in it are valid as long as the request.
  tonari_request_info info() const {
    tonari_request_info info;
    check(tonari_request_get_info(handle_, &info));
    return info;
  }
  tonari_request handle() const noexcept { return handle_; }  // stays owned

 private:
  tonari_request handle_ = TONARI_REQUEST_NULL;
};

namespace detail {

// From ranges to arguments of the C interface. What has the wrong length becomes an argument that
// it refuses, and tonari_refuse tells all ranks why, so that this rank does not throw alone.
struct Spans {
  template <class Init>
  static Request made(Init init) {
    tonari_request handle = TONARI_REQUEST_NULL;
    check(init(&handle));
    return Request(handle);
  }
  static void refuse(const std::string& sentence) {
    tonari_refuse(TONARI_ERR_ARGUMENT, sentence.c_str());
  }
  // Whether there are `count` of them, one for each `what`. A communicator without ranks is refused
  // for itself.
  template <class Entries>
  static bool as_many(const Entries& entries, int count, const char* name, const char* what) {
    if (entries.size() == static_cast<std::size_t>(count)) return true;
    if (count == 0 && std::string(what) == "rank") return false;
    refuse("`" + std::string(name) + "` has " + std::to_string(entries.size()) +
           " entries; there must be " + std::to_string(count) + ", one for each " + what);
    return false;
  }
  template <class T>
  static const T* array(std::span<const T> entries, int count, const char* name) {
    return as_many(entries, count, name, "neighbor") ? entries.data() : nullptr;
  }
  template <class T>
  static const T* per_rank(std::span<const T> entries, MPI_Comm comm, const char* name) {
    return as_many(entries, ranks(comm), name, "rank") ? entries.data() : nullptr;
  }
  static int whole(std::size_t ranks) {
    if (ranks <= std::numeric_limits<int>::max()) return static_cast<int>(ranks);
    refuse(std::to_string(ranks) + " neighbors do not fit into an int");
    return -1;
  }
  static bool is_buffer(std::size_t size, const char* name) {
    if (size != no_size) return true;
    refuse("`" + std::string(name) +
           "` has gaps between its elements, and is no buffer; copy it, or use a datatype");
    return false;
  }
  // Numbers in all of a buffer, and in each of `count` blocks of equal size.
  template <class T>
  static MPI_Count all(const Elements<T>& buffer, const char* name) {
    return block(buffer, 1, name);
  }
  template <class T>
  static MPI_Count block(const Elements<T>& buffer, int count, const char* name) {
    const auto s = static_cast<std::size_t>(count);
    if (s == 0) return 0;
    if (!is_buffer(buffer.size, name)) return -1;
    if (buffer.size % s == 0)
      return static_cast<MPI_Count>(buffer.size / s * ElementOf<std::remove_const_t<T>>::numbers);
    refuse("`" + std::string(name) + "` has " + std::to_string(buffer.size) +
           " elements; they must make " + std::to_string(count) + " blocks of one size");
    return -1;
  }
  static int ranks(MPI_Comm comm) {
    int size = 0;
    if (comm != MPI_COMM_NULL) MPI_Comm_size(comm, &size);
    return size;
  }
  // Nothing if a block reaches beyond `elements` of `buf`. What is negative is refused where it is
  // read.
  static Counts within(std::size_t elements, const Counts& counts,
                       std::span<const MPI_Aint> displs) {
    if (!is_buffer(elements, "buf")) return {};
    for (std::size_t j = 0; j < counts.size() && j < displs.size(); ++j) {
      if (counts[j] <= 0 || displs[j] < 0) continue;
      const auto count = static_cast<std::size_t>(counts[j]),
                 first = static_cast<std::size_t>(displs[j]);
      if (count <= elements && first <= elements - count) continue;
      refuse("`buf` has " + std::to_string(elements) + " elements, and block " + std::to_string(j) +
             " has " + std::to_string(count) + " from number " + std::to_string(first) +
             " on; every block must end within `buf`");
      return {};
    }
    return counts;
  }

  // Counts of a call, and how many there must be.
  struct Wanted {
    const Counts& counts;
    int size;
    const char *name, *what;

    template <class Integer>
    const Integer* right(const Integer* at) const {
      return as_many(counts, size, name, what) ? at : nullptr;
    }
  };
  // call(function, its counts ...) with the form of a function whose counts are of the type that
  // the program's have: `narrow` takes int, `large` takes MPI_Count.
  template <class Narrow, class Large, class Call>
  static int with_counts(Narrow narrow, Large large, const Wanted& given, Call call) {
    const Counts& counts = given.counts;
    if (!counts.wide()) return call(narrow, given.right(counts.as<int>()));
    return call(large, given.right(counts.as<MPI_Count>()));
  }
  template <class Narrow, class Large, class Call>
  static int with_counts(Narrow narrow, Large large, const Wanted& send, const Wanted& recv,
                         Call call) {
    if (!send.counts.wide() && !recv.counts.wide())
      return call(narrow, send.right(send.counts.as<int>()), recv.right(recv.counts.as<int>()));
    const Widened<MPI_Count> sent(send.counts), received(recv.counts);
    return call(large, send.right(sent.get()), recv.right(received.get()));
  }
  // Those of a call that sends one block, whose count decides the form, too.
  template <class Narrow, class Large, class Call>
  static int with_counts(Narrow narrow, Large large, MPI_Count sent, const Wanted& recv,
                         Call call) {
    if (sent <= std::numeric_limits<int>::max() && !recv.counts.wide())
      return call(narrow, static_cast<int>(sent), recv.right(recv.counts.as<int>()));
    const Widened<MPI_Count> received(recv.counts);
    return call(large, sent, recv.right(received.get()));
  }
};

}  // namespace detail

// startall(a, b, ...) and waitall(a, b, ...) for Request lvalues; waitall makes them progress
// together.
template <class... Requests>
void startall(Requests&... requests) {
  const std::array<tonari_request, sizeof...(requests)> handles{requests.handle()...};
  check(tonari_startall(static_cast<int>(handles.size()), handles.data()));
}
template <class... Requests>
void waitall(Requests&... requests) {
  const std::array<tonari_request, sizeof...(requests)> handles{requests.handle()...};
  check(tonari_waitall(static_cast<int>(handles.size()), handles.data()));
}

}  // namespace api0
}  // namespace tonari
