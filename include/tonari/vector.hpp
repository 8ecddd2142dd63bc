// tonari's distributed vectors for C++20: vector.h with owners, spans and exceptions. Header only.
//
//   // what this rank owns and needs
//   tonari::DistributedVector vector(comm, first, owned, indices);
//   tonari::Request fill = vector.forward_init(std::span<const double>(x), std::span(ghosts));
//   for (...) { fill.start(); compute_with(x); fill.wait(); compute_with(ghosts); }
//
// What is collective, what may overlap and which errors there are is said in vector.h; functions
// that fail throw tonari::Failure. The destructor is collective: let vectors of one communicator go
// in the same order on all ranks. Requests may live on.
#pragma once

#include <tonari/vector.h>
#include <tonari/tonari.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace tonari {
inline namespace api0 {

// How values lie in spans: see tonari_vector_values. Strides of 0: one vector right behind the
// other.
struct ValueLayout {
  int components = 1, vectors = 1;
  std::int64_t owned_stride = 0, ghost_stride = 0;
};

class DistributedVector {
 public:
  DistributedVector() = default;
  // This rank owns first, ..., first + owned - 1 and needs indices.
  DistributedVector(MPI_Comm comm, std::int64_t first, std::int64_t owned,
                    std::span<const std::int64_t> indices, MPI_Info info = MPI_INFO_NULL)
      : owned_(owned), needed_(static_cast<std::int64_t>(indices.size())) {
    check(tonari_vector_create(comm, first, owned, needed_, indices.data(), info, &handle_));
  }
  DistributedVector(DistributedVector&& other) noexcept
      : handle_(std::exchange(other.handle_, TONARI_VECTOR_NULL)),
        owned_(other.owned_),
        needed_(other.needed_) {}
  DistributedVector& operator=(DistributedVector other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(owned_, other.owned_);
    std::swap(needed_, other.needed_);
    return *this;
  }
  ~DistributedVector() {
    if (handle_) tonari_vector_free(&handle_);
  }

  // Persistent: ghosts[k] becomes the value of indices[k].
  template <class T>
  Request forward_init(std::span<const T> owned, std::span<T> ghosts,
                       const ValueLayout& layout = {}, MPI_Info info = MPI_INFO_NULL) const {
    return made<T>(owned.size(), ghosts.size(), layout,
                   [&](const tonari_vector_values& values, tonari_request* request) {
                     return tonari_vector_forward_init(handle_, &values, owned.data(),
                                                       ghosts.data(), info, request);
                   });
  }
  // Persistent: owned[i] becomes owned[i] op all ghosts of i.
  template <class T>
  Request reverse_init(MPI_Op op, std::span<const T> ghosts, std::span<T> owned,
                       const ValueLayout& layout = {}, MPI_Info info = MPI_INFO_NULL) const {
    return made<T>(owned.size(), ghosts.size(), layout,
                   [&](const tonari_vector_values& values, tonari_request* request) {
                     return tonari_vector_reverse_init(handle_, &values, op, ghosts.data(),
                                                       owned.data(), info, request);
                   });
  }
  // Single calls.
  template <class T>
  void forward(std::span<const T> owned, std::span<T> ghosts,
               const ValueLayout& layout = {}) const {
    checked<T>(owned.size(), ghosts.size(), layout, [&](const tonari_vector_values& values) {
      return tonari_vector_forward(handle_, &values, owned.data(), ghosts.data());
    });
  }
  template <class T>
  void reverse(MPI_Op op, std::span<const T> ghosts, std::span<T> owned,
               const ValueLayout& layout = {}) const {
    checked<T>(owned.size(), ghosts.size(), layout, [&](const tonari_vector_values& values) {
      return tonari_vector_reverse(handle_, &values, op, ghosts.data(), owned.data());
    });
  }

  tonari_vector_facts facts() const {
    tonari_vector_facts facts;
    check(tonari_vector_get_facts(handle_, &facts));
    return facts;
  }
  std::int64_t owned() const noexcept { return owned_; }
  std::int64_t needed() const noexcept { return needed_; }
  tonari_vector handle() const noexcept { return handle_; }  // stays owned

 private:
  // Values that a span must have room for.
  static std::int64_t room(std::int64_t indices, std::int64_t stride, const ValueLayout& layout) {
    const std::int64_t row = indices * layout.components;
    return row == 0 ? 0 : (layout.vectors - 1) * (stride ? stride : row) + row;
  }
  // A span that is too short becomes an argument that is refused on all ranks, so that this rank
  // does not throw alone.
  template <class T, class Call>
  void checked(std::size_t owned, std::size_t ghosts, const ValueLayout& layout, Call call) const {
    tonari_vector_values values{};
    values.type = mpi_type<T>();
    values.components = layout.components, values.vectors = layout.vectors;
    values.owned_stride = layout.owned_stride, values.ghost_stride = layout.ghost_stride;
    const std::int64_t least_owned = room(owned_, layout.owned_stride, layout),
                       least_ghosts = room(needed_, layout.ghost_stride, layout);
    const bool fits = static_cast<std::int64_t>(owned) >= least_owned &&
                      static_cast<std::int64_t>(ghosts) >= least_ghosts;
    if (!fits) values.components = -1;
    const int code = call(values);
    if (!fits)
      throw Failure(TONARI_ERR_ARGUMENT,
                    "tonari::DistributedVector: the spans have " + std::to_string(owned) +
                        " owned values and " + std::to_string(ghosts) + " ghosts; there must be " +
                        std::to_string(least_owned) + " and " + std::to_string(least_ghosts));
    check(code);
  }
  template <class T, class Init>
  Request made(std::size_t owned, std::size_t ghosts, const ValueLayout& layout, Init init) const {
    tonari_request request = TONARI_REQUEST_NULL;
    checked<T>(owned, ghosts, layout,
               [&](const tonari_vector_values& values) { return init(values, &request); });
    return Request(request);
  }

  tonari_vector handle_ = TONARI_VECTOR_NULL;
  std::int64_t owned_ = 0, needed_ = 0;
};

}  // namespace api0
}  // namespace tonari
