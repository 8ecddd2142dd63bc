// SPDX-License-Identifier: BSD-3-Clause
// Block-structured grids: boxes of a grid with gaps, each with an owner.
#include <tonari/blocks.h>

#include "fuzz/exchange.hpp"
#include "fuzz/patches.hpp"
#include "support/zu.hpp"

namespace tonari::fuzz {
namespace {

class BlockExchange final : public Exchange {
 public:
  explicit BlockExchange(Draws& draws)
      : place_(draws.place), number_(Number::random(draws.common)) {
    Random& common = draws.common;
    shape_.dims = patches_.dims = pick(common, 1, 3);
    shape_.order = pick(common, 0, 1) ? TONARI_ORDER_FORTRAN : TONARI_ORDER_C;
    shape_.fields = fields_ = pick(common, 1, 2);
    shape_.type = number_.type;
    choose_domain(common);
    how_ = pick(common, 0, 1) ? Combining::none : random_combining(common);
    outcome_ = std::make_unique<Outcome>(patches_, how_);
    must(tonari_blocks_create(place_.comm, &shape_, MPI_INFO_NULL, &blocks_),
         "tonari_blocks_create");
    for (std::size_t n = 0; n < patches_.all.size(); ++n)
      if (patches_.all[n].owner == place_.rank) mine_.push_back(n);
    make_arrays(draws.own);
    label = "blocks of " + std::to_string(shape_.dims) + " dimensions, " +
            (how_ == Combining::none ? "forward" : std::string("reverse ") + name_of(how_));
  }

  bool offers(Form form) const override { return form != Form::started; }
  bool fits_into_groups() const override { return true; }
  Keys keys(Random& common, Form) const override { return neighbor_keys(common); }
  int init(MPI_Info info, tonari_request* request) override {
    const tonari_ghosts* const ghosts = &patches_.ghosts;
    if (how_ == Combining::none)
      return tonari_blocks_forward_init(blocks_, arrays_.data(), ghosts, info, request);
    return tonari_blocks_reverse_init(blocks_, arrays_.data(), ghosts, op_of(how_), info, request);
  }
  int call(MPI_Info) override {
    const tonari_ghosts* const ghosts = &patches_.ghosts;
    if (how_ == Combining::none) return tonari_blocks_forward(blocks_, arrays_.data(), ghosts);
    return tonari_blocks_reverse(blocks_, arrays_.data(), ghosts, op_of(how_));
  }

  void prepare(int round) override {
    write(memory_, [&](std::size_t n, const Cell& c, int f) { return before(n, c, f, round); });
  }
  std::string wrong(int round, tonari_request) override {
    std::vector<test::Byte> want(memory_.size());
    write(want,
          [&](std::size_t n, const Cell& c, int f) { return outcome_->after(n, c, f, round); });
    if (want == memory_) return "";
    const auto at = std::ranges::mismatch(want, memory_).in1 - want.begin();
    for (std::size_t a = 0; a < begins_.size(); ++a)
      if (zu(at) >= begins_[a] && (a + 1 == begins_.size() || zu(at) < begins_[a + 1]))
        return "element " + std::to_string((zu(at) - begins_[a]) / number_.bytes) + " of field " +
               std::to_string(a % zu(fields_)) + " of block " +
               std::to_string(mine_[a / zu(fields_)]) + " is wrong";
    return "bytes before the first array were written";
  }
  void free() override { must(tonari_blocks_free(&blocks_), "tonari_blocks_free"); }

