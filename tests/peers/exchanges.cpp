// SPDX-License-Identifier: BSD-3-Clause
#include "peers/exchanges.hpp"

#include <mpi.h>
#include <tonari/grid.h>
#include <tonari/group.h>
#include <tonari/sparse.h>
#include <tonari/tonari.h>
#include <tonari/vector.h>

#include <array>
#include <cstdio>
#include <vector>

namespace tonari::test {
namespace {

using Word = std::uint64_t;

void must(int code) {
  if (code == TONARI_SUCCESS) return;
  std::fprintf(stderr, "tonari_peers: %s\n", tonari_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// `to` is -1 in what all get alike.
Word content(int from, int to, int number, std::size_t k) {
  return (static_cast<Word>(from) << 48 | static_cast<Word>(to + 1) << 40) +
         static_cast<Word>(number) * 1'000'003 + k;
}

struct World {
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int r = 0; r < size; ++r)
      if (r != rank) others.push_back(r);
  }
  int rank = 0, size = 1;
  std::vector<int> others;
};

// Blocks of equally many words from and to other ranks, or all.
class Blocks : public VerifiedExchange {
 public:
  long wrong(int number) const override {
    long all = 0;
    for (std::size_t j = 0; j < from_.size(); ++j)
      for (std::size_t k = 0; k < words_; ++k)
        all += in()[j * words_ + k] != content(from_[j], gathers_ ? -1 : world_.rank, number, k);
    return all;
  }

 protected:
  Blocks(int words, bool gathers, bool with_self)
      : words_(static_cast<std::size_t>(words)), gathers_(gathers), from_(world_.others) {
    if (with_self) from_ = ranks_of_all();
    in_.resize(from_.size() * words_);
    out_.resize(gathers ? words_ : in_.size());
  }
  virtual const std::vector<Word>& in() const { return in_; }
  void fill(std::vector<Word>& blocks, int number) const {
    for (std::size_t k = 0; k < blocks.size(); ++k)
      blocks[k] = content(world_.rank, gathers_ ? -1 : from_[k / words_], number, k % words_);
  }
  std::vector<int> ranks_of_all() const {
    std::vector<int> all;
    for (int r = 0; r < world_.size; ++r) all.push_back(r);
    return all;
  }
  int count() const { return static_cast<int>(words_); }

  World world_;
  std::size_t words_;
  bool gathers_;
  std::vector<int> from_;
  std::vector<Word> out_, in_;
};

enum class Form { request, once, started };

// The six operations, each as a request, a blocking call, or a call that starts.
class Operation final : public Blocks {
 public:
  Operation(const std::string& name, Form form, int words)
      : Blocks(words, name.starts_with("allgather"), false), variant_(name.back()), form_(form) {
    const auto n = static_cast<int>(from_.size());
    must(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, n, from_.data(), MPI_UNWEIGHTED, n,
                                             from_.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, &near_));
    for (std::size_t j = 0; j < from_.size(); ++j) {
      counts_.push_back(count());
      const auto at = static_cast<MPI_Aint>(j * words_);
      displs_.push_back(variant_ == 'w' ? at * static_cast<MPI_Aint>(sizeof(Word)) : at);
      types_.push_back(MPI_UINT64_T);
    }
    if (form_ == Form::request) must(init());
  }
  int run(int number) override {
    fill(out_, number);
    if (form_ == Form::once) return call();
    if (const int code = form_ == Form::request ? tonari_start(request_) : start()) return code;
    const int code = tonari_wait(request_);
    return code || form_ == Form::request ? code : tonari_request_free(&request_);
  }
  void free() override {
    must(tonari_request_free(&request_));
    must(tonari_neighborhood_free(&near_));
  }

