// SPDX-License-Identifier: BSD-3-Clause
// All-to-all in place: pairs of ranks that swap blocks, and the general one, whose blocks come to
// other places than they go from.
#include "fuzz/exchange.hpp"

namespace tonari::fuzz {
namespace {

using namespace tonari::test;

// Of all pairs of ranks.
struct Matrix {
  int ranks;
  std::vector<int> of = std::vector<int>(static_cast<std::size_t>(ranks * ranks));
  int& at(int i, int j) { return of[static_cast<std::size_t>(i * ranks + j)]; }
  int at(int i, int j) const { return of[static_cast<std::size_t>(i * ranks + j)]; }
};

int random_count(Random& common) {
  static const int most[] = {0, 1, 5, 5, 40, 40, 300, 3000};
  return pick(common, 0, most[common() % std::size(most)]);
}

Keys in_place_keys(Random& common) {
  static const char* const memories[] = {"0", "1", "7", "100", "4096", "64K", "1MiB"};
  static const char* const channels[] = {"auto", "shared", "p2p-packed"};
  static const char* const tunes[] = {"off", "off", "model", "auto", "measure"};
  return {{"tonari_inplace_memory", word(common, memories)},
          {"tonari_channel", word(common, channels)},
          {"tonari_tune", word(common, tunes)}};
}

class Swap final : public Exchange {
 public:
  explicit Swap(Draws& draws) : place_(draws.place), form_(pick(draws.common, 0, 2)) {
    Matrix bytes{place_.ranks};
    const int one = random_count(draws.common);
    for (int i = 0; i < place_.ranks; ++i)
      for (int j = i; j < place_.ranks; ++j)
        bytes.at(i, j) = bytes.at(j, i) = 4 * (form_ == 0 ? one : random_count(draws.common));
    std::vector<int> mine;
    for (int j = 0; j < place_.ranks; ++j) mine.push_back(bytes.at(place_.rank, j));
    const auto style = static_cast<Style>(pick(draws.own, 0, styles));
    side_ = form_ == 0   ? regular_side(draws.own, style, place_.ranks, mine[0])
            : form_ == 1 ? v_side(draws.own, style, mine, 4)
                         : w_side(draws.own, mine);
    for (std::size_t j = 0; j < mine.size(); ++j)
      if (form_ > 0 && mine[j] == 0) side_.displacements[j] = pick(draws.own, 0, 1000);
    label = std::string("alltoall") + (form_ == 0 ? "" : form_ == 1 ? "v" : "w") + "_inplace";
  }

  bool offers(Form) const override { return true; }
  Keys keys(Random& common, Form) const override {
    static const char* const orders[] = {"auto", "mpich-order", "linear-shift",
                                         "hierarchical-sets"};
    Keys keys = in_place_keys(common);
    keys.emplace_back("tonari_algorithm", word(common, orders));
    return keys;
  }
  int init(MPI_Info info, tonari_request* request) override {
    return use(
        [&](auto, auto, auto make, auto... a) { return make(a..., place_.comm, info, request); });
  }
  int begin(MPI_Info info, tonari_request* request) override {
    return use(
        [&](auto, auto begin, auto, auto... a) { return begin(a..., place_.comm, info, request); });
  }
  int call(MPI_Info info) override {
    return use([&](auto block, auto, auto, auto... a) { return block(a..., place_.comm, info); });
  }
  void prepare(int round) override {
    std::ranges::copy(content(round, false), side_.memory.begin());
  }
  std::string wrong(int round, tonari_request) override {
    const std::vector<Byte> want = content(round, true);
    const auto at = std::ranges::mismatch(want, side_.memory).in1 - want.begin();
    if (want == side_.memory) return "";
    return "byte " + std::to_string(at - side_.base) + " of the buffer is wrong";
  }
  void free() override {}

 private:
  template <class Use>
  int use(Use use) {
    void* const b = side_.buffer();
    const int* const n = side_.counts.data();
    const MPI_Aint* const d = side_.displacements.data();
    const MPI_Datatype* const t = side_.types.data();
    if (form_ == 0)
      return use(tonari_alltoall_inplace, tonari_ialltoall_inplace, tonari_alltoall_inplace_init, b,
                 *n, *t);
    if (form_ == 1)
      return use(tonari_alltoallv_inplace, tonari_ialltoallv_inplace, tonari_alltoallv_inplace_init,
                 b, n, d, *t);
    return use(tonari_alltoallw_inplace, tonari_ialltoallw_inplace, tonari_alltoallw_inplace_init,
               b, n, d, t);
  }
  std::vector<Byte> content(int round, bool after) const {
    std::vector<Byte> memory(side_.memory.size(), poison);
    for (int j = 0; j < place_.ranks; ++j)
      write_block(memory, side_.blocks[static_cast<std::size_t>(j)], after ? j : place_.rank,
                  after ? place_.rank : j, round);
    return memory;
  }

