// SPDX-License-Identifier: BSD-3-Clause
// Where received messages lie, and how they come there.
#include <algorithm>
#include <climits>
#include <cstring>

#include "mpi/mpi_error.hpp"
#include "sparse/sparse_exchange.hpp"

namespace tonari {

Bytes SparseResult::held() const {
  return room + sources.capacity() * sizeof sources[0] + sizes.capacity() * sizeof sizes[0] +
         places.capacity() * sizeof places[0];
}

void SparseResult::make_room(Bytes bytes) {
  room = 0;
  data.reset();
  data = std::make_unique_for_overwrite<std::byte[]>(bytes);
  room = bytes;
}

void SparseExchange::read_all() {
  const auto read = [&](std::int32_t from, std::span<const Word> words) {
    packing_.read(words, [&](Bytes bytes, const std::byte* address) {
      entries_.push_back({from, bytes, address});
    });
  };
  for (const Piece& piece : got_)
    read(piece.peer, std::span(arrived_).subspan(piece.begin, piece.end - piece.begin));
  if (call_->method.kind != SparseMethod::Kind::pairwise) return;
  for (std::size_t k = 0; k < pairs_->size(); ++k) read(pairs_->rank(k), pairs_->words(k));
}

void SparseExchange::place() {
  const Call& call = *call_;
  SparseResult& result = *result_;
  read_all();
  if (call.method.kind != SparseMethod::Kind::store_and_forward)  // there they came with the others
    for (const SparseMessage& m : call.messages)
      if (m.to == rank_) entries_.push_back({rank_, m.bytes, m.address});
  if (!std::ranges::is_sorted(entries_, {}, &Entry::source))
    std::ranges::stable_sort(entries_, {}, &Entry::source);
  if (entries_.size() > INT_MAX)
    fail(Errc::overflow, "rank ", rank_, " receives ", entries_.size(), " messages");
  Bytes all = 0;
  std::size_t parts = 0;
  for (const Entry& entry : entries_) {
    result.sources.push_back(entry.source);
    result.sizes.push_back(static_cast<MPI_Count>(entry.bytes));
    result.places.push_back(static_cast<MPI_Aint>(all));
    all = checked_add(all, entry.bytes, "bytes received");
    parts += entry.bytes / limits_.part + 1;
  }
  if (all > result.room) result.make_room(all);
  if (!fits_) requests_.reserve(parts + long_parts());
}

void SparseExchange::copy_short() const {
  const SparseResult& result = *result_;
  for (std::size_t k = 0; k < entries_.size(); ++k)
    if (entries_[k].address && entries_[k].bytes > 0)
      std::memcpy(&result.data[static_cast<std::size_t>(result.places[k])], entries_[k].address,
                  entries_[k].bytes);
}

template <class Work>
void SparseExchange::each_part(Bytes bytes, Work work) const {
  for (Bytes at = 0; at < bytes; at += limits_.part)
    work(at, static_cast<int>(std::min(bytes - at, limits_.part)));
}

bool SparseExchange::is_long(const SparseMessage& message) const {
  return message.to != rank_ && !packing_.is_short(message.bytes);
}

std::size_t SparseExchange::long_parts() const {
  std::size_t parts = 0;
  for (const SparseMessage& m : call_->messages)
    if (is_long(m)) parts += m.bytes / limits_.part + 1;
  return parts;
}

// Those from one rank to another are received in the order in which they are sent.
void SparseExchange::move_long() {
  const SparseResult& result = *result_;
  for (std::size_t k = 0; k < entries_.size(); ++k)
    if (!entries_[k].address)
      each_part(entries_[k].bytes, [&](Bytes at, int bytes) {
        check_mpi(MPI_Irecv(&result.data[static_cast<std::size_t>(result.places[k]) + at], bytes,
                            MPI_BYTE, entries_[k].source, sparse_long, comm_, requests_.add()),
                  "MPI_Irecv");
      });
  for (const SparseMessage& m : call_->messages)
    if (is_long(m))
      each_part(m.bytes, [&](Bytes at, int bytes) {
        check_mpi(
            MPI_Isend(m.address + at, bytes, MPI_BYTE, m.to, sparse_long, comm_, requests_.add()),
            "MPI_Isend");
      });
}

}  // namespace tonari
