// SPDX-License-Identifier: BSD-3-Clause
#include "peers/ghost_exchanges.hpp"

#include <mpi.h>
#include <tonari/blocks.h>
#include <tonari/grid.h>
#include <tonari/tonari.h>
#include <tonari/vector.h>

#include <algorithm>
#include <array>
#include <vector>

#include "peers/verified_blocks.hpp"

namespace tonari::test {
namespace {

// Ghosts are what the owners have; or owners add what all have as ghosts, and may then tell them.
class Vector final : public Blocks {
 public:
  enum class Direction { forward, reverse, combine };
  Vector(Direction direction, bool single, int words)
      : Blocks(words, false, false), direction_(direction), single_(single) {
    const auto n = static_cast<int>(from_.size());
    const std::vector<int> counts(from_.size(), count());
    std::vector<int> places(out_.size());
    for (std::size_t k = 0; k < places.size(); ++k) places[k] = static_cast<int>(k);
    must(tonari_vector_create_from_neighbors(
        exchange_comm(), static_cast<std::int64_t>(out_.size()), n, from_.data(), counts.data(),
        places.data(), n, from_.data(), counts.data(), nullptr, MPI_INFO_NULL, &vector_));
    values_.type = MPI_UINT64_T;
    if (!single_) must(init());
  }
  int run(int number) override {
    fill(out_, number);
    if (direction_ != Direction::forward) fill(in_, number);
    if (single_) return call();
    if (const int code = tonari_start(request_)) return code;
    return tonari_wait(request_);
  }
  long wrong(int number) const override {
    if (direction_ == Direction::forward) return Blocks::wrong(number);
    long all = 0;
    for (std::size_t j = 0; j < from_.size(); ++j)
      for (std::size_t k = 0; k < words_; ++k) {
        const Word theirs = content(from_[j], world_.rank, number, k);
        const Word sum = content(world_.rank, from_[j], number, k) + theirs;
        all += out_[j * words_ + k] != sum;
        all += direction_ == Direction::combine && in_[j * words_ + k] != sum;
      }
    return all;
  }
  void free() override {
    must(tonari_request_free(&request_));
    must(tonari_vector_free(&vector_));
  }

 private:
  int init() {
    void *const own = out_.data(), *const ghosts = in_.data();
    if (direction_ == Direction::reverse)
      return tonari_vector_reverse_init(vector_, &values_, MPI_SUM, ghosts, own, MPI_INFO_NULL,
                                        &request_);
    if (direction_ == Direction::combine)
      return tonari_vector_combine_init(vector_, &values_, MPI_SUM, own, ghosts, MPI_INFO_NULL,
                                        &request_);
    return tonari_vector_forward_init(vector_, &values_, own, ghosts, MPI_INFO_NULL, &request_);
  }
  int call() {
    if (direction_ == Direction::reverse)
      return tonari_vector_reverse(vector_, &values_, MPI_SUM, in_.data(), out_.data());
    if (direction_ == Direction::combine)
      return tonari_vector_combine(vector_, &values_, MPI_SUM, out_.data(), in_.data());
    return tonari_vector_forward(vector_, &values_, out_.data(), in_.data());
  }

  Direction direction_;
  bool single_;
  tonari_vector_values values_{};
  tonari_vector vector_ = TONARI_VECTOR_NULL;
  tonari_request request_ = TONARI_REQUEST_NULL;
};

// What a rank has in its own cells, and in its ghosts before owners add them.
constexpr int own = -1, ghost = 7;
std::vector<Word> cells_of(int rank, int to, int number, std::size_t words) {
  std::vector<Word> cells(words);
  for (std::size_t k = 0; k < words; ++k) cells[k] = content(rank, to, number, k);
  return cells;
}

// A ring of subdomains, each as wide as its ghosts, in two copies in turn.
class Grid final : public VerifiedExchange {
 public:
  Grid(bool mapped, bool reverse, int words)
      : words_(static_cast<std::size_t>(words)), reverse_(reverse) {
    const int periodic = 1;
    MPI_Cart_create(exchange_comm(), 1, &world_.size, &periodic, 0, &ring_);
    tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
    shape.dims = 1, shape.type = MPI_UINT64_T, shape.copies = 2;
    shape.storage = mapped ? TONARI_STORAGE_MAPPED : TONARI_STORAGE_ARRAY;
    shape.mapped_ghosts = mapped;
    shape.lower[0] = words;
    if (mapped) shape.brick[0] = words;
    shape.cells[0] = shape.lower[0] * world_.size;
    must(tonari_grid_create(ring_, &shape, nullptr, MPI_INFO_NULL, &grid_));
    for (int copy = 0; copy < 2; ++copy)
      must(reverse ? tonari_grid_reverse_init(grid_, copy, nullptr, MPI_SUM, MPI_INFO_NULL,
                                              &requests_[copy])
                   : tonari_grid_exchange_init(grid_, copy, MPI_INFO_NULL, &requests_[copy]));
  }
  int run(int number) override {
    const int copy = number % 2;
    const std::vector<Word> cells = cells_of(world_.rank, own, number);
    must(tonari_grid_import(grid_, 0, copy, 0, nullptr, cells.data()));
    const std::vector<Word> beyond = cells_of(world_.rank, ghost, number);
    if (reverse_) must(tonari_grid_import(grid_, 0, copy, 0, &ghosts_, beyond.data()));
    if (const int code = tonari_start(requests_[copy])) return code;
    return tonari_wait(requests_[copy]);
  }
  long wrong(int number) const override {
    const int left = (world_.rank + world_.size - 1) % world_.size;
    const int right = (world_.rank + 1) % world_.size;
    std::vector<Word> cells(words_),
        expected = cells_of(reverse_ ? world_.rank : left, own, number);
    must(tonari_grid_export(grid_, 0, number % 2, 0, reverse_ ? nullptr : &ghosts_, cells.data()));
    const std::vector<Word> added = cells_of(right, ghost, number);
    long all = 0;
    for (std::size_t k = 0; k < words_; ++k)
      all += cells[k] != expected[k] + (reverse_ ? added[k] : 0);
    return all;
  }
  void free() override {
    for (tonari_request& request : requests_) must(tonari_request_free(&request));
  }