 private:
  int init() {
    const MPI_Info none = MPI_INFO_NULL;
    void *const out = out_.data(), *const in = in_.data();
    const int *const c = counts_.data(), n = count();
    const MPI_Aint* const d = displs_.data();
    const MPI_Datatype *const t = types_.data(), one = MPI_UINT64_T;
    if (gathers_ && variant_ == 'v')
      return tonari_allgatherv_init(out, n, one, in, c, d, one, near_, none, &request_);
    if (gathers_ && variant_ == 'w')
      return tonari_allgatherw_init(out, n, one, in, c, d, t, near_, none, &request_);
    if (gathers_) return tonari_allgather_init(out, n, one, in, n, one, near_, none, &request_);
    if (variant_ == 'v')
      return tonari_alltoallv_init(out, c, d, one, in, c, d, one, near_, none, &request_);
    if (variant_ == 'w')
      return tonari_alltoallw_init(out, c, d, t, in, c, d, t, near_, none, &request_);
    return tonari_alltoall_init(out, n, one, in, n, one, near_, none, &request_);
  }
  int call() {
    void *const out = out_.data(), *const in = in_.data();
    const int *const c = counts_.data(), n = count();
    const MPI_Aint* const d = displs_.data();
    const MPI_Datatype *const t = types_.data(), one = MPI_UINT64_T;
    if (gathers_ && variant_ == 'v') return tonari_allgatherv(out, n, one, in, c, d, one, near_);
    if (gathers_ && variant_ == 'w') return tonari_allgatherw(out, n, one, in, c, d, t, near_);
    if (gathers_) return tonari_allgather(out, n, one, in, n, one, near_);
    if (variant_ == 'v') return tonari_alltoallv(out, c, d, one, in, c, d, one, near_);
    if (variant_ == 'w') return tonari_alltoallw(out, c, d, t, in, c, d, t, near_);
    return tonari_alltoall(out, n, one, in, n, one, near_);
  }
  int start() {
    void *const out = out_.data(), *const in = in_.data();
    const int *const c = counts_.data(), n = count();
    const MPI_Aint* const d = displs_.data();
    const MPI_Datatype *const t = types_.data(), one = MPI_UINT64_T;
    if (gathers_ && variant_ == 'v')
      return tonari_iallgatherv(out, n, one, in, c, d, one, near_, &request_);
    if (gathers_ && variant_ == 'w')
      return tonari_iallgatherw(out, n, one, in, c, d, t, near_, &request_);
    if (gathers_) return tonari_iallgather(out, n, one, in, n, one, near_, &request_);
    if (variant_ == 'v') return tonari_ialltoallv(out, c, d, one, in, c, d, one, near_, &request_);
    if (variant_ == 'w') return tonari_ialltoallw(out, c, d, t, in, c, d, t, near_, &request_);
    return tonari_ialltoall(out, n, one, in, n, one, near_, &request_);
  }

  char variant_;
  Form form_;
  std::vector<int> counts_;
  std::vector<MPI_Aint> displs_;
  std::vector<MPI_Datatype> types_;
  tonari_neighborhood near_ = TONARI_NEIGHBORHOOD_NULL;
  tonari_request request_ = TONARI_REQUEST_NULL;
};

// One request for two operations.
class Grouped final : public Blocks {
 public:
  explicit Grouped(int words) : Blocks(words, false, false), other_(in_.size()) {
    const auto n = static_cast<int>(from_.size());
    must(tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, n, from_.data(), MPI_UNWEIGHTED, n,
                                             from_.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, &near_));
    must(tonari_group_start(MPI_COMM_WORLD));
    for (std::vector<Word>* in : {&in_, &other_})
      must(tonari_alltoall_init(out_.data(), count(), MPI_UINT64_T, in->data(), count(),
                                MPI_UINT64_T, near_, MPI_INFO_NULL, nullptr));
    must(tonari_group_end(MPI_INFO_NULL, &request_));
  }
  int run(int number) override {
    fill(out_, number);
    if (const int code = tonari_start(request_)) return code;
    return tonari_wait(request_);
  }
  long wrong(int number) const override { return Blocks::wrong(number) + (in_ != other_); }
  void free() override {
    must(tonari_request_free(&request_));
    must(tonari_neighborhood_free(&near_));
  }

