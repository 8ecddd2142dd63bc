// SPDX-License-Identifier: BSD-3-Clause
// Memory that processes of one user on one node share. It has no name that could be left behind: it
// ends with the last process that has it mapped.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/owned.hpp"

namespace tonari {

// Another process finds a segment by this. It is trivially copyable, because it is sent as bytes.
struct SegmentName {
  std::int64_t process = 0;  // the process that has it open
  std::int32_t descriptor = -1;

  std::uint64_t bytes = 0;
  std::uint64_t number = 0;  // random; the segment's first word
};

class Segment {
 public:
  // bytes at the start that belong to the segment itself
  static constexpr std::size_t reserved = 128;

  // Makes `bytes` zeroed bytes, besides the reserved ones, that only this user can read. All are
  // backed by memory now, so that no later touch can fail. Throws Errc::memory with the need, the
  // obstacle and the remedy.
  static Segment create(std::size_t bytes);
  // Whether the pages of a mapping come at once, so that no exchange waits for the first touch, or
  // only when this process touches them.
  enum class Pages : std::uint8_t { now, when_touched };

  // Maps what another process made. Throws Errc::memory if that fails (another user or container,
  // the process has ended). It also throws if the content is not what the name says: a stranger may
  // have sent it.
  static Segment attach(const SegmentName& name, Pages pages = Pages::now);

  // Brings only the pages under these bytes, in a mapping whose pages come when touched. Otherwise
  // the first read of a page also brings its neighbors, up to 64 KiB, which count as this process's
  // memory. It does nothing where the system cannot do it.
  void bring(std::size_t at, std::size_t bytes) const;

  SegmentName name() const;
  // Call this when all processes that should have attached: no other can attach after it.
  void finish_attach() { file_.close(); }

  // The first byte after the reserved ones, aligned to 128 bytes.
  std::byte* data() const { return mapping_ ? mapping_.data() + reserved : nullptr; }
  std::size_t bytes() const { return mapping_ ? bytes_ : 0; }
  explicit operator bool() const { return static_cast<bool>(mapping_); }

 private:
  OpenFile file_;
  Mapping mapping_;
  std::size_t bytes_ = 0;  // nonzero as long as there is a mapping
};

}  // namespace tonari
