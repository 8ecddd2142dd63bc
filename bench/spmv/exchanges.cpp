// SPDX-License-Identifier: BSD-3-Clause
// Forward: the owners' values to all that need them. Reverse: contributions of all back to the
// owners, who add them. Between packing and adding goes a Mover. There are two pairs of arrays, for
// candidates that exchange them in turn; all others use the first.
#include <array>
#include <limits>

#include "spmv/mover.hpp"
#include "spmv/vector_exchange.hpp"

namespace bench::spmv {

namespace {

// Whole numbers, so that sums are exact in any order; they differ with index, rank, generation and
// the pair of arrays.
double value_of(std::int64_t index, int generation, std::size_t pair) {
  return static_cast<double>(index + 1) + 0.25 * (generation % 4) + 1e9 * static_cast<double>(pair);
}
double contribution(std::int64_t index, int rank, int generation, std::size_t pair) {
  return static_cast<double>(index % 1009 + 3 * rank + generation) +
         1e9 * static_cast<double>(pair);
}

struct Pair {
  std::vector<double> owned, ghosts;
};

// One number more than needed: addresses are never null.
class OnVectors : public Contest {
 public:
  OnVectors(const Share& share, const std::string& tune)
      : share_(share), tune_(tune), packed_(share.wanted.size() + 1) {
    for (Pair& pair : pairs_)
      pair.owned.resize(static_cast<std::size_t>(share.owned) + 1),
          pair.ghosts.resize(share.ghosts.size() + 1);
  }
  const std::vector<std::string>& names() const override { return all_candidates(); }
  std::unique_ptr<Way> make(const std::string& name) override {
    if (const std::string route = route_of(name); !route.empty())
      return make_vector(forward(), route, share_, tune_, turn(0).from, turn(0).to);
    if (name == one_shot_calls)
      return make_one_shot_calls(forward(), share_, turn(0).from, turn(0).to);
    if (name == start_with || name == two_requests)
      return make_in_turn(forward(), name, share_, tune_, {{turn(0), turn(1)}, at_});
    return make_packed(name);
  }
  void prepare(int generation) override {
    at_ = 0;
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      for (std::int64_t i = 0; i < share_.owned; ++i)
        pairs_[p].owned[static_cast<std::size_t>(i)] = value_of(share_.first + i, generation, p);
      fill_ghosts(pairs_[p].ghosts, generation, p);
    }
    clear(packed_);
  }
  bool correct(int generation) const override { return holds(pairs_[at_], generation, at_); }

 protected:
  virtual bool forward() const = 0;
  virtual std::unique_ptr<Way> make_packed(const std::string& name) = 0;
  virtual void fill_ghosts(std::vector<double>& ghosts, int generation, std::size_t pair) const = 0;
  virtual bool holds(const Pair& pair, int generation, std::size_t number) const = 0;
  static void clear(std::vector<double>& buffer) {
    buffer.assign(buffer.size(), std::numeric_limits<double>::quiet_NaN());
  }

  const Share& share_;
  const std::string tune_;
  std::array<Pair, 2> pairs_;
  std::vector<double>&owned_ = pairs_[0].owned, &ghosts_ = pairs_[0].ghosts;
  std::vector<double> packed_;

 private:
  Turns::Pair turn(std::size_t number) {
    Pair& pair = pairs_[number];
    if (forward()) return {pair.owned.data(), pair.ghosts.data()};
    return {pair.ghosts.data(), pair.owned.data()};
  }

  std::size_t at_ = 0;  // the pair that was exchanged last
};

class Forward : public OnVectors {
 public:
  using OnVectors::OnVectors;

 private:
  bool forward() const override { return true; }
  std::unique_ptr<Way> make_packed(const std::string& name) override {
    auto mover = make_mover(
        name, tune_, {share_.comm, share_.targets, packed_.data(), share_.sources, ghosts_.data()});
    return moved(std::move(mover), [&wanted = share_.wanted, owned = owned_.data(),
                                    packed = packed_.data()](Mover& mover) {
      for (std::size_t k = 0; k < wanted.size(); ++k) packed[k] = owned[wanted[k]];
      mover.run();
    });
  }
  void fill_ghosts(std::vector<double>& ghosts, int /*generation*/,
                   std::size_t /*pair*/) const override {
    clear(ghosts);
  }
  bool holds(const Pair& pair, int generation, std::size_t number) const override {
    bool good = true;
    for (std::size_t k = 0; k < share_.ghosts.size(); ++k)
      good = good && pair.ghosts[k] == value_of(share_.ghosts[k], generation, number);
    for (std::int64_t i = 0; i < share_.owned; ++i)
      good = good && pair.owned[static_cast<std::size_t>(i)] ==
                         value_of(share_.first + i, generation, number);
    return good;
  }
};

class Reverse : public OnVectors {
 public:
  using OnVectors::OnVectors;

 private:
  bool forward() const override { return false; }
  std::unique_ptr<Way> make_packed(const std::string& name) override {
    auto mover = make_mover(
        name, tune_, {share_.comm, share_.sources, ghosts_.data(), share_.targets, packed_.data()});
    return moved(std::move(mover), [&wanted = share_.wanted, owned = owned_.data(),
                                    arrived = packed_.data()](Mover& mover) {
      mover.run();
      for (std::size_t k = 0; k < wanted.size(); ++k) owned[wanted[k]] += arrived[k];
    });
  }
  void fill_ghosts(std::vector<double>& ghosts, int generation, std::size_t pair) const override {
    for (std::size_t k = 0; k < share_.ghosts.size(); ++k)
      ghosts[k] = contribution(share_.ghosts[k], share_.rank, generation, pair);
  }
  bool holds(const Pair& pair, int generation, std::size_t number) const override {
    std::vector<double> expected(static_cast<std::size_t>(share_.owned));
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = value_of(share_.first + static_cast<std::int64_t>(i), generation, number);
    for (int t = 0; t < share_.targets.size(); ++t)
      for (int k = share_.targets.displs[t];
           k < share_.targets.displs[t] + share_.targets.counts[t]; ++k)
        expected[static_cast<std::size_t>(share_.wanted[k])] += contribution(
            share_.first + share_.wanted[k], share_.targets.ranks[t], generation, number);
    bool good = std::equal(expected.begin(), expected.end(), pair.owned.begin());
    for (std::size_t k = 0; k < share_.ghosts.size(); ++k)
      good =
          good && pair.ghosts[k] == contribution(share_.ghosts[k], share_.rank, generation, number);
    return good;
  }
};

}  // namespace

std::unique_ptr<Contest> make_forward(const Share& share, const std::string& tune) {
  return std::make_unique<Forward>(share, tune);
}
std::unique_ptr<Contest> make_reverse(const Share& share, const std::string& tune) {
  return std::make_unique<Reverse>(share, tune);
}

}  // namespace bench::spmv
