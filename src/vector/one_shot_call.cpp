// SPDX-License-Identifier: BSD-3-Clause
#include "vector/one_shot_call.hpp"

#include <algorithm>
#include <utility>

#include "base/hash.hpp"

namespace tonari {
namespace {

// What is called, in the heads of messages: the direction, and a few bits of all else that ranks
// must have in common.
constexpr std::uint32_t first_call = 2;  // below are the operations of neighborhoods
constexpr std::uint32_t size_bits = 8, number_bits = 14;

std::uint32_t call_word(Direction direction, const VectorValues& values) {
  const auto some = [](std::uint64_t word, std::uint32_t bits) {
    return static_cast<std::uint32_t>(Hash().word(word).value()) & ((1U << bits) - 1);
  };
  std::uint32_t word = some(values.reductions, number_bits);
  word = word << size_bits | some(values.vectors, size_bits);
  word = word << size_bits | some(values.widths, size_bits);
  // calls that combine have streams of their own
  return word << 2 | (first_call + (direction == Direction::forward ? 0U : 1U));
}

[[noreturn]] void differ(std::uint32_t one, std::uint32_t other) {
  const std::uint32_t bits = (one ^ other) >> 2;
  constexpr std::uint32_t size = (1U << size_bits) - 1;
  fail(Errc::mismatch, bits & size                  ? different_widths
                       : (bits >> size_bits) & size ? different_vectors
                                                    : different_reductions);
}

// A message's bytes, relative to the space that they lie in.
Layout layout_of(const ValueWork& work, const VectorPart& part, const Spaces& spaces) {
  Layout layout;
  layout.add(work.bytes_of_message(part),
             -reinterpret_cast<std::ptrdiff_t>(spaces[work.space_of_message(part)]));
  return layout;
}

const VectorPart* part_with(const std::vector<VectorPart>& parts, std::int32_t peer) {
  const auto found = std::ranges::find(parts, peer, &VectorPart::peer);
  return found == parts.end() ? nullptr : &*found;
}

DirectMessages messages_of(const VectorStep& step, const ValueWork& work, const Streams& streams,
                           std::uint32_t word) {
  DirectMessages all;
  all.differ = differ;
  const Spaces spaces = work.spaces();
  for (std::size_t k = 0; k < streams.size(); ++k) {
    DirectMessages::Message& message = all.messages.emplace_back();
    const std::int32_t peer = streams[k].edges.rank;
    message.recv.resize(1);
    if (const VectorPart* const part = part_with(step.send, peer)) {
      message.send = layout_of(work, *part, spaces);
      message.send_from = work.space_of_message(*part);
      message.sizes_out = {message.send.bytes()};
    }
    if (const VectorPart* const part = part_with(step.receive, peer)) {
      message.recv[0] = layout_of(work, *part, spaces);
      message.receive_to = work.space_of_message(*part);
      message.sizes_in = {message.recv[0].bytes()};
    }
    all.seal(message, word);
  }
  return all;
}

// Values that lie as they are sent need no copy, if they all lie in the arrays of one field.
Buffering buffering_of(const VectorPattern& pattern, const VectorValues& values) {
  if (pattern.listed && pattern.listed->meet) return Buffering::in_place;
  return values.fields.size() == 1 ? Buffering::straight : Buffering::copied;
}

bool same_values(const tonari_vector_values& a, const tonari_vector_values& b) {
  return a.type == b.type && a.components == b.components && a.vectors == b.vectors &&
         a.owned_stride == b.owned_stride && a.ghost_stride == b.ghost_stride;
}

// From the first byte of an array that exchanges may touch to behind the last one.
std::size_t reach(std::size_t stride, std::int64_t indices, const ValueExtent& extent) {
  if (indices == 0) return 0;
  return stride * static_cast<std::size_t>(extent.vectors - 1) +
         static_cast<std::size_t>(indices) * extent.width;
}

bool meet(const std::byte* a, std::size_t bytes, const std::byte* b, std::size_t more) {
  return distance(a, b) < static_cast<std::ptrdiff_t>(bytes) &&
         distance(b, a) < static_cast<std::ptrdiff_t>(more) && bytes > 0 && more > 0;
}

}  // namespace

VectorOneShotCall::VectorOneShotCall(SharedVector& vector, const VectorCall& call,
                                     VectorValues values,
                                     const std::vector<std::shared_ptr<Prepared>>& steps,
                                     const std::vector<std::shared_ptr<Streams>>& streams)
    : op_(call.op), values_(std::move(values)) {
  std::vector<std::unique_ptr<LocalWork>> works;
  auto work = std::make_unique<ValueWork>(
      vector.program(call.direction, buffering_of(vector.pattern(), values_)), values_.fields);
  work_ = work.get();
  works.push_back(std::move(work));
  exchange_ = std::make_unique<SteppedExchange>(std::move(works), steps.size());
  for (int f = 0; f < call.count; ++f) {
    given_.push_back(call.fields[f].values);
    if (given_.back().type != MPI_Datatype{}) types_.add(given_.back().type);
  }
  distances_.resize(2 * given_.size());
  remember(call);
  const std::uint32_t word = call_word(call.direction, values_);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    messages_.push_back(messages_of(work_->step(s), *work_, *streams[s], word));
    direct_.push_back(static_cast<DirectExchange*>(steps[s]->exchange.get()));
    exchange_->add_step(steps[s]);
  }
}

