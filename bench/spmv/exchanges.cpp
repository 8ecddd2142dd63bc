// Forward: the owners' values to all that need them. Reverse: contributions of all back to the
// owners, who add them. Between packing and adding goes a Mover.
#include <limits>

#include "spmv/mover.hpp"
#include "spmv/vector_exchange.hpp"

namespace bench::spmv {

namespace {

// Whole numbers, so that sums are exact in any order; they differ with index, rank and generation.
double value_of(std::int64_t index, int generation) {
  return static_cast<double>(index + 1) + 0.25 * (generation % 4);
}
double contribution(std::int64_t index, int rank, int generation) {
  return static_cast<double>(index % 1009 + 3 * rank + generation);
}

// One number more than needed: addresses are never null.
class OnVectors : public Contest {
 public:
  OnVectors(const Share& share, const std::string& tune)
      : share_(share),
        tune_(tune),
        owned_(static_cast<std::size_t>(share.owned) + 1),
        ghosts_(share.ghosts.size() + 1),
        packed_(share.wanted.size() + 1) {}
  const std::vector<std::string>& names() const override { return all_candidates(); }

 protected:
  const Share& share_;
  const std::string tune_;
  std::vector<double> owned_, ghosts_, packed_;
};

class Forward : public OnVectors {
 public:
  using OnVectors::OnVectors;
  std::unique_ptr<Way> make(const std::string& name) override {
    if (const std::string route = route_of(name); !route.empty())
      return make_vector(true, route, share_, tune_, owned_.data(), ghosts_.data());
    if (name == single_calls) return make_single_calls(true, share_, owned_.data(), ghosts_.data());
    auto mover = make_mover(
        name, tune_, {share_.comm, share_.targets, packed_.data(), share_.sources, ghosts_.data()});
    return moved(std::move(mover), [&wanted = share_.wanted, owned = owned_.data(),
                                    packed = packed_.data()](Mover& mover) {
      for (std::size_t k = 0; k < wanted.size(); ++k) packed[k] = owned[wanted[k]];
      mover.run();
    });
  }
  void prepare(int generation) override {
    for (std::int64_t i = 0; i < share_.owned; ++i)
      owned_[static_cast<std::size_t>(i)] = value_of(share_.first + i, generation);
    for (std::vector<double>* buffer : {&ghosts_, &packed_})
      buffer->assign(buffer->size(), std::numeric_limits<double>::quiet_NaN());
  }
  bool correct(int generation) const override {
    bool good = true;
    for (std::size_t k = 0; k < share_.ghosts.size(); ++k)
      good = good && ghosts_[k] == value_of(share_.ghosts[k], generation);
    for (std::int64_t i = 0; i < share_.owned; ++i)
      good = good && owned_[static_cast<std::size_t>(i)] == value_of(share_.first + i, generation);
    return good;
  }
};

class Reverse : public OnVectors {
 public:
  using OnVectors::OnVectors;
  std::unique_ptr<Way> make(const std::string& name) override {
    if (const std::string route = route_of(name); !route.empty())
      return make_vector(false, route, share_, tune_, ghosts_.data(), owned_.data());
    if (name == single_calls)
      return make_single_calls(false, share_, ghosts_.data(), owned_.data());
    auto mover = make_mover(
        name, tune_, {share_.comm, share_.sources, ghosts_.data(), share_.targets, packed_.data()});
    return moved(std::move(mover), [&wanted = share_.wanted, owned = owned_.data(),
                                    arrived = packed_.data()](Mover& mover) {
      mover.run();
      for (std::size_t k = 0; k < wanted.size(); ++k) owned[wanted[k]] += arrived[k];
    });
  }
  void prepare(int generation) override {
    for (std::int64_t i = 0; i < share_.owned; ++i)
      owned_[static_cast<std::size_t>(i)] = value_of(share_.first + i, generation);
    for (std::size_t k = 0; k < share_.ghosts.size(); ++k)
      ghosts_[k] = contribution(share_.ghosts[k], share_.rank, generation);
    packed_.assign(packed_.size(), std::numeric_limits<double>::quiet_NaN());
  }
  bool correct(int generation) const override {
    std::vector<double> expected(static_cast<std::size_t>(share_.owned));
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] = value_of(share_.first + static_cast<std::int64_t>(i), generation);
    for (int t = 0; t < share_.targets.size(); ++t)
      for (int k = share_.targets.displs[t];
           k < share_.targets.displs[t] + share_.targets.counts[t]; ++k)
        expected[static_cast<std::size_t>(share_.wanted[k])] +=
            contribution(share_.first + share_.wanted[k], share_.targets.ranks[t], generation);
    bool good = std::equal(expected.begin(), expected.end(), owned_.begin());
    for (std::size_t k = 0; k < share_.ghosts.size(); ++k)
      good = good && ghosts_[k] == contribution(share_.ghosts[k], share_.rank, generation);
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
