// SPDX-License-Identifier: BSD-3-Clause
#include "packing/launched_copies.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "device/given.hpp"

namespace tonari {
namespace {

// How many pieces from the first one on lie in its allocation; at least one.
std::size_t within_one(const Device& device, const std::byte* first, const Move& move,
                       std::ptrdiff_t stride) {
  const MemoryAt memory = device.memory_at(first);
  if (memory.bytes == 0 || stride == 0) return move.count;
  const auto length = static_cast<std::ptrdiff_t>(move.length);
  const std::ptrdiff_t room =
      stride > 0 ? memory.base + memory.bytes - (first + length) : first - memory.base;
  if (room < 0) return 1;
  return std::min(move.count, static_cast<std::size_t>(room / std::abs(stride)) + 1);
}

// Pieces at equal distances may lie in several allocations, such as those of fields. Devices take
// moves whose ends lie in one each.
std::vector<Move> in_allocations(const Device& device, const std::vector<Move>& moves) {
  std::vector<Move> all;
  for (Move rest : moves)
    while (rest.count > 0) {
      Move some = rest;
      if (rest.count > 1)
        some.count = std::min(within_one(device, rest.to, rest, rest.to_stride),
                              within_one(device, rest.from, rest, rest.from_stride));
      all.push_back(some);
      const auto done = static_cast<std::ptrdiff_t>(some.count);
      rest.to += done * rest.to_stride, rest.from += done * rest.from_stride;
      rest.count -= some.count;
    }
  return all;
}

}  // namespace

LaunchedCopies::LaunchedCopies(std::shared_ptr<PresentDevice> devices, int number,
                               std::vector<PlacedCopy> copies)
    : devices_(std::move(devices)),
      number_(number),
      copies_(std::move(copies)),
      held_(**devices_),
      own_(devices_->stream(number_)),
      done_(held_.event(number_)) {
  bound_.reserve(most_places + 1);
  bound_.push_back(compile(std::vector<Shift>(copies_.size())));
}

LaunchedCopies::Bound LaunchedCopies::compile(std::vector<Shift> shifts) const {
  std::vector<Move> moves;
  for (std::size_t k = 0; k < copies_.size(); ++k)
    make_moves(moves, reinterpret_cast<std::byte*>(shifts[k].first), copies_[k].to.bytes,
               reinterpret_cast<const std::byte*>(shifts[k].second), copies_[k].from.bytes);
  moves = in_allocations(device(), moves);
  if (moves.empty()) return {std::move(shifts), std::nullopt};
  if (moves.size() == 1 && moves.front().count == 1) return {std::move(shifts), moves.front()};
  return {std::move(shifts), std::nullopt, device().make_table(number_, moves)};
}

void LaunchedCopies::free(const Bound& bound) const {
  if (bound.table) (void)error_of([&] { device().free_table(*bound.table); });
}

// What is in use cannot be given back.
LaunchedCopies::~LaunchedCopies() {
  if (put_) (void)error_of([&] { wait(); });
  for (const Bound& bound : bound_) free(bound);
}

void LaunchedCopies::move_to(std::span<const std::ptrdiff_t> shifts) {
  std::vector<Shift> next;
  for (const PlacedCopy& copy : copies_)
    next.emplace_back(shifts[copy.to.space], shifts[copy.from.space]);
  const auto known = std::ranges::find(bound_, next, &Bound::shifts);
  if (known != bound_.end()) {
    std::rotate(bound_.begin(), known, known + 1);
    return;
  }
  bound_.insert(bound_.begin(), compile(std::move(next)));
  if (bound_.size() <= most_places) return;
  free(bound_.back());
  bound_.pop_back();
}

void LaunchedCopies::put_on(DeviceStream stream) {
  const Bound& bound = bound_.front();
  if (bound.one)
    device().copy(stream, bound.one->to, bound.one->from, bound.one->length);
  else if (bound.table)
    device().move(stream, *bound.table);
  record_on(stream);
}

void LaunchedCopies::record_on(DeviceStream stream) {
  device().record(stream, done_);
  put_ = true;
  put_to_ = stream;
}

void LaunchedCopies::mark_on(DeviceStream stream) {
  order_behind(stream);
  record_on(stream);
}

bool LaunchedCopies::complete() {
  if (put_ && device().query(done_)) put_ = false;
  return !put_;
}

void LaunchedCopies::wait() {
  if (put_) device().synchronize(done_);
  put_ = false;
}

void LaunchedCopies::order_behind(DeviceStream stream) {
  if (put_ && stream != put_to_) device().wait_event(stream, done_);
}

void LaunchedCopies::check_stream(DeviceStream stream) const {
  tonari::check_stream(device(), number_, stream,
                       "an exchange through the host cannot be part of a graph");
}

}  // namespace tonari
