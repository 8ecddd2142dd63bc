// SPDX-License-Identifier: BSD-3-Clause
// Lists of numbers in NumPy's files, of which every rank reads a part. Format: NumPy Enhancement
// Proposal 1, version 1.0.
#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace bench::spmv {

class Npy {
 public:
  // Throws tonari::Error (Errc::file) unless it holds one dimension of 8-byte numbers of that kind:
  // 'i' integers, 'f' floating point.
  Npy(const std::string& path, char kind);
  long long size() const { return size_; }

  template <class T>
  std::vector<T> read(long long first, long long count) {
    static_assert(sizeof(T) == 8);
    std::vector<T> values(static_cast<std::size_t>(count));
    read_bytes(first, count, reinterpret_cast<char*>(values.data()));
    return values;
  }

 private:
  void read_bytes(long long first, long long count, char* into);
  std::string path_;
  std::ifstream file_;
  long long begin_ = 0, size_ = 0;
};

}  // namespace bench::spmv