bool VectorOneShotCall::same(const VectorCall& call) {
  if (call.op != op_ || static_cast<std::size_t>(std::max(call.count, 0)) != given_.size() ||
      !call.fields)
    return false;
  for (std::size_t f = 0; f < given_.size(); ++f)
    if (!same_values(given_[f], call.fields[f].values) || !reserved_is_zero(call.fields[f]))
      return false;
  return types_.same();
}

void VectorOneShotCall::bind(const VectorPattern& pattern, const VectorCall& call) {
  if (!as_before(call) && !apart(pattern, call)) {
    (void)read_values(pattern, call);
    remember(call);
  }
  for (std::size_t k = 0; k < values_.fields.size(); ++k) {
    const tonari_vector_field& given = call.fields[values_.numbers[k]];
    values_.fields[k].buffers.owned = static_cast<std::byte*>(given.owned);
    values_.fields[k].buffers.ghosts = static_cast<std::byte*>(given.ghosts);
  }
  work_->use(values_.fields);
  const Spaces spaces = work_->spaces();
  for (std::size_t s = 0; s < direct_.size(); ++s) direct_[s]->bind(messages_[s], spaces);
}

// Whether all arrays are there, and none reaches into another.
bool VectorOneShotCall::apart(const VectorPattern& pattern, const VectorCall& call) const {
  struct Array {
    const std::byte* begin;
    std::size_t bytes;
  };
  const auto array = [&](std::size_t n) {
    const std::size_t k = n / 2;
    const ValueField& field = values_.fields[k];
    const tonari_vector_field& given = call.fields[values_.numbers[k]];
    return n % 2 == 0 ? Array{static_cast<std::byte*>(given.owned),
                              reach(field.buffers.owned_stride, pattern.owned, field.extent)}
                      : Array{static_cast<std::byte*>(given.ghosts),
                              reach(field.buffers.ghost_stride, pattern.ghost_count, field.extent)};
  };
  for (std::size_t n = 0; n < 2 * given_.size(); ++n) {
    const Array a = array(n);
    if (!a.begin && a.bytes > 0) return false;
    for (std::size_t m = 0; m < n; ++m)
      if (const Array b = array(m); meet(a.begin, a.bytes, b.begin, b.bytes)) return false;
  }
  return true;
}

// Whether all arrays lie to each other as some that were found right. One that is missing does not.
bool VectorOneShotCall::as_before(const VectorCall& call) const {
  const void* const first = call.fields[0].owned;
  for (std::size_t f = 0; f < given_.size(); ++f) {
    const tonari_vector_field& field = call.fields[f];
    if (!field.owned || !field.ghosts || distance(first, field.owned) != distances_[2 * f] ||
        distance(first, field.ghosts) != distances_[2 * f + 1])
      return false;
  }
  return true;
}

void VectorOneShotCall::remember(const VectorCall& call) {
  for (std::size_t f = 0; f < given_.size(); ++f) {
    distances_[2 * f] = distance(call.fields[0].owned, call.fields[f].owned);
    distances_[2 * f + 1] = distance(call.fields[0].owned, call.fields[f].ghosts);
  }
}

}  // namespace tonari
