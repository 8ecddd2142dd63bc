// SPDX-License-Identifier: BSD-3-Clause
#include "channels/shared/single_copy_swap.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "memory/process.hpp"
#include "memory/program_stores.hpp"

namespace tonari {
namespace {

constexpr Bytes whole_pages = 4096;  // halves meet between two pages, if blocks begin so

class SingleCopySwap final : public Swap {
 public:
  SingleCopySwap(const SwapBlock& block, SingleCopyEnds ends, std::shared_ptr<Memory> chunk)
      : block_(block),
        ends_(std::move(ends)),
        chunk_(std::move(chunk)),
        process_(ends_.node->process(ends_.node->index(block_.peer))) {
    const Bytes half = block_.bytes / 2 / whole_pages * whole_pages;
    begin_ = ends_.first_half ? 0 : half;
    end_ = ends_.first_half ? half : block_.bytes;
  }

  ~SingleCopySwap() override {
    if (stage_ != Stage::complete) withdraw();
  }
  SingleCopySwap(const SingleCopySwap&) = delete;
  SingleCopySwap& operator=(const SingleCopySwap&) = delete;

  // The cell is free, because the last exchange ended when the other rank had taken it.
  void start() override {
    said() = {reinterpret_cast<std::uintptr_t>(block_.address), 0};
    order_program_stores();
    ends_.out->written(0, 0);
    stage_ = Stage::called;
    at_ = begin_;
  }

  State advance() override {
    if (stage_ == Stage::called) {
      if (!ends_.in->arrived(0, 0)) return State::idle;
      theirs_ = heard().address;
      stage_ = Stage::swapping;
    }
    if (stage_ == Stage::swapping) {
      if (at_ < end_) swap_chunk();
      if (at_ < end_) return State::went_on;
      ends_.in->taken(0, 0);
      stage_ = Stage::swapped;
      return other_is_done() ? completed() : State::went_on;
    }
    return other_is_done() ? completed() : State::idle;
  }

  std::size_t book_bytes() const override { return sizeof *this; }
  void move(std::ptrdiff_t by) override { block_.move(by); }
  void leave() override {
    ends_.in->leave();
    withdraw();
  }
  void check() const override { ends_.out->check(), ends_.in->check(); }

 private:
  enum class Stage : std::uint8_t { called, swapping, swapped, complete };

  SwapAddress& said() const { return *reinterpret_cast<SwapAddress*>(ends_.out->slots()[0].at[0]); }
  SwapAddress& heard() const { return *reinterpret_cast<SwapAddress*>(ends_.in->slots()[0].at[0]); }

  // It takes the address when it has swapped its half.
  bool other_is_done() const { return ends_.out->may_write(0, 0); }
  State completed() {
    stage_ = Stage::complete;
    return State::complete;
  }

  // The program may do with its memory what it likes when this returns. Either the other rank sees
  // that this one has left, or this one sees that it touches the block.
  void withdraw() {
    if (in_forked_child()) return;
    ends_.out->leave();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const std::size_t peer = ends_.node->index(block_.peer);
    while (std::atomic_ref(said().touched).load(std::memory_order_acquire) != 0 &&
           !ends_.node->ended(peer))
      sched_yield();
  }

  // The other rank's block is touched while it lives. Throws Errc::peer if that rank has left.
  class Touch {
   public:
    explicit Touch(const SingleCopySwap& swap) : mark_(swap.heard().touched) {
      mark_.store(1, std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_seq_cst);
      const std::optional<Error> left = error_of([&] { swap.ends_.in->check(); });
      if (!left) return;
      // The fence has released what was touched before, and nothing was since.
      mark_.store(0, std::memory_order_relaxed);
      throw *left;
    }
    ~Touch() { mark_.store(0, std::memory_order_release); }
    Touch(const Touch&) = delete;
    Touch& operator=(const Touch&) = delete;

   private:
    std::atomic_ref<std::uint64_t> mark_;
  };

  void swap_chunk() {
    const Touch touch(*this);
    const std::size_t bytes = std::min<Bytes>(chunk_->bytes(), end_ - at_);
    std::byte* const own = block_.address + at_;
    const Piece here{reinterpret_cast<std::uintptr_t>(own), bytes};
    const Piece kept{reinterpret_cast<std::uintptr_t>(chunk_->data()), bytes};
    const Piece there{theirs_ + at_, bytes};
    std::memcpy(chunk_->data(), own, bytes);
    succeed(read_process(process_, {&here, 1}, {&there, 1}));
    succeed(write_process(process_, {&there, 1}, {&kept, 1}));
    at_ += bytes;
  }

  void succeed(int error) const {
    if (error == 0) return;
    check();
    if (error == ESRCH)  // it ends, but does not yet count as ended
      fail(Errc::peer, "rank ", block_.peer, " (process ", process_,
           ") has ended, and this rank swaps a block with it");
    fail(Errc::memory, "the memory of rank ", block_.peer, " cannot be read and written (",
         std::strerror(error), "); set TONARI_CHANNEL=p2p-packed");
  }

  SwapBlock block_;
  SingleCopyEnds ends_;
  std::shared_ptr<Memory> chunk_;
  std::int64_t process_;
  Bytes begin_ = 0, end_ = 0, at_ = 0;  // of the block's bytes, what this rank swaps
  std::uint64_t theirs_ = 0;            // where the other rank's block lies
  Stage stage_ = Stage::complete;
};

}  // namespace

std::unique_ptr<Swap> make_single_copy_swap(const SwapBlock& block, SingleCopyEnds ends,
                                            std::shared_ptr<Memory> chunk) {
  return std::make_unique<SingleCopySwap>(block, std::move(ends), std::move(chunk));
}

}  // namespace tonari
