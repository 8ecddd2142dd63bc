// SPDX-License-Identifier: BSD-3-Clause
#include "device/pinned_copy.hpp"

#include <cstdint>
#include <utility>

namespace tonari {

PinnedCopy::PinnedCopy(std::shared_ptr<PresentDevice> devices, int number,
                       const std::vector<DeviceBlock>& blocks, Way way)
    : devices_(std::move(devices)), number_(number), way_(way), held_(**devices_) {
  places_.reserve(blocks.size());
  for (const DeviceBlock& block : blocks) {
    const auto at = reinterpret_cast<std::ptrdiff_t>(block.address);
    places_.push_back(on_device_.bytes());
    if (block.layout)
      on_device_.add(*block.layout, at);
    else
      on_device_.add(at, block.bytes);
  }
  own_ = devices_->stream(number_);
  done_ = held_.event(number_);
  host_ = held_.allocate(MemoryKind::pinned, number_, bytes());
  compile();
}

void PinnedCopy::compile() {
  Layout on_host;
  on_host.add(0, bytes());
  std::vector<Move> moves;
  if (way_ == Way::to_host)
    make_moves(moves, host_, on_host, nullptr, on_device_);
  else
    make_moves(moves, nullptr, on_device_, host_, on_host);
  if (moves.size() == 1 && moves.front().count == 1)
    one_ = moves.front();
  else
    table_ = held_.table(number_, moves);
}

// What is in use cannot be given back.
PinnedCopy::~PinnedCopy() {
  if (put_) (void)error_of([&] { wait(); });
}

void PinnedCopy::put_on(DeviceStream stream) {
  if (one_)
    device().copy(stream, one_->to, one_->from, one_->length);
  else
    device().move(stream, table_);
  device().record(stream, done_);
  put_ = true;
}

bool PinnedCopy::complete() const { return device().query(done_); }

void PinnedCopy::wait() const { device().synchronize(done_); }

}  // namespace tonari
