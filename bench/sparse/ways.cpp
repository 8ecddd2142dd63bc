// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/ways.hpp"

#include <tonari/sparse.h>

#include <numeric>

#include "keys.hpp"
#include "tonari_way.hpp"

namespace bench::sparse {

namespace {

class Tonari : public Exchange {
 public:
  Tonari(const std::string& algorithm, const Workload& work)
      : work_(work),
        keys_{{"tonari_algorithm", algorithm}},
        counts_(work.targets.size(), static_cast<MPI_Count>(work.words)) {}
  ~Tonari() override { tonari_messages_free(&messages_); }
  void run() override {
    check(tonari_messages_free(&messages_));
    exchange();
  }
  std::string channel() const override { return "p2p"; }
  std::string chosen() const override { return messages_ ? messages_->algorithm : ""; }
  bool ours() const override { return true; }
  std::vector<Arrived> arrived() const override {
    std::vector<Arrived> all;
    const auto* const data = static_cast<const Word*>(messages_->data);
    for (int k = 0; k < messages_->count; ++k)
      all.push_back({messages_->sources[k], data + messages_->displs[k],
                     static_cast<std::size_t>(messages_->counts[k])});
    return all;
  }

 protected:
  virtual void exchange() {
    check(tonari_sparse_alltoallv(static_cast<int>(counts_.size()), work_.targets.data(),
                                  counts_.data(), nullptr, MPI_UINT64_T, work_.values.data(),
                                  work_.comm, keys_.get(), &messages_));
  }

  const Workload& work_;
  const Keys keys_;
  const std::vector<MPI_Count> counts_;
  tonari_messages messages_ = TONARI_MESSAGES_NULL;
};

// The call that does not block, completed at once.
class InFlight : public Tonari {
 public:
  explicit InFlight(const Workload& work) : Tonari("auto", work) {}

 private:
  void exchange() override {
    tonari_request request = TONARI_REQUEST_NULL;
    check(tonari_sparse_ialltoallv(static_cast<int>(counts_.size()), work_.targets.data(),
                                   counts_.data(), nullptr, MPI_UINT64_T, work_.values.data(),
                                   work_.comm, keys_.get(), &messages_, &request));
    check(tonari_wait(request));
    check(tonari_request_free(&request));
  }
};

// What programs write: an all-to-all of counts, and then what they say.
class Counted : public Exchange {
 public:
  explicit Counted(const Workload& work)
      : work_(work), out_(static_cast<std::size_t>(work.ranks)), in_(out_.size()) {
    for (const int target : work.targets) out_[target] = static_cast<int>(work.words);
  }
  std::vector<Arrived> arrived() const override {
    std::vector<Arrived> all;
    std::size_t at = 0;
    for (int r = 0; r < work_.ranks; at += static_cast<std::size_t>(in_[r]), ++r)
      if (in_[r] > 0) all.push_back({r, &got_[at], static_cast<std::size_t>(in_[r])});
    return all;
  }

 protected:
  void exchange_counts() {
    MPI_Alltoall(out_.data(), 1, MPI_INT, in_.data(), 1, MPI_INT, work_.comm);
    got_.resize(std::accumulate(in_.begin(), in_.end(), std::size_t{0}));
  }
  const Workload& work_;
  std::vector<int> out_, in_;
  std::vector<Word> got_;
};

class Messages : public Counted {
 public:
  using Counted::Counted;
  void run() override {
    exchange_counts();
    requests_.clear();
    std::size_t at = 0;
    for (int r = 0; r < work_.ranks; at += static_cast<std::size_t>(in_[r]), ++r)
      if (in_[r] > 0)
        MPI_Irecv(&got_[at], in_[r], MPI_UINT64_T, r, 0, work_.comm, &requests_.emplace_back());
    for (std::size_t k = 0; k < work_.targets.size(); ++k)
      MPI_Isend(work_.message(k), static_cast<int>(work_.words), MPI_UINT64_T, work_.targets[k], 0,
                work_.comm, &requests_.emplace_back());
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  std::vector<MPI_Request> requests_;
};

class Dense : public Counted {
 public:
  explicit Dense(const Workload& work)
      : Counted(work), out_places_(out_.size()), in_places_(out_.size()) {
    std::exclusive_scan(out_.begin(), out_.end(), out_places_.begin(), 0);
  }
  void run() override {
    exchange_counts();
    std::exclusive_scan(in_.begin(), in_.end(), in_places_.begin(), 0);
    MPI_Alltoallv(work_.values.data(), out_.data(), out_places_.data(), MPI_UINT64_T, got_.data(),
                  in_.data(), in_places_.data(), MPI_UINT64_T, work_.comm);
  }

 private:
  std::vector<int> out_places_, in_places_;
};

// Hoefler, Siebert and Lumsdaine 2010, as the paper has it. Two tags in turn: another rank may be
// in the next exchange while this one is still in the barrier.
class PlainNbx : public Exchange {
 public:
  explicit PlainNbx(const Workload& work) : work_(work), requests_(work.targets.size()) {}
  void run() override {
    tag_ = 3 - tag_;
    got_.clear();
    for (std::size_t k = 0; k < requests_.size(); ++k)
      MPI_Issend(work_.message(k), static_cast<int>(work_.words), MPI_UINT64_T, work_.targets[k],
                 tag_, work_.comm, &requests_[k]);
    MPI_Request barrier = MPI_REQUEST_NULL;
    for (int over = 0; !over;) {
      receive_if_any();
      int sent = barrier != MPI_REQUEST_NULL;
      if (sent) {
        MPI_Test(&barrier, &over, MPI_STATUS_IGNORE);
        continue;
      }
      MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &sent, MPI_STATUSES_IGNORE);
      if (sent) MPI_Ibarrier(work_.comm, &barrier);
    }
  }
  std::vector<Arrived> arrived() const override {
    std::vector<Arrived> all;
    for (const auto& [source, values] : got_) all.push_back({source, values.data(), values.size()});
    return all;
  }

 private:
  void receive_if_any() {
    int found = 0, count = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, tag_, work_.comm, &found, &message, &status);
    if (!found) return;
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    auto& [source, values] = got_.emplace_back();
    source = status.MPI_SOURCE;
    values.resize(static_cast<std::size_t>(count));
    MPI_Mrecv(values.data(), count, MPI_UINT64_T, &message, MPI_STATUS_IGNORE);
  }

  const Workload& work_;
  std::vector<MPI_Request> requests_;
  std::vector<std::pair<int, std::vector<Word>>> got_;
  int tag_ = 1;
};

}  // namespace

const std::vector<std::string>& known_algorithms() {
  static const std::vector<std::string> all{"counts",
                                            "dense",
                                            "plain-nbx",
                                            "auto",
                                            "in-flight",
                                            "pairwise",
                                            "nbx",
                                            "personalized",
                                            "store-and-forward/1",
                                            "store-and-forward/2",
                                            "store-and-forward/3"};
  return all;
}

std::unique_ptr<Exchange> make_exchange(const std::string& algorithm, const Workload& work) {
  if (algorithm == "counts") return std::make_unique<Messages>(work);
  if (algorithm == "dense") return std::make_unique<Dense>(work);
  if (algorithm == "plain-nbx") return std::make_unique<PlainNbx>(work);
  if (algorithm == "in-flight") return std::make_unique<InFlight>(work);
  return std::make_unique<Tonari>(algorithm, work);
}

}  // namespace bench::sparse