  const Place& place_;
  int form_;
  Side side_;
};

class General final : public Exchange {
 public:
  explicit General(Draws& draws) : place_(draws.place) {
    static const int units[] = {1, 2, 4, 8, 12, 24, 60};
    const int unit = units[draws.common() % std::size(units)];
    Matrix counts{place_.ranks};
    for (int& count : counts.of) count = random_count(draws.common);
    for (int j = 0; j < place_.ranks; ++j) {
      sends_.counts.push_back(counts.at(place_.rank, j));
      receives_.counts.push_back(counts.at(j, place_.rank));
    }
    const bool nested = pick(draws.own, 0, 1);
    element_ = make_element(draws.own, nested ? Style::nested : Style::plain, unit, 1);
    for (Blocks* side : {&sends_, &receives_}) lie_anywhere(*side, draws.own);
    base_ = 16 + element_.below();
    std::ptrdiff_t end = base_;
    for (const Blocks* side : {&sends_, &receives_})
      for (std::size_t j = 0; j < side->counts.size(); ++j)
        for (const Piece& p : pieces(*side, j))
          end = std::max(end, p.at + static_cast<std::ptrdiff_t>(p.length));
    memory_.resize(static_cast<std::size_t>(end + 40));
    label = "alltoallv_inplace_general of elements of " + std::to_string(unit) + " bytes";
  }
  ~General() override {
    if (element_.ours) MPI_Type_free(&element_.type);
  }

  bool offers(Form) const override { return true; }
  Keys keys(Random& common, Form) const override { return in_place_keys(common); }
  int init(MPI_Info info, tonari_request* request) override {
    return tonari_alltoallv_inplace_general_init(buffer(), sends_.counts.data(), sends_.at.data(),
                                                 receives_.counts.data(), receives_.at.data(),
                                                 element_.type, place_.comm, info, request);
  }
  int begin(MPI_Info info, tonari_request* request) override {
    return tonari_ialltoallv_inplace_general(buffer(), sends_.counts.data(), sends_.at.data(),
                                             receives_.counts.data(), receives_.at.data(),
                                             element_.type, place_.comm, info, request);
  }
  int call(MPI_Info info) override {
    return tonari_alltoallv_inplace_general(buffer(), sends_.counts.data(), sends_.at.data(),
                                            receives_.counts.data(), receives_.at.data(),
                                            element_.type, place_.comm, info);
  }
  void prepare(int round) override {
    std::ranges::fill(memory_, poison);
    for (int j = 0; j < place_.ranks; ++j)
      write_block(memory_, pieces(sends_, static_cast<std::size_t>(j)), place_.rank, j, round);
  }
  // What was sent is undefined afterwards, unless something came there.
  std::string wrong(int round, tonari_request) override {
    std::vector<Byte> want(memory_.size(), poison), undefined(memory_.size(), 0);
    for (std::size_t j = 0; j < sends_.counts.size(); ++j) mark(undefined, pieces(sends_, j), 1);
    for (int j = 0; j < place_.ranks; ++j) {
      const std::vector<Piece> block = pieces(receives_, static_cast<std::size_t>(j));
      write_block(want, block, j, place_.rank, round);
      mark(undefined, block, 0);
    }
    for (std::size_t k = 0; k < want.size(); ++k)
      if (!undefined[k] && memory_[k] != want[k])
        return "byte " + std::to_string(static_cast<std::ptrdiff_t>(k) - base_) +
               " of the buffer is wrong";
    return "";
  }
  void free() override {}

 private:
  struct Blocks {
    std::vector<int> counts;
    std::vector<MPI_Aint> at;  // elements
  };

  void* buffer() { return memory_.data() + base_; }
  void lie_anywhere(Blocks& side, Random& own) const {
    std::vector<std::size_t> order(side.counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), own);
    side.at.resize(order.size());
    MPI_Aint next = pick(own, 0, 50);
    for (const std::size_t j : order) {
      side.at[j] = next;
      next += side.counts[j] + pick(own, 0, 3);
    }
  }
  std::vector<Piece> pieces(const Blocks& side, std::size_t j) const {
    std::vector<Piece> all;
    for (int k = 0; k < side.counts[j]; ++k)
      add_pieces(all, element_, base_ + (side.at[j] + k) * element_.extent);
    return all;
  }
  static void mark(std::vector<Byte>& map, const std::vector<Piece>& block, Byte as) {
    for (const Piece& p : block) std::fill_n(map.begin() + p.at, p.length, as);
  }

  const Place& place_;
  Element element_;
  Blocks sends_, receives_;
  std::ptrdiff_t base_ = 0;
  std::vector<Byte> memory_;
};

}  // namespace

std::unique_ptr<Exchange> make_in_place(Draws& draws) {
  if (pick(draws.common, 0, 1)) return std::make_unique<General>(draws);
  return std::make_unique<Swap>(draws);
}

}  // namespace tonari::fuzz
