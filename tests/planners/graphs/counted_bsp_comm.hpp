// SPDX-License-Identifier: BSD-3-Clause
// All ranks in this process, and how many exchanges and messages they have needed so far.
#pragma once

#include "planners/graphs/local_bsp_comm.hpp"

namespace tonari {

class CountedBspComm : public LocalBspComm {
 public:
  using LocalBspComm::LocalBspComm;
  using LocalBspComm::send;

  void send(std::size_t k, std::int32_t to, std::span<const Word> words) override {
    LocalBspComm::send(k, to, words);
    ++messages_;
  }
  void exchange() override {
    LocalBspComm::exchange();
    ++exchanges_;
  }

  std::size_t exchanges() const { return exchanges_; }
  std::size_t messages() const { return messages_; }

 private:
  std::size_t exchanges_ = 0, messages_ = 0;
};

}  // namespace tonari
