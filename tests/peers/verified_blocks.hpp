// SPDX-License-Identifier: BSD-3-Clause
// What the exchanges of tests/peers/ have in common: blocks that show where they come from.
#pragma once

#include <mpi.h>
#include <tonari/tonari.h>

#include <cstdint>
#include <string>
#include <vector>

#include "peers/exchanges.hpp"

namespace tonari::test {

using Word = std::uint64_t;

// What making an exchange throws.
struct NotMade {
  int code;
  std::string sentence;
};

inline void must(int code) {
  if (code != TONARI_SUCCESS) throw NotMade{code, tonari_last_error()};
}

// That of all exchanges.
inline MPI_Comm& exchange_comm() {
  static MPI_Comm comm = MPI_COMM_WORLD;
  return comm;
}

// `to` is -1 in what all get alike.
inline Word content(int from, int to, int number, std::size_t k) {
  return (static_cast<Word>(from) << 48 | static_cast<Word>(to + 1) << 40) +
         static_cast<Word>(number) * 1'000'003 + k;
}

struct World {
  World() {
    MPI_Comm_rank(exchange_comm(), &rank);
    MPI_Comm_size(exchange_comm(), &size);
    for (int r = 0; r < size; ++r)
      if (r != rank) others.push_back(r);
  }
  int rank = 0, size = 1;
  std::vector<int> others;
};

// Blocks of equally many words from and to other ranks, or all.
class Blocks : public VerifiedExchange {
 public:
  long wrong(int number) const override {
    long all = 0;
    for (std::size_t j = 0; j < from_.size(); ++j)
      for (std::size_t k = 0; k < words_; ++k)
        all += in()[j * words_ + k] != content(from_[j], gathers_ ? -1 : world_.rank, number, k);
    return all;
  }

 protected:
  Blocks(int words, bool gathers, bool with_self)
      : words_(static_cast<std::size_t>(words)), gathers_(gathers), from_(world_.others) {
    if (with_self) from_ = ranks_of_all();
    in_.resize(from_.size() * words_);
    out_.resize(gathers ? words_ : in_.size());
  }
  virtual const std::vector<Word>& in() const { return in_; }
  void fill(std::vector<Word>& blocks, int number) const {
    for (std::size_t k = 0; k < blocks.size(); ++k)
      blocks[k] = content(world_.rank, gathers_ ? -1 : from_[k / words_], number, k % words_);
  }
  std::vector<int> ranks_of_all() const {
    std::vector<int> all;
    for (int r = 0; r < world_.size; ++r) all.push_back(r);
    return all;
  }
  int count() const { return static_cast<int>(words_); }

  World world_;
  std::size_t words_;
  bool gathers_;
  std::vector<int> from_;
  std::vector<Word> out_, in_;
};

}  // namespace tonari::test
