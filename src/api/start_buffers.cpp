#include "api/start_buffers.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tonari {
namespace {

constexpr std::uintptr_t first_page = 4096;  // no program's data

}  // namespace

StartBuffers::StartBuffers(const char* function, std::vector<StartBuffer> buffers,
                           CheckOverlaps check_overlaps)
    : function_(function),
      buffers_(std::move(buffers)),
      check_overlaps_(std::move(check_overlaps)),
      shifts_(1) {
  for (const StartBuffer& b : buffers_)
    shifts_.resize(std::max(shifts_.size(), std::size_t{b.space} + 1));
  next_ = shifts_;
}

void StartBuffers::find_shifts(const void* const given[]) {
  for (std::size_t k = 0; k < buffers_.size(); ++k) {
    const StartBuffer& b = buffers_[k];
    const std::ptrdiff_t shift = distance(b.address, given[k]);
    if (k > 0 && buffers_[k - 1].space == b.space && next_[b.space] != shift)
      fail(Errc::argument, "`", b.name, "` lies further from `", buffers_[k - 1].name,
           "` than it did at init, or less far; fields must keep their distances");
    next_[b.space] = shift;
  }
}

Shifts StartBuffers::take(const void* const given[]) {
  find_shifts(given);
  if (next_ == shifts_) return shifts_;
  bool apart = true;
  for (auto one = buffers_.begin(); one != buffers_.end(); ++one) {
    if (one->touched.empty()) continue;
    if (one->touched.low + static_cast<std::uintptr_t>(next_[one->space]) < first_page)
      fail(Errc::argument, "`", one->name, "` is NULL, but this rank has values there");
    for (auto other = one + 1; other != buffers_.end(); ++other)
      apart = apart && plainly_apart(*one, *other);
  }
  if (!apart) check_overlaps_(next_);
  std::swap(shifts_, next_);
  return shifts_;
}

// They are as far apart as at init, or what is touched of one lies behind the other's.
bool StartBuffers::plainly_apart(const StartBuffer& one, const StartBuffer& other) const {
  const auto by_one = static_cast<std::uintptr_t>(next_[one.space]),
             by_other = static_cast<std::uintptr_t>(next_[other.space]);
  return by_one == by_other || other.touched.empty() ||
         one.touched.high + by_one <= other.touched.low + by_other ||
         other.touched.high + by_other <= one.touched.low + by_one;
}

Binding moved(Binding binding, Shifts shifts) {
  for (std::vector<Block>* side : {&binding.send, &binding.recv})
    for (Block& block : *side) block.address = moved(block.address, shifts[block.space]);
  return binding;
}

}  // namespace tonari
