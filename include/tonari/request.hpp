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
// it refuses on all ranks, so that this rank does not throw alone.
struct Spans {
  template <class Init>
  static Request made(Init init) {
    tonari_request handle = TONARI_REQUEST_NULL;
    check(init(&handle));
    return Request(handle);
  }
  template <class T>
  static const T* array(std::span<const T> entries, int count) {
    return entries.size() == static_cast<std::size_t>(count) ? entries.data() : nullptr;
  }
  template <class T>
  static const T* per_rank(std::span<const T> entries, MPI_Comm comm) {
    return array(entries, ranks(comm));
  }
  static int whole(std::size_t ranks) {
    return ranks <= std::numeric_limits<int>::max() ? static_cast<int>(ranks) : -1;
  }
  // Numbers in all of a buffer, and in each of `count` blocks of equal size.
  template <class T>
  static MPI_Count all(const Elements<T>& buffer) {
    return block(buffer, 1);
  }
  template <class T>
  static MPI_Count block(const Elements<T>& buffer, int count) {
    const auto s = static_cast<std::size_t>(count);
    if (s == 0) return 0;
    if (buffer.size == no_size || buffer.size % s != 0) return -1;
    return static_cast<MPI_Count>(buffer.size / s * ElementOf<std::remove_const_t<T>>::numbers);
  }
  static int ranks(MPI_Comm comm) {
    int size = 0;
    if (comm != MPI_COMM_NULL) MPI_Comm_size(comm, &size);
    return size;
  }
  // Nothing if a block reaches beyond `elements`. What is negative is refused where it is read.
  static Counts within(std::size_t elements, const Counts& counts,
                       std::span<const MPI_Aint> displs) {
    if (elements == no_size) return {};
    for (std::size_t j = 0; j < counts.size() && j < displs.size(); ++j) {
      if (counts[j] <= 0 || displs[j] < 0) continue;
      const auto count = static_cast<std::size_t>(counts[j]),
                 first = static_cast<std::size_t>(displs[j]);
      if (count > elements || first > elements - count) return {};
    }
    return counts;
  }

  // call(function, its counts ...) with the form of a function whose counts are of the type that
  // the program's have: `narrow` takes int, `large` takes MPI_Count. n, m: how many there must be.
  template <class Narrow, class Large, class Call>
  static int with_counts(Narrow narrow, Large large, const Counts& counts, int n, Call call) {
    if (!counts.wide()) return call(narrow, right(counts, n, counts.as<int>()));
    return call(large, right(counts, n, counts.as<MPI_Count>()));
  }
  template <class Narrow, class Large, class Call>
  static int with_counts(Narrow narrow, Large large, const Counts& send, int n, const Counts& recv,
                         int m, Call call) {
    if (!send.wide() && !recv.wide())
      return call(narrow, right(send, n, send.as<int>()), right(recv, m, recv.as<int>()));
    const Widened<MPI_Count> sent(send), received(recv);
    return call(large, right(send, n, sent.get()), right(recv, m, received.get()));
  }
  // The count of one block beside such lists: of the type that the form takes.
  template <class Integer>
  static Integer one_count(const Integer*, MPI_Count count) {
    return static_cast<Integer>(count);
  }
  static Counts if_large(const MPI_Count& count) {
    return count > std::numeric_limits<int>::max() ? Counts(std::span(&count, 1)) : Counts();
  }

 private:
  template <class Integer>
  static const Integer* right(const Counts& counts, int n, const Integer* at) {
    return counts.size() == static_cast<std::size_t>(n) ? at : nullptr;
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
