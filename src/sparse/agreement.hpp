// SPDX-License-Identifier: BSD-3-Clause
// The superstep in which all ranks agree by one vote. Where a rank has failed, the lowest such rank
// then tells the others its error, which needs no memory.
#pragma once

#include "sparse/superstep.hpp"

namespace tonari {

class Agreement final : public Superstep {
 public:
  explicit Agreement(SparseState& state) : state_(state) {}

  void start() override { vote(false); }
  Seen look() override;
  bool finish() override;

  // For a superstep that votes on the way, and may ask whether any rank said that it counts.
  void vote(bool counts);
  bool voted() const { return vote_ || telling(); }
  bool heard() { return telling() || vote_->test(); }
  bool any_counts() const { return vote_ && vote_->said(counting) != 0; }

 private:
  enum BallotOf : std::size_t { failing, counting, alike, bytes = alike + 2, messages, ballots };
  bool telling() const { return teller_ != nobody; }
  void tell();

  SparseState& state_;
  std::optional<Vote> vote_;
  static constexpr int nobody = -1;
  int teller_ = nobody;
  struct Told {
    std::int32_t code = 0;
    std::uint32_t length = 0;
    std::array<char, 1016> sentence;  // a longer one is cut short
  };
  Told told_;
  MPI_Request telling_ = MPI_REQUEST_NULL;
};

}  // namespace tonari
