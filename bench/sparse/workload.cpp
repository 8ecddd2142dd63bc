// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/workload.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace bench::sparse {

namespace {

Word value(int from, int to, std::size_t i, int turn) {
  return (static_cast<Word>(from) << 40) + (static_cast<Word>(to) << 20) + 7 * i +
         static_cast<Word>(turn);
}

std::vector<int> targets_of(int rank, int ranks, int wanted, unsigned seed) {
  std::vector<int> others(static_cast<std::size_t>(ranks));
  std::iota(others.begin(), others.end(), 0);
  std::erase(others, rank);
  std::mt19937 random(seed * 7919 + static_cast<unsigned>(rank));
  std::shuffle(others.begin(), others.end(), random);
  others.resize(std::min(others.size(), static_cast<std::size_t>(wanted)));
  std::sort(others.begin(), others.end());
  return others;
}

}  // namespace

Workload::Workload(MPI_Comm communicator, int wanted, std::size_t words_each, unsigned seed)
    : comm(communicator), words(words_each) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  targets = targets_of(rank, ranks, wanted, seed);
  values.resize(targets.size() * words);
  for (int r = 0; r < ranks; ++r) {
    const std::vector<int> theirs = targets_of(r, ranks, wanted, seed);
    if (std::binary_search(theirs.begin(), theirs.end(), rank)) sources_.push_back(r);
  }
}

void Workload::fill(int turn) {
  turn_ = turn;
  for (std::size_t k = 0; k < targets.size(); ++k)
    for (std::size_t i = 0; i < words; ++i)
      values[k * words + i] = value(rank, targets[k], i, turn);
}

bool Workload::delivered(const std::vector<Arrived>& arrived) const {
  std::vector<int> sources;
  for (const Arrived& m : arrived) {
    sources.push_back(m.source);
    if (m.words != words) return false;
    for (std::size_t i = 0; i < words; ++i)
      if (m.values[i] != value(m.source, rank, i, turn_)) return false;
  }
  std::sort(sources.begin(), sources.end());
  return sources == sources_;
}

}  // namespace bench::sparse