 private:
  std::vector<Word> cells_of(int rank, int to, int number) const {
    return tonari::test::cells_of(rank, to, number, words_);
  }

  World world_;
  std::size_t words_;
  bool reverse_;
  tonari_box ghosts_{{-static_cast<std::int64_t>(words_)}, {0}};
  MPI_Comm ring_ = MPI_COMM_NULL;
  tonari_grid grid_ = TONARI_GRID_NULL;
  std::array<tonari_request, 2> requests_{TONARI_REQUEST_NULL, TONARI_REQUEST_NULL};
};

// The same as blocks of which each rank has one.
class BlockRing final : public VerifiedExchange {
 public:
  BlockRing(bool reverse, int words)
      : words_(static_cast<std::size_t>(words)), reverse_(reverse), array_(2 * words_) {
    std::vector<tonari_box> boxes;
    std::vector<int> owners;
    for (int r = 0; r < world_.size; ++r)
      boxes.push_back({{std::int64_t{r} * words}, {std::int64_t{r + 1} * words}}),
          owners.push_back(r);
    tonari_blocks_shape shape = TONARI_BLOCKS_SHAPE_INIT;
    shape.dims = 1, shape.count = world_.size, shape.type = MPI_UINT64_T;
    shape.boxes = boxes.data(), shape.owners = owners.data();
    shape.domain = {{0}, {std::int64_t{world_.size} * words}}, shape.periodic[0] = 1;
    shape.lower[0] = words;
    must(tonari_blocks_create(exchange_comm(), &shape, MPI_INFO_NULL, &blocks_));
    void* const arrays[] = {array_.data()};
    must(reverse ? tonari_blocks_reverse_init(blocks_, arrays, nullptr, MPI_SUM, MPI_INFO_NULL,
                                              &request_)
                 : tonari_blocks_forward_init(blocks_, arrays, nullptr, MPI_INFO_NULL, &request_));
  }
  int run(int number) override {
    std::ranges::copy(cells_of(world_.rank, ghost, number), array_.begin());
    std::ranges::copy(cells_of(world_.rank, own, number), array_.end() - words_signed());
    if (const int code = tonari_start(request_)) return code;
    return tonari_wait(request_);
  }
  long wrong(int number) const override {
    const int left = (world_.rank + world_.size - 1) % world_.size;
    const int right = (world_.rank + 1) % world_.size;
    const std::vector<Word> expected = cells_of(reverse_ ? world_.rank : left, own, number);
    const std::vector<Word> added = cells_of(right, ghost, number);
    long all = 0;
    for (std::size_t k = 0; k < words_; ++k)
      all += array_[reverse_ ? words_ + k : k] != expected[k] + (reverse_ ? added[k] : 0);
    return all;
  }
  void free() override {
    must(tonari_request_free(&request_));
    must(tonari_blocks_free(&blocks_));
  }

 private:
  std::ptrdiff_t words_signed() const { return static_cast<std::ptrdiff_t>(words_); }
  std::vector<Word> cells_of(int rank, int to, int number) const {
    return tonari::test::cells_of(rank, to, number, words_);
  }

  World world_;
  std::size_t words_;
  bool reverse_;
  std::vector<Word> array_;  // ghosts, then own cells
  tonari_blocks blocks_ = TONARI_BLOCKS_NULL;
  tonari_request request_ = TONARI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<VerifiedExchange> make_ghost_exchange(const std::string& kind, int words) {
  using Direction = Vector::Direction;
  const bool single = kind.starts_with("single");
  if (kind == "vector" || kind == "single")
    return std::make_unique<Vector>(Direction::forward, single, words);
  if (kind == "reverse" || kind == "single-reverse")
    return std::make_unique<Vector>(Direction::reverse, single, words);
  if (kind == "combine" || kind == "single-combine")
    return std::make_unique<Vector>(Direction::combine, single, words);
  if (kind == "array" || kind == "mapped")
    return std::make_unique<Grid>(kind == "mapped", false, words);
  if (kind == "array-reverse") return std::make_unique<Grid>(false, true, words);
  if (kind == "blocks" || kind == "blocks-reverse")
    return std::make_unique<BlockRing>(kind == "blocks-reverse", words);
  return nullptr;
}

}  // namespace tonari::test
