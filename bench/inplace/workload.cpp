// SPDX-License-Identifier: BSD-3-Clause
#include "inplace/workload.hpp"

#include <algorithm>

namespace bench::inplace {

namespace {

constexpr Word poison = 0xDEADBEEFDEADBEEF;

Blocks blocks_of(const std::vector<long long>& sizes) {
  Blocks blocks;
  for (const long long size : sizes) {
    blocks.counts.push_back(static_cast<int>(size));
    blocks.offsets.push_back(static_cast<int>(blocks.words));
    blocks.wide_offsets.push_back(static_cast<MPI_Aint>(blocks.words));
    blocks.words += static_cast<std::size_t>(size);
  }
  return blocks;
}

// The finalizer of SplitMix64: neighboring pairs begin far apart.
Word mix(Word x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// Word k of the block from one rank to another is first + k * step.
constexpr Word step = 0x9E3779B97F4A7C15;
Word first(int from, int to) {
  return mix((static_cast<Word>(from) << 32 | static_cast<Word>(to)) + step);
}

}  // namespace

Workload::Workload(MPI_Comm communicator, const Sizes& sizes, bool is_symmetric)
    : comm(communicator), symmetric(is_symmetric) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::vector<long long> incoming;
  for (const auto& row : sizes) incoming.push_back(row[rank]);
  send = blocks_of(sizes[rank]);
  recv = blocks_of(incoming);
  words_ = std::max<std::size_t>(1, std::max(send.words, recv.words));
  data_.reset(new Word[words_]);
  fill();
}

void Workload::fill() {
  std::fill(data_.get(), data_.get() + words_, poison);
  for (int j = 0; j < ranks; ++j) {
    Word value = first(rank, j);
    Word* const block = data() + send.offsets[j];
    for (int k = 0; k < send.counts[j]; ++k, value += step) block[k] = value;
  }
}

bool Workload::delivered(const Word* where) const {
  for (int j = 0; j < ranks; ++j) {
    Word value = first(j, rank);
    const Word* const block = where + recv.offsets[j];
    for (int k = 0; k < recv.counts[j]; ++k, value += step)
      if (block[k] != value) return false;
  }
  return true;
}

bool Workload::original() const {
  for (int j = 0; j < ranks; ++j) {
    Word value = first(rank, j);
    const Word* const block = data() + send.offsets[j];
    for (int k = 0; k < send.counts[j]; ++k, value += step)
      if (block[k] != value) return false;
  }
  return true;
}

std::size_t Workload::bytes_from_others() const {
  return (recv.words - static_cast<std::size_t>(recv.counts[rank])) * sizeof(Word);
}

std::shared_ptr<Word[]> Workload::spare() {
  std::shared_ptr<Word[]> present = spare_.lock();
  if (!present) spare_ = present = std::shared_ptr<Word[]>(new Word[words_]);
  return present;
}

}  // namespace bench::inplace
