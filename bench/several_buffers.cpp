// SPDX-License-Identifier: BSD-3-Clause
#include "several_buffers.hpp"

#include <tonari/group.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "tonari_candidate.hpp"
#include "tonari_requests.hpp"

namespace bench {
namespace {

// Buffers like those of a workload.
class PairMemory {
 public:
  explicit PairMemory(const Workload& work)
      : one_array_(work.send() == work.recv()),
        recv_(allocate(work.recv_bytes())),
        send_(allocate(one_array_ ? 0 : work.send_bytes())) {}
  BufferPair pair() const { return {one_array_ ? recv_.get() : send_.get(), recv_.get()}; }

 private:
  struct Free {
    void operator()(unsigned char* memory) const { std::free(memory); }
  };
  using Owned = std::unique_ptr<unsigned char, Free>;
  static Owned allocate(std::size_t bytes) { return Owned(Workload::allocate(bytes)); }

  bool one_array_;
  Owned recv_, send_;
};

// A program that exchanges two pairs of buffers in turn: by one request, or by two.
class InTurn : public TonariCandidate {
 public:
  InTurn(bool by_two, const Workload& work, tonari_neighborhood near, const Keys& keys)
      : TonariCandidate(make_request(work, near, keys)),
        other_(work),
        pairs_{work.buffers(), other_.pair()} {
    if (by_two) second_ = make_request(work, pairs_[1], near, keys.get());
  }
  ~InTurn() override { tonari_request_free(&second_); }
  InTurn(const InTurn&) = delete;
  InTurn& operator=(const InTurn&) = delete;

  void run() override {
    at_ = 1 - at_;
    if (!second_) {
      check(tonari_start_with(request_, pairs_[at_].send, pairs_[at_].recv));
      return check(tonari_wait(request_));
    }
    const tonari_request request = at_ == 0 ? request_ : second_;
    check(tonari_start(request));
    check(tonari_wait(request));
  }
  void prepare(Workload& work) override {
    work.poison();
    std::memcpy(const_cast<void*>(pairs_[1].send), work.send(), work.send_bytes());
    std::memcpy(pairs_[1].recv, work.recv(), work.recv_bytes());
  }
  bool correct(const Workload& work) const override {
    if (at_ == 0) return work.correct();
    std::memcpy(work.recv(), pairs_[1].recv, work.recv_bytes());
    return std::memcmp(pairs_[1].send, work.send(), work.send_bytes()) == 0 && work.correct();
  }

 private:
  PairMemory other_;
  BufferPair pairs_[2];
  tonari_request second_ = TONARI_REQUEST_NULL;
  std::size_t at_ = 0;
};

constexpr std::size_t at_once = 4;
using Memories = std::array<std::unique_ptr<PairMemory>, at_once - 1>;

// A program that exchanges four pairs of buffers at once: by a group, or by a request for each.
class AtOnce : public Candidate {
 public:
  AtOnce(bool by_group, const Workload& work, tonari_neighborhood near, const Keys& keys)
      : pairs_{work.buffers()} {
    for (std::size_t k = 1; k < at_once; ++k) {
      memories_[k - 1] = std::make_unique<PairMemory>(work);
      pairs_[k] = memories_[k - 1]->pair();
    }
    if (by_group) check(tonari_group_start(work.place.cart));
    for (const BufferPair& pair : pairs_)
      if (by_group)
        (void)make_request(work, pair, near, MPI_INFO_NULL);
      else
        requests_.push_back(make_request(work, pair, near, keys.get()));
    if (by_group) check(tonari_group_end(keys.get(), &requests_.emplace_back()));
  }
  ~AtOnce() override {
    for (tonari_request& request : requests_) tonari_request_free(&request);
  }
  AtOnce(const AtOnce&) = delete;
  AtOnce& operator=(const AtOnce&) = delete;

  void run() override {
    const int n = static_cast<int>(requests_.size());
    check(tonari_startall(n, requests_.data()));
    check(tonari_waitall(n, requests_.data()));
  }
  // Every pair has other bytes, so that blocks of one call are not taken for those of another.
  void prepare(Workload& work) override {
    work.poison();
    for (std::size_t k = 1; k < at_once; ++k) {
      if (pairs_[k].send != pairs_[k].recv)
        copy(work.send(), const_cast<void*>(pairs_[k].send), work.send_bytes(), k);
      copy(work.recv(), pairs_[k].recv, work.recv_bytes(), k);
    }
  }
  bool correct(const Workload& work) const override {
    bool good = work.correct();
    for (std::size_t k = 1; k < at_once; ++k) {
      copy(pairs_[k].recv, work.recv(), work.recv_bytes(), k);
      good = good && work.correct();
    }
    return good;
  }
  std::string channel() const override { return info().channel; }
  std::string chosen() const override { return label(info()); }
  std::string reason() const override { return info().reason; }
  bool inside_mpi() const override { return std::strcmp(info().channel, "mpi") == 0; }
  bool ours() const override { return !inside_mpi(); }

 private:
  tonari_request_info info() const {
    tonari_request_info now{};
    check(tonari_request_get_info(requests_.front(), &now));
    return now;
  }
  static void copy(const void* from, void* to, std::size_t bytes, std::size_t number) {
    const auto* in = static_cast<const unsigned char*>(from);
    auto* out = static_cast<unsigned char*>(to);
    for (std::size_t i = 0; i < bytes; ++i)
      out[i] = static_cast<unsigned char>(in[i] ^ (number << 5));
  }

  Memories memories_;
  std::array<BufferPair, at_once> pairs_;
  std::vector<tonari_request> requests_;
};

}  // namespace

std::unique_ptr<Candidate> make_several(const std::string& use, const Workload& work,
                                        tonari_neighborhood near, const Keys& keys) {
  if (use == "start-with" || use == "two-requests")
    return std::make_unique<InTurn>(use == "two-requests", work, near, keys);
  if (use == "group" || use == "requests")
    return std::make_unique<AtOnce>(use == "group", work, near, keys);
  return nullptr;
}

}  // namespace bench
