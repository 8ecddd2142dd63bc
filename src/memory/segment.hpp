// A piece of memory that processes of one user on one node share. It has no name that could be left
// behind: it ends with the last process that has it mapped, however that process ends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memory/owned.hpp"

namespace tonari {

// How another process finds a segment. Trivially copyable: it is sent as bytes.
struct SegmentName {
  std::int64_t process = 0;  // that has it open
  std::int32_t descriptor = -1;

  std::uint64_t bytes = 0;
  std::uint64_t number = 0;  // random; the segment's first word
};

class Segment {
 public:
  // bytes at the start that belong to the segment itself
  static constexpr std::size_t reserved = 128;

  // `bytes` zeroed bytes that only this user can read, besides the reserved ones; all of them are
  // backed by memory now, so that no later touch can fail. Throws Errc::memory with how much was
  // needed, what was in the way, and what to change.
  static Segment create(std::size_t bytes);
  // When the pages of a mapping come to this process: at once, so that no exchange waits for the
  // first touch, or those alone that it touches.
  enum class Pages : std::uint8_t { now, when_touched };

  // Maps what another process made. Throws Errc::memory if that cannot be done (another user,
  // another container, the process has ended) or if it is not what the name says: the content comes
  // from a stranger.
  static Segment attach(const SegmentName& name, Pages pages = Pages::now);

  // Of a mapping whose pages come when they are touched: brings those under these bytes, and them
  // alone. A process that only reads a page first gets its neighbors as well, up to 64 KiB, which
  // then count as memory of this process. Where the system cannot do it nothing happens.
  void bring(std::size_t at, std::size_t bytes) const;

  SegmentName name() const;
  // To be called when all processes that should have attached: no other can.
  void finish_attach() { file_.close(); }

  // aligned to 128 bytes; the first byte after the reserved ones
  std::byte* data() const { return mapping_ ? mapping_.data() + reserved : nullptr; }
  std::size_t bytes() const { return mapping_ ? bytes_ : 0; }
  explicit operator bool() const { return static_cast<bool>(mapping_); }

 private:
  OpenFile file_;
  Mapping mapping_;
  std::size_t bytes_ = 0;  // as long as there is a mapping
};

}  // namespace tonari
