// SPDX-License-Identifier: BSD-3-Clause
#include "channels/shared/single_copy_swap.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "memory/process.hpp"
#include "memory/program_stores.hpp"

namespace tonari {
namespace {

constexpr Bytes whole_pages =
    4096;  // the halves meet at the border of two pages, if blocks begin so

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

  // The cell is free, because the last exchange ended when the other rank had taken it.
  void start() override {
    const SwapAddress mine{reinterpret_cast<std::uintptr_t>(block_.address)};
    std::memcpy(ends_.out->slots()[0].at[0], &mine, sizeof mine);
    order_program_stores();
    ends_.out->written(0, 0);
    stage_ = Stage::called;
    at_ = begin_;
  }

  State advance() override {
    if (stage_ == Stage::called) {
      if (!ends_.in->arrived(0, 0)) return State::idle;
      std::memcpy(&theirs_, ends_.in->slots()[0].at[0], sizeof theirs_);
      stage_ = Stage::swapping;
    }
    if (stage_ == Stage::swapping) {
      if (at_ < end_) swap_chunk();
      if (at_ < end_) return State::went_on;
      ends_.in->taken(0, 0);
      stage_ = Stage::swapped;
      return other_is_done() ? State::complete : State::went_on;
    }
    return other_is_done() ? State::complete : State::idle;
  }

  void move(std::ptrdiff_t by) override { block_.move(by); }
  void leave() override { ends_.out->leave(), ends_.in->leave(); }
  void check() const override { ends_.out->check(), ends_.in->check(); }

 private:
  enum class Stage : std::uint8_t { called, swapping, swapped };

  // It takes the address when it has swapped its half.
  bool other_is_done() const { return ends_.out->may_write(0, 0); }

  void swap_chunk() {
    const std::size_t bytes = std::min<Bytes>(chunk_->bytes(), end_ - at_);
    std::byte* const own = block_.address + at_;
    const Piece here{reinterpret_cast<std::uintptr_t>(own), bytes};
    const Piece kept{reinterpret_cast<std::uintptr_t>(chunk_->data()), bytes};
    const Piece there{theirs_.address + at_, bytes};
    std::memcpy(chunk_->data(), own, bytes);
    succeed(read_process(process_, {&here, 1}, {&there, 1}));
    succeed(write_process(process_, {&there, 1}, {&kept, 1}));
    at_ += bytes;
  }

  void succeed(int error) const {
    if (error == 0) return;
    check();
    fail(Errc::memory, "the memory of rank ", block_.peer, " cannot be read and written (",
         std::strerror(error), "); set TONARI_CHANNEL=p2p-packed");
  }

  SwapBlock block_;
  SingleCopyEnds ends_;
  std::shared_ptr<Memory> chunk_;
  std::int64_t process_;
  Bytes begin_ = 0, end_ = 0, at_ = 0;  // of the block's bytes, what this rank swaps
  SwapAddress theirs_;
  Stage stage_ = Stage::called;
};

}  // namespace

std::unique_ptr<Swap> make_single_copy_swap(const SwapBlock& block, SingleCopyEnds ends,
                                            std::shared_ptr<Memory> chunk) {
  return std::make_unique<SingleCopySwap>(block, std::move(ends), std::move(chunk));
}

}  // namespace tonari
