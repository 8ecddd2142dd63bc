// SPDX-License-Identifier: BSD-3-Clause
// tonari's block-structured grids for C++20: blocks.h with owners, spans and exceptions. Header
// only.
//
//   tonari::BlocksShape shape(boxes, owners, 3, 2, MPI_DOUBLE);  // 3 dimensions, ghosts 2 wide
//   tonari::Blocks blocks(comm, shape);
//   for (const std::int64_t b : blocks.own()) allocate(blocks.array(b));
//   tonari::Request fill = blocks.forward_init(arrays);
//   for (...) { fill.start(); fill.wait(); compute(arrays); }
//
// What is collective, what may overlap and which errors there are is said in blocks.h; functions
// that fail throw tonari::Failure. The destructor is collective: let blocks of one communicator go
// in the same order on all ranks. Requests may live on.
#pragma once

#include <tonari/blocks.h>
#include <tonari/tonari.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tonari {
inline namespace api0 {

// tonari_blocks_shape with its usual members filled in; all of them can be changed afterwards. The
// spans must live until Blocks is made.
struct BlocksShape : tonari_blocks_shape {
  // halo: width of the ghosts on every side.
  BlocksShape(std::span<const tonari_box> all, std::span<const int> ranks, int dimensions,
              std::int64_t halo, MPI_Datatype cell)
      : tonari_blocks_shape{} {
    if (all.size() != ranks.size())
      wrong = "tonari::BlocksShape: there are " + std::to_string(all.size()) + " boxes and " +
              std::to_string(ranks.size()) + " owners; every box must have one";
    dims = dimensions, type = cell;
    count = wrong.empty() ? static_cast<std::int64_t>(all.size()) : -1;
    boxes = all.data(), owners = ranks.data();
    // what is wrong with dims is said by tonari_blocks_create
    for (int k = 0; k < dims && k < TONARI_GRID_MAX_DIMS; ++k) lower[k] = upper[k] = halo;
  }

  std::string wrong;  // of its lists; all ranks hear of it when Blocks is made
};

class [[nodiscard]] Blocks {
 public:
  Blocks() = default;
  [[nodiscard]] Blocks(MPI_Comm comm, const tonari_blocks_shape& shape,
                       MPI_Info info = MPI_INFO_NULL)
      : Blocks() {  // so that the handle is freed if something throws
    fields_ = shape.fields > 0 ? shape.fields : 1;
    check(tonari_blocks_create(comm, &shape, info, &handle_));
    std::int64_t count = 0;
    check(tonari_blocks_get_own(handle_, &count, nullptr));
    own_.resize(static_cast<std::size_t>(count));
    check(tonari_blocks_get_own(handle_, &count, own_.data()));
  }
  [[nodiscard]] Blocks(MPI_Comm comm, const BlocksShape& shape, MPI_Info info = MPI_INFO_NULL)
      : Blocks(comm, told(shape), info) {}
  Blocks(Blocks&& other) noexcept
      : handle_(std::exchange(other.handle_, TONARI_BLOCKS_NULL)),
        fields_(other.fields_),
        own_(std::move(other.own_)) {}
  Blocks& operator=(Blocks other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(fields_, other.fields_);
    std::swap(own_, other.own_);
    return *this;
  }
  ~Blocks() {
    if (handle_) tonari_blocks_free(&handle_);
  }

  // The numbers of this rank's blocks, ascending.
  const std::vector<std::int64_t>& own() const { return own_; }
  // How a block's arrays lie.
  tonari_array array(std::int64_t block) const {
    tonari_array array;
    check(tonari_blocks_get_array(handle_, block, &array));
    return array;
  }

  // arrays: own blocks x fields.
  Request forward_init(std::span<void* const> arrays, const tonari_ghosts& ghosts = {},
                       MPI_Info info = MPI_INFO_NULL) const {
    tonari_request request = TONARI_REQUEST_NULL;
    check(tonari_blocks_forward_init(handle_, all(arrays), &ghosts, info, &request));
    return Request(request);
  }
  Request reverse_init(std::span<void* const> arrays, MPI_Op op = MPI_SUM,
                       const tonari_ghosts& ghosts = {}, MPI_Info info = MPI_INFO_NULL) const {
    tonari_request request = TONARI_REQUEST_NULL;
    check(tonari_blocks_reverse_init(handle_, all(arrays), &ghosts, op, info, &request));
    return Request(request);
  }
  // Starts a request of these blocks with other arrays; see tonari_blocks_start_with.
  void start_with(const Request& request, std::span<void* const> arrays) const {
    if (const std::string wrong = wrong_number(arrays.size()); !wrong.empty())
      throw Failure(TONARI_ERR_ARGUMENT, "tonari::Blocks::start_with: " + wrong);
    check(tonari_blocks_start_with(request.handle(), arrays.data()));
  }
  void forward(std::span<void* const> arrays, const tonari_ghosts& ghosts = {}) const {
    check(tonari_blocks_forward(handle_, all(arrays), &ghosts));
  }
  void reverse(std::span<void* const> arrays, MPI_Op op = MPI_SUM,
               const tonari_ghosts& ghosts = {}) const {
    check(tonari_blocks_reverse(handle_, all(arrays), &ghosts, op));
  }

  tonari_blocks handle() const noexcept { return handle_; }  // stays owned

 private:
  static const tonari_blocks_shape& told(const BlocksShape& shape) {
    if (!shape.wrong.empty()) detail::Spans::refuse(shape.wrong);
    return shape;
  }
  std::string wrong_number(std::size_t arrays) const {
    const std::size_t wanted = own_.size() * static_cast<std::size_t>(fields_);
    if (arrays == wanted) return "";
    return "there are " + std::to_string(arrays) + " arrays; there must be " +
           std::to_string(wanted) + ", one for each own block and field";
  }
  // A rank that gave the wrong number of them gives none, so that the call fails on all ranks.
  void* const* all(std::span<void* const> arrays) const {
    const std::string wrong = wrong_number(arrays.size());
    if (wrong.empty()) return arrays.data();
    detail::Spans::refuse("tonari::Blocks: " + wrong);
    return nullptr;
  }

  tonari_blocks handle_ = TONARI_BLOCKS_NULL;
  int fields_ = 1;
  std::vector<std::int64_t> own_;
};

}  // namespace api0
}  // namespace tonari
