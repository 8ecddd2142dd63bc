// All ranks in one process.
#pragma once

#include "planners/graphs/world.hpp"

namespace tonari {

class LocalWorld final : public World {
 public:
  explicit LocalWorld(int ranks);
  using World::max;
  using World::put;
  using World::sum;

  void put(std::size_t k, std::int32_t to, std::span<const Word> words) override;
  void exchange() override;
  std::span<const Letter> mail(std::size_t k) const override;
  std::span<const std::size_t> receivers() const override { return receivers_; }
  void sum(std::span<Word>) override {}
  void max(std::span<Word>) override {}

  std::size_t exchanges() const { return exchanges_; }   // so far
  std::size_t letters_sent() const { return letters_; }  // so far

 private:
  struct Posted {
    std::int32_t from, to;
    std::size_t begin, length;  // in words_
  };
  std::vector<Posted> posted_;
  std::vector<Word> words_, delivered_words_;
  std::vector<Letter> delivered_;           // grouped by receiver
  std::vector<std::size_t> begin_, count_;  // per rank, in delivered_; count 0: none
  std::vector<std::size_t> receivers_;
  std::size_t exchanges_ = 0, letters_ = 0;
};

}  // namespace tonari