 private:
  std::vector<Word> other_;
  tonari_neighborhood near_ = TONARI_NEIGHBORHOOD_NULL;
  tonari_request request_ = TONARI_REQUEST_NULL;
};

class InPlace final : public Blocks {
 public:
  InPlace(bool general, int words) : Blocks(words, false, true) {
    const std::vector<int> counts(from_.size(), count());
    std::vector<MPI_Aint> displs;
    for (std::size_t j = 0; j < from_.size(); ++j)
      displs.push_back(static_cast<MPI_Aint>(j * words_));
    must(general ? tonari_alltoallv_inplace_general_init(in_.data(), counts.data(), displs.data(),
                                                         counts.data(), displs.data(), MPI_UINT64_T,
                                                         MPI_COMM_WORLD, MPI_INFO_NULL, &request_)
                 : tonari_alltoall_inplace_init(in_.data(), count(), MPI_UINT64_T, MPI_COMM_WORLD,
                                                MPI_INFO_NULL, &request_));
  }
  int run(int number) override {
    fill(in_, number);
    if (const int code = tonari_start(request_)) return code;
    return tonari_wait(request_);
  }
  void free() override { must(tonari_request_free(&request_)); }

 private:
  tonari_request request_ = TONARI_REQUEST_NULL;
};

// Ghosts are what the owners have.
class Vector final : public Blocks {
 public:
  Vector(bool single, int words) : Blocks(words, false, false), single_(single) {
    const auto n = static_cast<int>(from_.size());
    const std::vector<int> counts(from_.size(), count());
    std::vector<int> places(out_.size());
    for (std::size_t k = 0; k < places.size(); ++k) places[k] = static_cast<int>(k);
    must(tonari_vector_create_from_neighbors(
        MPI_COMM_WORLD, static_cast<std::int64_t>(out_.size()), n, from_.data(), counts.data(),
        places.data(), n, from_.data(), counts.data(), nullptr, MPI_INFO_NULL, &vector_));
    values_.type = MPI_UINT64_T;
    if (!single_)
      must(tonari_vector_forward_init(vector_, &values_, out_.data(), in_.data(), MPI_INFO_NULL,
                                      &request_));
  }
  int run(int number) override {
    fill(out_, number);
    if (single_) return tonari_vector_forward(vector_, &values_, out_.data(), in_.data());
    if (const int code = tonari_start(request_)) return code;
    return tonari_wait(request_);
  }
  void free() override {
    must(tonari_request_free(&request_));
    must(tonari_vector_free(&vector_));
  }

 private:
  bool single_;
  tonari_vector_values values_{};
  tonari_vector vector_ = TONARI_VECTOR_NULL;
  tonari_request request_ = TONARI_REQUEST_NULL;
};

// Messages that nobody expects, one for each other rank.
class Sparse final : public Blocks {
 public:
  explicit Sparse(int words) : Blocks(words, false, false) {
    for (std::size_t j = 0; j < from_.size(); ++j) {
      counts_.push_back(count());
      displs_.push_back(static_cast<MPI_Aint>(j * words_));
    }
  }
  int run(int number) override {
    fill(out_, number);
    tonari_messages came = TONARI_MESSAGES_NULL;
    const int code = tonari_sparse_alltoallv(static_cast<int>(from_.size()), from_.data(),
                                             counts_.data(), displs_.data(), MPI_UINT64_T,
                                             out_.data(), MPI_COMM_WORLD, MPI_INFO_NULL, &came);
    if (code) return code;
    const auto* const data = static_cast<const Word*>(came->data);
    for (int m = 0; m < came->count; ++m)
      for (std::size_t k = 0; k < words_; ++k)
        in_[static_cast<std::size_t>(m) * words_ + k] =
            data[static_cast<std::size_t>(came->displs[m]) + k];
    return tonari_messages_free(&came);
  }
  void free() override {}

