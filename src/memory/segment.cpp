// SPDX-License-Identifier: BSD-3-Clause
#include "memory/segment.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "memory/memory.hpp"
#include "memory/pages.hpp"
#include "memory/process.hpp"
#include "memory/shared_file.hpp"

namespace tonari {
namespace {

constexpr SharedFileWords words_of_segment{
    "share", "with the other processes of this node", "segment",
    "set TONARI_CHANNEL=p2p-packed to do without shared memory"};

// Adds the segment's own bytes to `bytes` and rounds up to whole pages; 0 if no process can map
// that much.
std::size_t in_pages(std::uint64_t bytes) {
  const std::size_t page = system_page();
  if (bytes > std::numeric_limits<std::ptrdiff_t>::max() - Segment::reserved - page) return 0;
  return round_up(static_cast<std::size_t>(bytes) + Segment::reserved, page);
}

}  // namespace

Segment Segment::create(std::size_t bytes) {
  Segment made;
  made.bytes_ = bytes;
  const std::size_t size = in_pages(bytes);
  if (size == 0)
    cannot_share(words_of_segment, bytes, "no process can have as many", "check the counts");
  const std::uint64_t number = random_number(words_of_segment, bytes);
  made.file_ = make_shared_file(words_of_segment, size);
  if (!(made.mapping_ = map_shared(made.file_.descriptor(), size, 0, true)))
    cannot_share(words_of_segment, size, "they cannot be mapped (" + system_reason(errno) + ")",
                 "look at `ulimit -v` and vm.max_map_count,");
  std::memcpy(made.mapping_.data(), &number, sizeof number);
  return made;
}

Segment Segment::attach(const SegmentName& name, Pages pages) {
  Segment made;
  made.bytes_ = name.bytes;
  const SharedFileName wanted{
      name.process, name.descriptor, name.bytes, in_pages(name.bytes), name.number, 0, 0};
  const OpenFile file = open_shared_file(words_of_segment, wanted);
  if (!(made.mapping_ = map_shared(file.descriptor(), wanted.size, 0, pages == Pages::now)))
    cannot_attach(words_of_segment, wanted,
                  system_reason(errno) + ": look at `ulimit -v` and vm.max_map_count");
  return made;  // the mapping keeps the memory alive
}

void Segment::bring(std::size_t at, std::size_t bytes) const {
  constexpr int populate_for_writing = 23;  // MADV_POPULATE_WRITE, Linux 5.14
  const std::size_t page = system_page();
  const std::size_t first = (reserved + at) / page * page,
                    end = std::min(round_up(reserved + at + bytes, page), mapping_.bytes());
  if (mapping_ && first < end)
    (void)::madvise(mapping_.data() + first, end - first, populate_for_writing);
}

SegmentName Segment::name() const {
  SegmentName name{this_process(), file_.descriptor(), bytes_, 0};
  if (mapping_) std::memcpy(&name.number, mapping_.data(), sizeof name.number);
  return name;
}

}  // namespace tonari
