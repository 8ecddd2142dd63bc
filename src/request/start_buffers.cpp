// SPDX-License-Identifier: BSD-3-Clause
#include "request/start_buffers.hpp"

#include <algorithm>

#include "request/buffer.hpp"

namespace tonari {

namespace {

[[noreturn]] void refuse_other_memory(const StartBuffer& buffer) {
  const std::string name = text("`", buffer.name, "`");
  if (!buffer.on_gpu) refuse_gpu_memory(name);
  fail(Errc::argument, name, " is not memory of a GPU, as it was at init; give memory of that GPU");
}

}  // namespace

StartBuffers::StartBuffers(const char* function, std::vector<StartBuffer> buffers, Check check,
                           Ask ask)
    : function_(function),
      buffers_(std::move(buffers)),
      check_(std::move(check)),
      ask_(ask),
      shifts_(1) {
  for (const StartBuffer& b : buffers_)
    shifts_.resize(std::max(shifts_.size(), std::size_t{b.space} + 1));
  next_ = shifts_;
  for (const StartBuffer& b : buffers_)
    if (!b.touched.empty()) by_address_.push_back(&b);
}

void StartBuffers::find_shifts(const void* const given[]) {
  for (std::size_t k = 0; k < buffers_.size(); ++k) {
    const StartBuffer& b = buffers_[k];
    require_contiguous(given[k], b.name.c_str());
    if (on_gpu(given[k]) != b.on_gpu && !b.touched.empty()) refuse_other_memory(b);
    const std::ptrdiff_t shift = distance(b.address, given[k]);
    if (k > 0 && buffers_[k - 1].space == b.space && next_[b.space] != shift)
      fail(Errc::argument, "`", b.name, "` lies further from `", buffers_[k - 1].name,
           "` than it did at init, or less far; fields must keep their distances");
    next_[b.space] = shift;
  }
}

Shifts StartBuffers::take(const void* const given[]) {
  if (!given && !buffers_.empty()) fail(Errc::argument, "`arrays` is NULL, but this rank has some");
  find_shifts(given);
  if (next_ == shifts_) return shifts_;
  for (const StartBuffer* b : by_address_)
    if (b->touched.low + static_cast<std::uintptr_t>(next_[b->space]) < first_page)
      fail(Errc::argument, "`", b->name, "` is NULL, but this rank has values there");
  if (ask_ == Ask::always || !plainly_apart()) check_(next_);
  std::swap(shifts_, next_);
  return shifts_;
}

// What is touched of one lies behind the other's, or they are as far apart as at init.
bool StartBuffers::plainly_apart() {
  const auto by = [&](const StartBuffer* b) {
    return static_cast<std::uintptr_t>(next_[b->space]);
  };
  const auto low = [&](const StartBuffer* b) { return b->touched.low + by(b); };
  std::ranges::sort(by_address_, {}, low);
  for (auto one = by_address_.begin(); one != by_address_.end(); ++one)
    for (auto other = one + 1;
         other != by_address_.end() && low(*other) < (*one)->touched.high + by(*one); ++other)
      if (by(*one) != by(*other)) return false;
  return true;
}

Binding moved(Binding binding, Shifts shifts) {
  for (std::vector<Block>* side : {&binding.send, &binding.recv})
    for (Block& block : *side) block.address = moved(block.address, shifts[block.space]);
  return binding;
}

}  // namespace tonari
