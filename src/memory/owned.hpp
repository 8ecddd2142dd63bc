// SPDX-License-Identifier: BSD-3-Clause
// What a process owns of the system; it is given back at the end.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

namespace tonari {

class OpenFile {
 public:
  OpenFile() = default;
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    OpenFile taken(std::move(other));  // takes and closes what was here
    std::swap(descriptor_, taken.descriptor_);
    return *this;
  }
  ~OpenFile() { close(); }

  // Returns whether the system has kept what was written.
  bool close() { return descriptor_ < 0 || ::close(std::exchange(descriptor_, -1)) == 0; }
  int descriptor() const { return descriptor_; }  // -1: none
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

// Consecutive addresses, whatever they show.
class Mapping {
 public:
  Mapping() = default;
  Mapping(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    Mapping taken(std::move(other));
    std::swap(data_, taken.data_);
    std::swap(bytes_, taken.bytes_);
    return *this;
  }
  ~Mapping() {
    if (data_) ::munmap(data_, bytes_);
  }

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Maps a file for reading and writing. With `populate`, all pages are present, so that no first
// touch takes long. If the result is empty, errno says why.
inline Mapping map_shared(int file, std::size_t bytes, std::size_t offset, bool populate) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | (populate ? MAP_POPULATE : 0), file, static_cast<off_t>(offset));
  return at == MAP_FAILED ? Mapping() : Mapping(static_cast<std::byte*>(at), bytes);
}

}  // namespace tonari
