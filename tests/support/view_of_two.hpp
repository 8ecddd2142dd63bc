// SPDX-License-Identifier: BSD-3-Clause
// A stand-in for std::mdspan of two dimensions, which few compilers have yet: rows of an array,
// with gaps between them or not.
#pragma once

#include <cstddef>

namespace tonari::test {

template <class T>
class ViewOfTwo {
 public:
  struct Mapping {
    std::size_t rows, columns, stride;
    std::size_t required_span_size() const { return rows == 0 ? 0 : (rows - 1) * stride + columns; }
  };
  using element_type = T;

  ViewOfTwo(T* data, std::size_t rows, std::size_t columns, std::size_t stride)
      : data_(data), mapping_{rows, columns, stride} {}
  T* data_handle() const { return data_; }
  const Mapping& mapping() const { return mapping_; }
  bool is_exhaustive() const { return mapping_.stride == mapping_.columns; }

 private:
  T* data_;
  Mapping mapping_;
};

}  // namespace tonari::test