 private:
  std::vector<MPI_Count> counts_;
  std::vector<MPI_Aint> displs_;
};

// A ring of subdomains, each as wide as its ghosts, in two copies in turn.
class Grid final : public VerifiedExchange {
 public:
  Grid(bool mapped, int words) : words_(static_cast<std::size_t>(words)) {
    const int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &world_.size, &periodic, 0, &ring_);
    tonari_grid_shape shape = TONARI_GRID_SHAPE_INIT;
    shape.dims = 1, shape.type = MPI_UINT64_T, shape.copies = 2;
    shape.storage = mapped ? TONARI_STORAGE_MAPPED : TONARI_STORAGE_ARRAY;
    shape.mapped_ghosts = mapped;
    shape.lower[0] = words;
    if (mapped) shape.brick[0] = words;
    shape.cells[0] = shape.lower[0] * world_.size;
    must(tonari_grid_create(ring_, &shape, nullptr, MPI_INFO_NULL, &grid_));
    for (int copy = 0; copy < 2; ++copy)
      must(tonari_grid_exchange_init(grid_, copy, MPI_INFO_NULL, &requests_[copy]));
  }
  int run(int number) override {
    const int copy = number % 2;
    std::vector<Word> cells(words_);
    for (std::size_t k = 0; k < words_; ++k) cells[k] = content(world_.rank, -1, number, k);
    must(tonari_grid_import(grid_, 0, copy, 0, nullptr, cells.data()));
    if (const int code = tonari_start(requests_[copy])) return code;
    return tonari_wait(requests_[copy]);
  }
  long wrong(int number) const override {
    const int left = (world_.rank + world_.size - 1) % world_.size;
    std::vector<Word> cells(words_);
    const tonari_box ghosts{{-static_cast<std::int64_t>(words_)}, {0}};
    must(tonari_grid_export(grid_, 0, number % 2, 0, &ghosts, cells.data()));
    long all = 0;
    for (std::size_t k = 0; k < words_; ++k) all += cells[k] != content(left, -1, number, k);
    return all;
  }
  void free() override {
    for (tonari_request& request : requests_) must(tonari_request_free(&request));
  }

 private:
  World world_;
  std::size_t words_;
  MPI_Comm ring_ = MPI_COMM_NULL;
  tonari_grid grid_ = TONARI_GRID_NULL;
  std::array<tonari_request, 2> requests_{TONARI_REQUEST_NULL, TONARI_REQUEST_NULL};
};

std::unique_ptr<VerifiedExchange> make_operation(const std::string& kind, int words) {
  const auto dash = kind.find('-');
  const std::string form = dash == std::string::npos ? "" : kind.substr(0, dash);
  const std::string name = dash == std::string::npos ? kind : kind.substr(dash + 1);
  for (const char* known :
       {"alltoall", "alltoallv", "alltoallw", "allgather", "allgatherv", "allgatherw"})
    if (name == known)
      return std::make_unique<Operation>(name,
                                         form == "once"      ? Form::once
                                         : form == "started" ? Form::started
                                                             : Form::request,
                                         words);
  return nullptr;
}

}  // namespace

std::unique_ptr<VerifiedExchange> make_exchange(const std::string& kind, int words) {
  if (kind == "inplace" || kind == "general")
    return std::make_unique<InPlace>(kind == "general", words);
  if (kind == "vector" || kind == "single")
    return std::make_unique<Vector>(kind == "single", words);
  if (kind == "array" || kind == "mapped") return std::make_unique<Grid>(kind == "mapped", words);
  if (kind == "group") return std::make_unique<Grouped>(words);
  if (kind == "sparse") return std::make_unique<Sparse>(words);
  return make_operation(kind, words);
}

}  // namespace tonari::test
