// SPDX-License-Identifier: BSD-3-Clause
// Ranks are spread over several threads that share nothing but messages and sums, as MPI processes
// do. A planner may look at what is not its ranks' own, or its result may depend on which ranks are
// together. Then it gives another result here than in the LocalBspComm.
#pragma once

#include <algorithm>
#include <barrier>
#include <functional>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "planners/graphs/bsp_comm.hpp"

namespace tonari::graphs {

class PostOffice {
 public:
  explicit PostOffice(int processes) : barrier_(processes) {}

  struct Parcel {
    std::int32_t from, to;
    std::vector<Word> words;
  };

  // Everybody's parcels in, those for ranks that `mine` accepts out.
  std::vector<Parcel> swap(std::vector<Parcel> parcels,
                           const std::function<bool(std::int32_t)>& mine) {
    with_lock([&] { parcels_.insert(parcels_.end(), parcels.begin(), parcels.end()); });
    barrier_.arrive_and_wait();
    std::vector<Parcel> own;
    with_lock([&] {
      std::copy_if(parcels_.begin(), parcels_.end(), std::back_inserter(own),
                   [&](const Parcel& p) { return mine(p.to); });
    });
    barrier_.arrive_and_wait();
    with_lock([&] { parcels_.clear(); });
    barrier_.arrive_and_wait();
    return own;
  }

  void combine(std::span<Word> words, const std::function<Word(Word, Word)>& f) {
    with_lock([&] {
      if (total_.empty())
        total_.assign(words.begin(), words.end());
      else
        std::transform(words.begin(), words.end(), total_.begin(), total_.begin(), f);
    });
    barrier_.arrive_and_wait();
    with_lock([&] { std::copy(total_.begin(), total_.end(), words.begin()); });
    barrier_.arrive_and_wait();
    with_lock([&] { total_.clear(); });
    barrier_.arrive_and_wait();
  }

 private:
  void with_lock(const std::function<void()>& f) {
    const std::lock_guard lock(mutex_);
    f();
  }
  std::mutex mutex_;
  std::barrier<> barrier_;
  std::vector<Parcel> parcels_;
  std::vector<Word> total_;
};

class SplitBspComm final : public BspComm {
 public:
  SplitBspComm(PostOffice& office, int ranks, std::vector<std::int32_t> here)
      : office_(office), mail_(here.size()) {
    ranks_ = ranks;
    here_ = std::move(here);
  }
  using BspComm::max;
  using BspComm::send;
  using BspComm::sum;

  void send(std::size_t k, std::int32_t to, std::span<const Word> words) override {
    out_.push_back({here_[k], to, {words.begin(), words.end()}});
  }
  void exchange() override {
    in_ = office_.swap(std::exchange(out_, {}), [&](std::int32_t rank) {
      return std::binary_search(here_.begin(), here_.end(), rank);
    });
    std::stable_sort(in_.begin(), in_.end(),
                     [](const auto& a, const auto& b) { return a.from < b.from; });
    mail_.assign(here_.size(), {});
    receivers_.clear();
    for (std::size_t k = 0; k < here_.size(); ++k) {
      for (const PostOffice::Parcel& p : in_)
        if (p.to == here_[k]) mail_[k].push_back({p.from, p.words});
      if (!mail_[k].empty()) receivers_.push_back(k);
    }
  }
  std::span<const BspMessage> inbox(std::size_t k) const override { return mail_[k]; }
  std::span<const std::size_t> receivers() const override { return receivers_; }
  void sum(std::span<Word> words) override { office_.combine(words, std::plus<Word>()); }
  void max(std::span<Word> words) override {
    office_.combine(words, [](Word a, Word b) { return std::max(a, b); });
  }

 private:
  PostOffice& office_;
  std::vector<PostOffice::Parcel> out_, in_;
  std::vector<std::vector<BspMessage>> mail_;
  std::vector<std::size_t> receivers_;
};

// Calls f(communicator) once for each of `processes` at the same time; process_of[rank] says where
// a rank is.
inline void run_split(int processes, const std::vector<int>& process_of,
                      const std::function<void(BspComm&)>& f) {
  PostOffice office(processes);
  std::vector<std::jthread> threads;
  for (int p = 0; p < processes; ++p)
    threads.emplace_back([&, p] {
      std::vector<std::int32_t> here;
      for (std::size_t r = 0; r < process_of.size(); ++r)
        if (process_of[r] == p) here.push_back(static_cast<std::int32_t>(r));
      SplitBspComm bsp(office, static_cast<int>(process_of.size()), std::move(here));
      f(bsp);
    });
}

}  // namespace tonari::graphs
