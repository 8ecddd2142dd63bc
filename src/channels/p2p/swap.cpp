// SPDX-License-Identifier: BSD-3-Clause
#include "channels/p2p/swap.hpp"

#include <algorithm>

#include "channels/abandon.hpp"
#include "mpi/mpi_error.hpp"

namespace tonari {

ChunkPool::ChunkPool(std::size_t chunk, std::size_t count)
    : chunk_(chunk),
      count_(count),
      memory_(std::make_unique_for_overwrite<std::byte[]>(chunk * count)) {
  free_.reserve(count);
  for (std::size_t k = count; k > 0; --k) give(memory_.get() + (k - 1) * chunk);
}

namespace {

class P2pSwap final : public Swap {
 public:
  P2pSwap(const SwapBlock& block, std::shared_ptr<ChunkPool> pool, std::size_t granted,
          std::shared_ptr<const OwnedComm> comm, int tag)
      : block_(block),
        pool_(std::move(pool)),
        comm_(std::move(comm)),
        tag_(tag),
        out_(block_.walk()),
        in_(block_.walk()),
        staged_(!block.contiguous() && pool_->chunk() > 1) {
    const Bytes parts = (block.bytes + pool_->chunk() - 1) / pool_->chunk();
    flights_.resize(
        std::min<std::size_t>(granted / (staged_ ? 2 : 1), static_cast<std::size_t>(parts)));
  }
  ~P2pSwap() override {
    bool still_sends = false;
    for (; retired_ != posted_; ++retired_)
      still_sends |= abandon(oldest().requests, [](std::size_t k) { return k == 1; });
    if (still_sends) leak(pool_);
  }

  void start() override {
    at_ = 0;
    posted_ = retired_ = 0;
    out_.restart(), in_.restart();
  }

  std::size_t book_bytes() const override {
    return sizeof *this + flights_.capacity() * sizeof(Flight);
  }

  void move(std::ptrdiff_t by) override {
    block_.move(by);
    out_ = block_.walk(), in_ = block_.walk();
  }

  State advance() override {
    const std::uint64_t before = posted_ + retired_;
    for (std::size_t round = 0; round < flights_.size() && posted_ != retired_ && landed(oldest());
         ++round)
      retire(oldest());
    while (at_ < block_.bytes && posted_ - retired_ < flights_.size())
      post(flights_[posted_ % flights_.size()]);
    if (at_ == block_.bytes && posted_ == retired_) return State::complete;
    return posted_ + retired_ != before ? State::went_on : State::idle;
  }

 private:
  // A chunk on its way; `in` is where it is received if that is not its final place.
  struct Flight {
    std::byte *out = nullptr, *in = nullptr;
    std::size_t bytes = 0;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  };

  Flight& oldest() { return flights_[retired_ % flights_.size()]; }

  // The receive comes first, so that the MPI need not keep a chunk that arrives early.
  void post(Flight& flight) {
    const std::size_t n = std::min<Bytes>(pool_->chunk(), block_.bytes - at_);
    const int count = static_cast<int>(n);
    flight.out = pool_->take();
    flight.in = staged_ ? pool_->take() : nullptr;
    flight.bytes = n;
    std::byte* const into = staged_ ? flight.in : out_.straight(n);
    out_.gather(flight.out, n);
    check_mpi(
        MPI_Irecv(into, count, MPI_BYTE, block_.peer, tag_, comm_->get(), &flight.requests[0]),
        "MPI_Irecv");
    ++posted_;
    check_mpi(MPI_Isend(flight.out, count, MPI_BYTE, block_.peer, tag_, comm_->get(),
                        &flight.requests[1]),
              "MPI_Isend");
    at_ += n;
  }

  static bool landed(Flight& flight) {
    int all = 0;
    call_mpi("MPI_Testall",
             [&] { return MPI_Testall(2, flight.requests, &all, MPI_STATUSES_IGNORE); });
    return all != 0;
  }

  void retire(Flight& flight) {
    if (flight.in) {
      in_.scatter(flight.in, flight.bytes);
      pool_->give(flight.in);
    }
    pool_->give(flight.out);
    ++retired_;
  }

  SwapBlock block_;
  std::shared_ptr<ChunkPool> pool_;
  std::shared_ptr<const OwnedComm> comm_;
  int tag_;
  Walk out_, in_;
  bool staged_;
  std::vector<Flight> flights_;
  Bytes at_ = 0;  // that have left
  std::uint64_t posted_ = 0, retired_ = 0;
};

}  // namespace

std::unique_ptr<Swap> make_p2p_swap(const SwapBlock& block, std::shared_ptr<ChunkPool> pool,
                                    std::size_t granted, std::shared_ptr<const OwnedComm> comm,
                                    int tag) {
  return std::make_unique<P2pSwap>(block, std::move(pool), granted, std::move(comm), tag);
}

}  // namespace tonari