 private:
  void choose_domain(Random& common) {
    tonari_box& domain = shape_.domain;
    for (std::size_t k = 0; k < zu(shape_.dims); ++k) {
      domain.first[k] = patches_.begin[k] = pick(common, -5, 5);
      patches_.size[k] = pick(common, 1, 9);
      domain.end[k] = domain.first[k] + patches_.size[k];
      shape_.periodic[k] = patches_.periodic[k] = pick(common, 0, 1);
      shape_.lower[k] = patches_.lower[k] = pick(common, 0, 2);
      shape_.upper[k] = patches_.upper[k] = pick(common, 0, 2);
    }
    patches_.ghosts.along = pick(common, 0, shape_.dims);
    cut(common, {patches_.begin, patches_.size, 0}, 4);
    for (const Patch& p : patches_.all) {
      tonari_box box{};
      for (std::size_t k = 0; k < 3; ++k)
        box.first[k] = p.first[k], box.end[k] = p.first[k] + p.own[k];
      boxes_.push_back(box);
      owners_.push_back(p.owner);
    }
    shape_.count = static_cast<std::int64_t>(boxes_.size());
    shape_.boxes = boxes_.data(), shape_.owners = owners_.data();
  }
  // In two, and these in two; some parts are left out.
  void cut(Random& common, const Patch& box, int times) {
    const auto k = zu(pick(common, 0, shape_.dims - 1));
    if (times == 0 || box.own[k] < 2 || pick(common, 0, 5) == 0) {
      if (pick(common, 0, 4) == 0) return;
      patches_.all.push_back(box);
      patches_.all.back().owner = pick(common, 0, place_.ranks - 1);
      return;
    }
    Patch low = box, high = box;
    low.own[k] = pick(common, 1, static_cast<int>(box.own[k]) - 1);
    high.first[k] += low.own[k], high.own[k] -= low.own[k];
    cut(common, low, times - 1);
    cut(common, high, times - 1);
  }

  void make_arrays(Random& own) {
    std::size_t next = 16;
    for (const std::size_t n : mine_)
      for (int field = 0; field < fields_; ++field) {
        begins_.push_back(next);
        next += number_.bytes * (cells_of(n) + zu(pick(own, 0, 3)));
      }
    memory_.resize(next + 16);
    for (const std::size_t begin : begins_) arrays_.push_back(memory_.data() + begin);
  }
  std::int64_t width(std::size_t n, std::size_t k) const {
    return patches_.lower[k] + patches_.all[n].own[k] + patches_.upper[k];
  }
  std::size_t cells_of(std::size_t n) const { return zu(width(n, 0) * width(n, 1) * width(n, 2)); }
  std::size_t element(std::size_t n, const Cell& c) const {
    const auto x = [&](std::size_t k) { return c[k] + patches_.lower[k]; };
    if (shape_.order == TONARI_ORDER_FORTRAN)
      return zu(x(0) + width(n, 0) * (x(1) + width(n, 1) * x(2)));
    return zu((x(0) * width(n, 1) + x(1)) * width(n, 2) + x(2));
  }
  template <class Value>
  void write(std::vector<test::Byte>& memory, Value value) const {
    std::ranges::fill(memory, test::Byte{0xA5});
    for (std::size_t a = 0; a < begins_.size(); ++a) {
      const std::size_t n = mine_[a / zu(fields_)];
      const int field = static_cast<int>(a % zu(fields_));
      patches_.each_cell(patches_.all[n], [&](const Cell& c) {
        number_.store(memory.data() + begins_[a] + number_.bytes * element(n, c),
                      value(n, c, field));
      });
    }
  }

  const Place& place_;
  Number number_;
  tonari_blocks_shape shape_ = TONARI_BLOCKS_SHAPE_INIT;
  Patches patches_;
  std::vector<tonari_box> boxes_;
  std::vector<int> owners_;
  int fields_ = 1;
  Combining how_ = Combining::none;
  std::unique_ptr<Outcome> outcome_;
  std::vector<std::size_t> mine_, begins_;
  std::vector<test::Byte> memory_;
  std::vector<void*> arrays_;
  tonari_blocks blocks_ = TONARI_BLOCKS_NULL;
};

}  // namespace

std::unique_ptr<Exchange> make_blocks(Draws& draws) {
  return std::make_unique<BlockExchange>(draws);
}

}  // namespace tonari::fuzz
