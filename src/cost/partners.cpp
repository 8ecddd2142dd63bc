// SPDX-License-Identifier: BSD-3-Clause
#include "cost/partners.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace tonari {
namespace {

struct End {  // of a message
  std::uint64_t pair;
  std::int32_t tag;
  std::uint32_t id;
  friend auto operator<=>(const End&, const End&) = default;
  bool meets(const End& other) const { return pair == other.pair && tag == other.tag; }
};

class Matching {
 public:
  Matching(std::span<const Plan> plans, std::span<const std::uint64_t> bytes)
      : plans_(plans), bytes_(bytes), partners_(bytes.size(), no_partner) {}

  std::vector<std::uint32_t> run() {
    collect();
    match();
    return std::move(partners_);
  }

 private:
  bool alone() const { return plans_.size() == 1; }

  void collect() {
    for (auto* list : {&receiving_, &sending_}) list->reserve(bytes_.size());
    std::uint32_t id = 0;
    for (std::uint64_t here = 0; here < plans_.size(); ++here)
      for (const Operation& op : plans_[here].operations()) add(here, op, id++);
    for (auto* list : {&receiving_, &sending_})
      if (!std::is_sorted(list->begin(), list->end())) std::sort(list->begin(), list->end());
  }

  void add(std::uint64_t here, const Operation& op, std::uint32_t id) {
    if (op.kind == Kind::copy || bytes_[id] == 0) return;
    if (op.kind == Kind::exchange && alone()) {
      partners_[id] = id;  // the partner does the same
      return;
    }
    const std::uint64_t peer = static_cast<std::uint32_t>(op.peer);
    const bool swaps = op.kind == Kind::exchange;
    if (swaps || op.kind == Kind::recv)
      receiving_.push_back({alone() ? 0 : peer << 32 | here, op.tag, id});
    if (swaps || op.kind == Kind::send)
      sending_.push_back({alone() ? 0 : here << 32 | peer, op.tag, id});
  }

  void match() {
    auto in = receiving_.begin(), out = sending_.begin();
    while (in != receiving_.end() && out != sending_.end()) {
      if (in->meets(*out)) {
        meet(*in++, *out++);
      } else if (alone()) {
        in->tag < out->tag ? ++in : ++out;
      } else {
        break;
      }
    }
    if (!alone() && (in != receiving_.end() || out != sending_.end()))
      fail(Errc::internal, "a message of the plans has no other end");
  }

  void meet(const End& in, const End& out) {
    partners_[in.id] = out.id;
    partners_[out.id] = in.id;
  }

  std::span<const Plan> plans_;
  std::span<const std::uint64_t> bytes_;
  std::vector<std::uint32_t> partners_;
  std::vector<End> receiving_, sending_;
};

}  // namespace

std::vector<std::uint32_t> partners(std::span<const Plan> plans,
                                    std::span<const std::uint64_t> bytes) {
  return Matching(plans, bytes).run();
}

}  // namespace tonari
