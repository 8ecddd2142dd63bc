// SPDX-License-Identifier: BSD-3-Clause
#include "device/pinned_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tonari {

PinnedCopy::PinnedCopy(std::shared_ptr<PresentDevice> devices, int number,
                       const std::vector<DeviceBlock>& blocks, Way way)
    : devices_(std::move(devices)), number_(number), way_(way), held_(**devices_) {
  places_.reserve(blocks.size());
  for (const DeviceBlock& block : blocks) {
    const auto at = reinterpret_cast<std::ptrdiff_t>(block.address);
    places_.push_back(bytes_);
    if (block.layout)
      on_device_.add(*block.layout, at);
    else
      on_device_.add(at, block.bytes);
    on_host_.add(static_cast<std::ptrdiff_t>(bytes_), block.bytes);
    bytes_ = checked_add(bytes_, std::max(block.bytes, block.room), "bytes of pinned memory");
  }
  own_ = devices_->stream(number_);
  done_ = held_.event(number_);
  host_ = held_.allocate(MemoryKind::pinned, number_, bytes());
  bound_.reserve(most_places + 1);
  bound_.push_back(compile(0));
}

PinnedCopy::Bound PinnedCopy::compile(std::ptrdiff_t shift) const {
  std::byte* const base = reinterpret_cast<std::byte*>(shift);
  std::vector<Move> moves;
  if (way_ == Way::to_host)
    make_moves(moves, host_, on_host_, base, on_device_);
  else
    make_moves(moves, base, on_device_, host_, on_host_);
  if (moves.size() == 1 && moves.front().count == 1) return {shift, moves.front()};
  return {shift, std::nullopt, device().make_table(number_, moves)};
}

void PinnedCopy::free(const Bound& bound) const {
  if (!bound.one) (void)error_of([&] { device().free_table(bound.table); });
}

// What is in use cannot be given back.
PinnedCopy::~PinnedCopy() {
  if (put_) (void)error_of([&] { wait(); });
  for (const Bound& bound : bound_) free(bound);
}

void PinnedCopy::move_to(std::ptrdiff_t shift) {
  const auto known = std::ranges::find(bound_, shift, &Bound::shift);
  if (known != bound_.end()) {
    std::rotate(bound_.begin(), known, known + 1);
    return;
  }
  bound_.insert(bound_.begin(), compile(shift));
  if (bound_.size() <= most_places) return;
  free(bound_.back());
  bound_.pop_back();
}

void PinnedCopy::check_reach(std::ptrdiff_t shift, const std::string& name) const {
  const auto [low, high] = on_device_.span();
  for (const std::ptrdiff_t at : {low + shift, high - 1 + shift}) {
    const MemoryAt memory = device().memory_at(reinterpret_cast<const void*>(at));
    if (memory.kind != MemoryKind::device || memory.device != number_)
      fail(Errc::argument, "blocks from ", name, " on do not lie in memory of device ", number_,
           ", as they did at init; give a buffer there that is as long");
  }
}

void PinnedCopy::put_on(DeviceStream stream) {
  const Bound& bound = bound_.front();
  if (bound.one)
    device().copy(stream, bound.one->to, bound.one->from, bound.one->length);
  else
    device().move(stream, bound.table);
  record_on(stream);
}

void PinnedCopy::record_on(DeviceStream stream) {
  device().record(stream, done_);
  put_ = true;
  put_to_ = stream;
}

void PinnedCopy::mark_on(DeviceStream stream) {
  order_behind(stream);
  record_on(stream);
}

bool PinnedCopy::complete() {
  if (put_ && device().query(done_)) put_ = false;
  return !put_;
}

void PinnedCopy::wait() {
  if (put_) device().synchronize(done_);
  put_ = false;
}

void PinnedCopy::order_behind(DeviceStream stream) {
  if (put_ && stream != put_to_) device().wait_event(stream, done_);
}

void PinnedCopy::check_stream(DeviceStream stream) const {
  if (const int other = device().device_of(stream); other != number_)
    fail(Errc::argument, "`stream` is one of device ", other, ", and the blocks are on device ",
         number_, "; give a stream of that device");
  if (device().captures(stream))
    fail(Errc::active,
         "`stream` is captured, and an exchange through the host cannot be part of a "
         "graph; end the capture first");
}

}  // namespace tonari
