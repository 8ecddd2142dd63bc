// SPDX-License-Identifier: BSD-3-Clause
// What one rank sends or receives in one exchange: the buffer, the arguments that describe it to
// the MPI, and where each element lies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calls.hpp"
#include "payload.hpp"
#include "shapes.hpp"
#include "topologies.hpp"

namespace conformance {

// One exchange: which call, with which data, between whom.
struct Exchange {
  Call call;
  Data data;
  const Edges* edges;
  int variant;  // lengths of blocks differ by it

  int blocks(bool receives) const;
  int pairs(int rank, int block) const;  // of elements in that rank's block
};

class Side {
 public:
  // Of an exchange in place there is the receive side alone.
  Side(const Exchange& exchange, bool receives, Types& types);
  Side(const Side&) = delete;  // the MPI knows where it lies
  Side& operator=(const Side&) = delete;

  Arguments arguments;

  // Before an exchange: what is sent is there, what is received is not.
  void fill(int round);
  // After it: what is wrong, in a sentence, or nothing. What is sent must not have changed.
  std::string wrong(int round) const;

 private:
  struct Block {
    int rank, number;                 // whose block lies here, and which of that rank's
    std::vector<std::size_t> places;  // in words
  };

  const Shape& shape_of(int block) const;
  Block block_of(int index) const;
  void reserve_one();
  void add(int index, Types& types);
  void describe(int index, int instances, MPI_Aint at, Types& types);
  MPI_Aint bytes_to(int index) const;
  MPI_Aint origin() const;
  std::vector<std::int64_t> image(int round, bool before) const;
  std::string mismatch(std::size_t word, std::int64_t should, int round) const;

  Exchange exchange_;
  bool receives_;
  std::vector<Shape> shapes_;
  std::vector<Block> blocks_;
  std::vector<std::int64_t> words_;
};

// What the MPI is given as the send side of an exchange in place.
Arguments in_place();

}  // namespace conformance
