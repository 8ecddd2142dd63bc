// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/sparse_result.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

namespace tonari {

Bytes SparseResult::held() const {
  return room + sources.capacity() * sizeof sources[0] + sizes.capacity() * sizeof sizes[0] +
         places.capacity() * sizeof places[0];
}

void SparseResult::reserve(Bytes bytes, std::size_t messages) {
  sources.reserve(messages), sizes.reserve(messages), places.reserve(messages);
  if (room < bytes) make_room(bytes);
}

void SparseResult::make_room(Bytes bytes) {
  room = 0;
  data.reset();
  data = std::make_unique_for_overwrite<std::byte[]>(bytes);
  room = bytes;
}

Word* SparseInbox::add(std::int32_t source, std::size_t words) {
  const std::size_t begin = words_.size();
  words_.resize(begin + words);
  pieces_.push_back({source, begin, begin + words});
  return words_.data() + begin;
}

void SparseInbox::read_pieces() {
  for (const SparsePiece& piece : pieces_)
    read(piece.peer, std::span(words_).subspan(piece.begin, piece.end - piece.begin));
}

void SparseInbox::read(std::int32_t source, std::span<const Word> words) {
  MessagePacking::read(words, [&](Bytes bytes, const std::byte* address) {
    entries_.push_back({source, bytes, address});
  });
}

void SparseInbox::place(SparseResult& result, int rank) {
  if (!std::ranges::is_sorted(entries_, {}, &Entry::source))
    std::ranges::stable_sort(entries_, {}, &Entry::source);
  if (entries_.size() > INT_MAX)
    fail(Errc::overflow, "rank ", rank, " receives ", entries_.size(), " messages");
  Bytes all = 0;
  for (const Entry& entry : entries_) {
    result.sources.push_back(entry.source);
    result.sizes.push_back(static_cast<MPI_Count>(entry.bytes));
    result.places.push_back(static_cast<MPI_Aint>(all));
    all = checked_add(all, entry.bytes, "bytes received");
  }
  if (all > result.room) result.make_room(all);
  for (std::size_t k = 0; k < entries_.size(); ++k)
    if (entries_[k].address && entries_[k].bytes > 0)
      std::memcpy(&result.data[static_cast<std::size_t>(result.places[k])], entries_[k].address,
                  entries_[k].bytes);
}

}  // namespace tonari
