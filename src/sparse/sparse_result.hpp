// SPDX-License-Identifier: BSD-3-Clause
// What has arrived in a sparse exchange, and where the program finds it.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <vector>

#include "sparse/sparse_message.hpp"

namespace tonari {

// Messages by source, ascending, those of one source in the order in which it sent them.
struct SparseResult {
  std::vector<int> sources;
  std::vector<MPI_Count> sizes;  // bytes
  std::vector<MPI_Aint> places;  // in data
  std::unique_ptr<std::byte[]> data;
  Bytes room = 0;  // of data

  void clear() { sources.clear(), sizes.clear(), places.clear(); }  // keeps its memory
  Bytes held() const;
  void reserve(Bytes bytes, std::size_t messages);
  void make_room(Bytes bytes);
};

// The messages to this rank, short ones as they came.
class SparseInbox {
 public:
  struct Entry {
    std::int32_t source;
    Bytes bytes;
    const std::byte* address;  // null: a long one, which is still to come
  };

  void clear(Bytes kept) { tonari::clear(words_, kept), pieces_.clear(), entries_.clear(); }
  void reserve(std::size_t words, std::size_t messages) {
    words_.reserve(words), pieces_.reserve(messages), entries_.reserve(messages);
  }
  // A place for a piece.
  Word* add(std::int32_t source, std::size_t words);
  std::vector<Word>& words() { return words_; }  // for what does not come in pieces
  // When all have come: their messages become entries.
  void read_pieces();
  void read(std::int32_t source, std::span<const Word> words);
  void add(const Entry& entry) { entries_.push_back(entry); }
  std::span<const Entry> entries() const { return entries_; }
  // Short messages lie in their places then. rank: this one
  void place(SparseResult& result, int rank);

 private:
  std::vector<Word> words_;
  std::vector<SparsePiece> pieces_;
  std::vector<Entry> entries_;
};

}  // namespace tonari
