#include "graphs/local_world.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace tonari {

LocalWorld::LocalWorld(int ranks) : begin_(ranks, 0), count_(ranks, 0) {
  ranks_ = ranks;
  here_.resize(ranks);
  std::iota(here_.begin(), here_.end(), 0);
}

void LocalWorld::put(std::size_t k, std::int32_t to, std::span<const Word> words) {
  if (to < 0 || to >= ranks_) fail(Errc::internal, "rank ", k, " puts a letter for rank ", to, " of ", ranks_);
  posted_.push_back({here_[k], to, words_.size(), words.size()});
  words_.insert(words_.end(), words.begin(), words.end());
  ++letters_;
}

void LocalWorld::exchange() {
  ++exchanges_;
  for (std::size_t k : receivers_) count_[k] = 0;
  receivers_.clear();
  delivered_words_.swap(words_);
  words_.clear();
  std::stable_sort(posted_.begin(), posted_.end(), [](const Posted& a, const Posted& b) { return a.to != b.to ? a.to < b.to : a.from < b.from; });
  delivered_.clear();
  for (const Posted& p : posted_) {
    const auto k = static_cast<std::size_t>(p.to);
    if (count_[k] == 0) {
      receivers_.push_back(k);
      begin_[k] = delivered_.size();
    }
    ++count_[k];
    delivered_.push_back({p.from, std::span(delivered_words_).subspan(p.begin, p.length)});
  }
  posted_.clear();
}

std::span<const Letter> LocalWorld::mail(std::size_t k) const { return std::span(delivered_).subspan(count_[k] ? begin_[k] : 0, count_[k]); }

}  // namespace tonari
