// SPDX-License-Identifier: BSD-3-Clause
// All ranks in one process.
#pragma once

#include "planners/graphs/bsp_comm.hpp"

namespace tonari {

class LocalBspComm : public BspComm {
 public:
  explicit LocalBspComm(int ranks);
  using BspComm::max;
  using BspComm::send;
  using BspComm::sum;

  void send(std::size_t k, std::int32_t to, std::span<const Word> words) override;
  void exchange() override;
  std::span<const BspMessage> inbox(std::size_t k) const override;
  std::span<const std::size_t> receivers() const override { return receivers_; }
  void sum(std::span<Word>) override {}
  void max(std::span<Word>) override {}

 private:
  struct Posted {
    std::int32_t from, to;
    std::size_t begin, length;  // in words_
  };
  std::vector<Posted> posted_;
  std::vector<Word> words_, delivered_words_;
  std::vector<BspMessage> delivered_;       // grouped by receiver
  std::vector<std::size_t> begin_, count_;  // per rank, in delivered_; count 0: none
  std::vector<std::size_t> receivers_;
};

}  // namespace tonari
