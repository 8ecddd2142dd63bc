// SPDX-License-Identifier: BSD-3-Clause
// tonari's sparse exchanges with unknown receivers for C++20: sparse.h with owners, spans and
// exceptions. Header only.
//
//   // values: counts[0] for destinations[0], then counts[1] for destinations[1], ...
//   const auto got = tonari::sparse_alltoallv(comm, destinations, counts, values);
//   for (const auto& [source, theirs] : got) use(source, theirs);
//
// What is collective and which errors there are is said in sparse.h; functions that fail throw
// tonari::Failure.
#pragma once

#include <tonari/sparse.h>
#include <tonari/tonari.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace tonari {
inline namespace api0 {

// A message that came. What it shows is valid as long as its Messages.
template <class T>
struct Message {
  int source;
  std::span<const T> values;
};

// Owner of what came: messages by source, ascending, those of one source in its order.
template <class T>
class [[nodiscard]] Messages {
 public:
  Messages() = default;
  explicit Messages(tonari_messages handle) noexcept : handle_(handle) {}  // takes over
  Messages(Messages&& other) noexcept
      : handle_(std::exchange(other.handle_, TONARI_MESSAGES_NULL)) {}
  Messages& operator=(Messages other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Messages() { tonari_messages_free(&handle_); }

  std::size_t size() const noexcept {
    return handle_ ? static_cast<std::size_t>(handle_->count) : 0;
  }
  bool empty() const noexcept { return size() == 0; }
  Message<T> operator[](std::size_t k) const noexcept {
    return {handle_->sources[k], all().subspan(static_cast<std::size_t>(handle_->displs[k]),
                                               static_cast<std::size_t>(handle_->counts[k]))};
  }
  // One message behind the other.
  std::span<const T> all() const noexcept {
    if (!handle_) return {};
    return {static_cast<const T*>(handle_->data), static_cast<std::size_t>(handle_->total)};
  }
  std::span<const int> sources() const noexcept {
    if (!handle_) return {};
    return {handle_->sources, size()};
  }
  std::string algorithm() const { return handle_ ? handle_->algorithm : ""; }
  tonari_messages handle() const noexcept { return handle_; }  // stays owned
  tonari_messages* to_fill() noexcept { return &handle_; }     // for C calls; it must be empty

  class Iterator {
   public:
    Iterator(const Messages* all, std::size_t k) : all_(all), k_(k) {}
    Message<T> operator*() const { return (*all_)[k_]; }
    Iterator& operator++() { return ++k_, *this; }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const Messages* all_;
    std::size_t k_;
  };
  Iterator begin() const noexcept { return {this, 0}; }
  Iterator end() const noexcept { return {this, size()}; }

 private:
  tonari_messages handle_ = TONARI_MESSAGES_NULL;
};

namespace detail {

// The arguments that both forms have in common: what has the wrong length becomes one that all
// ranks refuse, so that this rank does not throw alone.
template <class T>
struct SparseCall {
  SparseCall(std::span<const int> to, std::span<const MPI_Count> of_each, Elements<T> all)
      : destinations(to), counts(of_each), values(all) {}

  std::span<const int> destinations;
  std::span<const MPI_Count> counts;
  Elements<T> values;

  std::uint64_t needed() const {
    std::uint64_t all = 0;
    for (const MPI_Count count : counts)
      if (count > 0) all += static_cast<std::uint64_t>(count);
    return all;
  }
  bool fits() const {
    return destinations.size() == counts.size() && values.size != no_size &&
           needed() <= values.size;
  }
  // call(sends, destinations, counts, displacements, type, values)
  template <class Call>
  void make(const Call& call) const {
    if (!fits()) refuse();
    check(call(fits() ? static_cast<int>(destinations.size()) : -1, destinations.data(),
               counts.data(), nullptr, values.type(), values.data));
  }
  void refuse() const {
    Spans::refuse("tonari::sparse_alltoallv: there are " + std::to_string(destinations.size()) +
                  " destinations, " + std::to_string(counts.size()) + " counts for " +
                  std::to_string(needed()) + " values, and " +
                  (values.size == no_size ? "they are not contiguous"
                                          : std::to_string(values.size) + " values") +
                  "; give one count per destination, and as many values as the counts add up to");
  }
};

}  // namespace detail

// [collective] values: those of all messages, one message right behind the other; counts[i] of them
// go to destinations[i]. Any contiguous range of numbers (ranges.hpp).
template <detail::Readable Values>
  requires detail::OfNumbers<Values>
auto sparse_alltoallv(MPI_Comm comm, std::span<const int> destinations,
                      std::span<const MPI_Count> counts, Values&& values,
                      MPI_Info info = MPI_INFO_NULL) {
  tonari_messages messages = TONARI_MESSAGES_NULL;
  detail::SparseCall{destinations, counts, detail::elements_of(values)}.make(
      [&](auto... given) { return tonari_sparse_alltoallv(given..., comm, info, &messages); });
  return Messages<typename detail::ElementsOf<Values>::Value>(messages);
}

// Messages on their way.
template <class T>
class [[nodiscard]] PendingMessages {
 public:
  PendingMessages() = default;
  // Takes over the request, and what arrives at `place`.
  PendingMessages(std::unique_ptr<Messages<T>> place, Request request) noexcept
      : place_(std::move(place)), request_(std::move(request)) {}

  bool test() { return request_.test(); }
  // What came; nothing if it was taken before.
  Messages<T> wait() {
    request_.wait();
    return place_ ? std::move(*place_) : Messages<T>();
  }

 private:
  std::unique_ptr<Messages<T>> place_;  // outlives the request
  Request request_;
};

// [collective] The same, without waiting. `values` must not change until it is complete.
template <detail::Readable Values>
  requires detail::OfNumbers<Values>
auto sparse_ialltoallv(MPI_Comm comm, std::span<const int> destinations,
                       std::span<const MPI_Count> counts, Values&& values,
                       MPI_Info info = MPI_INFO_NULL) {
  using Number = typename detail::ElementsOf<Values>::Value;
  auto place = std::make_unique<Messages<Number>>();
  Request owner;  // where this throws, it completes what was begun
  detail::SparseCall{destinations, counts, detail::elements_of(values)}.make([&](auto... given) {
    tonari_request request = TONARI_REQUEST_NULL;
    const int code = tonari_sparse_ialltoallv(given..., comm, info, place->to_fill(), &request);
    owner = Request(request);
    return code;
  });
  return PendingMessages<Number>(std::move(place), std::move(owner));
}

}  // namespace api0
}  // namespace tonari
