// SPDX-License-Identifier: BSD-3-Clause
#include "planners/graphs/local_bsp_comm.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.hpp"

namespace tonari {

LocalBspComm::LocalBspComm(int ranks) : begin_(ranks, 0), count_(ranks, 0) {
  ranks_ = ranks;
  here_.resize(ranks);
  std::iota(here_.begin(), here_.end(), 0);
}

void LocalBspComm::send(std::size_t k, std::int32_t to, std::span<const Word> words) {
  if (to < 0 || to >= ranks_)
    fail(Errc::internal, "rank ", k, " puts a message for rank ", to, " of ", ranks_);
  const std::size_t begin = words_.size();
  words_.insert(words_.end(), words.begin(), words.end());
  posted_.push_back({here_[k], to, begin, words.size()});  // last: without memory nothing is sent
}

void LocalBspComm::exchange() {
  for (std::size_t k : receivers_) count_[k] = 0;
  receivers_.clear();
  delivered_words_.swap(words_);
  words_.clear();
  for (const Posted& p : posted_)
    if (count_[p.to]++ == 0) receivers_.push_back(static_cast<std::size_t>(p.to));
  std::sort(receivers_.begin(), receivers_.end());
  std::size_t end = 0;
  for (std::size_t k : receivers_)
    begin_[k] = std::exchange(end, end + std::exchange(count_[k], 0));
  delivered_.resize(posted_.size());
  for (const Posted& p : posted_)
    delivered_[begin_[p.to] + count_[p.to]++] = {
        p.from, std::span(delivered_words_).subspan(p.begin, p.length)};
  posted_.clear();
  const auto by_sender = [](const BspMessage& a, const BspMessage& b) { return a.from < b.from; };
  for (std::size_t k : receivers_) {
    const auto mine = std::span(delivered_).subspan(begin_[k], count_[k]);
    // most planners write in that order
    if (!std::is_sorted(mine.begin(), mine.end(), by_sender))
      std::stable_sort(mine.begin(), mine.end(), by_sender);
  }
}

std::span<const BspMessage> LocalBspComm::inbox(std::size_t k) const {
  return std::span(delivered_).subspan(count_[k] ? begin_[k] : 0, count_[k]);
}

}  // namespace tonari
