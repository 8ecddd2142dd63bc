// SPDX-License-Identifier: BSD-3-Clause
#include "peers/exchanges.hpp"

#include <mpi.h>
#include <tonari/group.h>
#include <tonari/iso.h>
#include <tonari/sparse.h>
#include <tonari/tonari.h>

#include <vector>

#include "peers/ghost_exchanges.hpp"
#include "peers/verified_blocks.hpp"

namespace tonari::test {
namespace {

enum class Form { request, once, started };

// The six operations, each as a request, a blocking call, or a call that starts.
class Operation final : public Blocks {
 public:
  Operation(const std::string &name, Form form, int words)
      : Blocks(words, name.starts_with("allgather"), false), variant_(name.back()), form_(form) {
    const auto n = static_cast<int>(from_.size());
    must(tonari_neighborhood_create_adjacent(exchange_comm(), n, from_.data(), MPI_UNWEIGHTED, n,
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
    const MPI_Aint *const d = displs_.data();
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
    const MPI_Aint *const d = displs_.data();
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
    const MPI_Aint *const d = displs_.data();
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
    must(tonari_neighborhood_create_adjacent(exchange_comm(), n, from_.data(), MPI_UNWEIGHTED, n,
                                             from_.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, &near_));
    must(tonari_group_start(exchange_comm()));
    for (std::vector<Word> *in : {&in_, &other_})
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
                                                         exchange_comm(), MPI_INFO_NULL, &request_)
                 : tonari_alltoall_inplace_init(in_.data(), count(), MPI_UINT64_T, exchange_comm(),
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
                                             out_.data(), exchange_comm(), MPI_INFO_NULL, &came);
    if (code) return code;
    const auto *const data = static_cast<const Word *>(came->data);
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

// A ring by the interface of isomorphic neighborhoods, which makes a communicator of its own.
class Isomorphic final : public Blocks {
 public:
  explicit Isomorphic(int words) : Blocks(words, false, false) {
    int periodic = 1, offsets[2] = {-1, 1};
    const int last = world_.size - 1, here = world_.rank;
    from_ = {here == 0 ? last : here - 1, here == last ? 0 : here + 1};
    in_.resize(2 * words_), out_.resize(2 * words_);
    MPI_Cart_create(exchange_comm(), 1, &world_.size, &periodic, 0, &cart_);
    must(Iso_neighborhood_create(cart_, 2, offsets, &iso_));
    const auto second = static_cast<MPI_Aint>(words_);
    int counts[2] = {count(), count()};
    MPI_Aint to[2] = {0, second}, from[2] = {second, 0};  // the first comes from the right
    must(Iso_neighbor_alltoallv_init(out_.data(), counts, to, MPI_UINT64_T, in_.data(), counts,
                                     from, MPI_UINT64_T, iso_, &request_));
  }
  int run(int number) override {
    fill(out_, number);
    return Iso_start(&request_);
  }
  void free() override {
    must(Iso_request_free(&request_));
    MPI_Comm_free(&iso_), MPI_Comm_free(&cart_);
  }

 private:
  MPI_Comm cart_ = MPI_COMM_NULL, iso_ = MPI_COMM_NULL;
  Iso_request request_ = TONARI_REQUEST_NULL;
};

std::unique_ptr<VerifiedExchange> make_operation(const std::string &kind, int words) {
  const auto dash = kind.find('-');
  const std::string form = dash == std::string::npos ? "" : kind.substr(0, dash);
  const std::string name = dash == std::string::npos ? kind : kind.substr(dash + 1);
  for (const char *known :
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

std::unique_ptr<VerifiedExchange> make_exchange(const std::string &kind, int words) {
  if (kind == "inplace" || kind == "general")
    return std::make_unique<InPlace>(kind == "general", words);
  if (auto made = make_ghost_exchange(kind, words)) return made;
  if (kind == "group") return std::make_unique<Grouped>(words);
  if (kind == "sparse") return std::make_unique<Sparse>(words);
  if (kind == "iso") return std::make_unique<Isomorphic>(words);
  return make_operation(kind, words);
}

}  // namespace tonari::test
