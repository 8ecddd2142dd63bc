// SPDX-License-Identifier: BSD-3-Clause
#include "engine/tune/trial.hpp"

#include <algorithm>
#include <tuple>

#include "engine/run/build.hpp"
#include "engine/run/forwarded_sizes.hpp"
#include "engine/wait/agree.hpp"
#include "mpi/type_of_bytes.hpp"

namespace tonari {
namespace {

// What one side of a call touches, in memory of our own: allocations that lie far from each other
// are next to each other here, so that what lies between them takes no memory.
class Regions {
 public:
  using Keep = Shadow::Keep;
  Regions(const std::vector<Block>& blocks, Keep keep) : keep_(keep) {
    for (const Block& b : blocks)
      if (b.bytes > 0) add(b);
    std::ranges::sort(spans_, {}, &AddressSpan::low);
    std::size_t last = 0;  // that others were joined to
    for (std::size_t k = 1; k < spans_.size(); ++k) {
      if (keep == Keep::buffer || spans_[k].low <= spans_[last].high + far)
        spans_[last].high = std::max(spans_[last].high, spans_[k].high);
      else
        spans_[++last] = spans_[k];
    }
    if (!spans_.empty()) spans_.resize(last + 1);
    for (const AddressSpan& span : spans_) {
      places_.push_back(bytes_ + span.low % cache_line);
      bytes_ += round_up(span.low % cache_line + span.size());
    }
  }

  std::size_t bytes() const { return bytes_; }
  // The address that plays the part of `buffer` for blocks of the first region.
  void* buffer(const void* given, const Memory& memory) const {
    const std::uintptr_t moved = spans_.empty() ? 0 : moved_by(0, memory);
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(given) + moved);
  }
  // Moves blocks of other regions than the first, counted from where `buffer` is now.
  void shift(const std::vector<Block>& blocks, std::vector<TypedBlock>& typed, const void* buffer,
             const Memory& memory, std::vector<OwnedType>& types) const {
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      if (blocks[k].bytes == 0) continue;
      const AddressSpan span = span_of(blocks[k]);
      const std::size_t region = region_of(span.low);
      if (keep_ != Keep::runs || region == region_of(span.high - 1)) {
        typed[k].displacement += static_cast<MPI_Aint>(places_[region] - spans_[region].low -
                                                       (places_[0] - spans_[0].low));
        continue;
      }
      types.push_back(type_of_bytes(moved_runs(blocks[k])));
      typed[k] = {distance(buffer, memory.data()), 1, types.back().get(), typed[k].space};
    }
  }

 private:
  static constexpr std::size_t far = 64 * 1024;  // bytes between two regions

  // use(run, span) for the runs of a block. Layouts join any two pieces of one length, so what is
  // far from each other is taken apart.
  template <class Use>
  static void for_runs(const Block& block, const Use& use) {
    const auto use_one = [&](const Run& run) {
      Layout one;
      one.add(run);
      use(run, span_of(Block{block.address, &one, one.bytes()}));
    };
    for (const Run& run : block.layout->runs()) {
      if (run.stride <= static_cast<std::ptrdiff_t>(far) &&
          run.stride >= -static_cast<std::ptrdiff_t>(far))
        use_one(run);
      else
        for (std::size_t k = 0; k < run.count; ++k)
          use_one({run.offset + static_cast<std::ptrdiff_t>(k) * run.stride, run.length, 0, 1});
    }
  }
  void add(const Block& block) {
    if (keep_ != Keep::runs || !block.layout) return spans_.push_back(span_of(block));
    for_runs(block, [&](const Run&, const AddressSpan& span) { spans_.push_back(span); });
  }
  std::size_t region_of(std::uintptr_t address) const {
    const auto after = std::ranges::upper_bound(spans_, address, {}, &AddressSpan::low);
    return static_cast<std::size_t>(after - spans_.begin()) - 1;
  }
  // Counted from the beginning of our memory.
  Layout moved_runs(const Block& block) const {
    Layout moved;
    for_runs(block, [&](Run run, const AddressSpan& span) {
      const std::size_t region = region_of(span.low);
      run.offset += static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(block.address) +
                                                places_[region] - spans_[region].low);
      moved.add(run);
    });
    return moved;
  }

  std::uintptr_t moved_by(std::size_t region, const Memory& memory) const {
    return reinterpret_cast<std::uintptr_t>(memory.data()) + places_[region] - spans_[region].low;
  }

  Keep keep_;
  std::vector<AddressSpan> spans_;   // of the regions, ascending
  std::vector<std::size_t> places_;  // in our memory; alignment within cache lines is kept
  std::size_t bytes_ = 0;
};

class Trial {
 public:
  Trial(Context& context, const std::vector<Candidate>& candidates, const Settings& settings,
        Shadow& shadow)
      : context_(context), shadow_(shadow) {
    std::size_t tags = 0;
    for (const Candidate& c : candidates) tags = std::max(tags, c.tags());
    context.reserve_tags(tags);
    std::vector<Wiring> wirings =
        wire(context, candidates, settings, shadow.arguments().binding, Purpose::trial);
    run_collectively(context.comm(), [&] {
      for (std::size_t c = 0; c < candidates.size(); ++c) {
        timings_.push_back({{}, candidates[c], wirings[c].refusal});
        exchanges_.emplace_back();
        if (!timings_[c].refusal.empty()) continue;
        exchanges_[c] = build(context, candidates[c], settings, shadow.arguments(),
                              context.first_tag(), std::move(wirings[c]));
      }
    });
  }

  void verify() {
    shadow_.fill_send(context_.rank());
    const auto first_plan = std::ranges::find_if(
        timings_, [](const Timing& t) { return t.candidate.planned && t.refusal.empty(); });
    if (first_plan == timings_.end()) return;
    const std::vector<std::byte> expected = deliver(first_plan - timings_.begin());
    for (std::size_t c = 0; c < timings_.size(); ++c) {
      if (timings_[c].candidate.planned || !timings_[c].refusal.empty()) continue;
      const bool right = deliver(c) == expected;
      const Ballot here = right;
      timings_[c].wrong = !agree(context_.comm(), std::nullopt, std::span(&here, 1))[0] || !right;
    }
  }

  void run(double budget) {
    std::vector<Exchange*> right;
    for (std::size_t c = 0; c < exchanges_.size(); ++c)
      right.push_back(timings_[c].wrong ? nullptr : exchanges_[c].get());
    const std::vector<Standing> standings = time_in_turns(context_.comm(), right, budget);
    for (std::size_t c = 0; c < standings.size(); ++c)
      static_cast<Standing&>(timings_[c]) = standings[c];
  }

  bool usable(std::size_t c) const { return timings_[c].usable(); }

  std::vector<Timing> result() {
    const auto place = [](const Timing& t) {
      return std::tuple(!t.usable(), !t.finished, t.seconds);
    };
    std::ranges::stable_sort(timings_, {}, place);
    return std::move(timings_);
  }

 private:
  std::vector<std::byte> deliver(std::size_t c) {
    shadow_.poison_recv();
    stay_together(context_.comm());
    run_or_give_up(*exchanges_[c]);
    return shadow_.received(*exchanges_[c]);
  }

  Context& context_;
  Shadow& shadow_;
  std::vector<std::unique_ptr<Exchange>> exchanges_;
  std::vector<Timing> timings_;
};

}  // namespace

std::optional<Shadow> Shadow::make(const Arguments& arguments) {
  std::optional<Shadow> shadow =
      make(arguments, arguments.form == Form::regular ? Keep::buffer : Keep::blocks);
  // a block may have parts in several allocations (a group's)
  if (!shadow && arguments.form == Form::w) shadow = make(arguments, Keep::runs);
  return shadow;
}

std::optional<Shadow> Shadow::make(const Arguments& arguments, Keep keep) {
  const Binding& binding = arguments.binding;
  const Regions send(binding.send, keep), recv(binding.recv, keep);
  if (send.bytes() > most_shadow || recv.bytes() > most_shadow) return std::nullopt;
  Shadow shadow;
  shadow.send_ = zeroed_memory(send.bytes());
  shadow.recv_ = zeroed_memory(recv.bytes());
  Arguments& moved = shadow.arguments_;
  moved = arguments;
  moved.sendbuf = send.buffer(arguments.sendbuf, shadow.send_);
  moved.recvbuf = recv.buffer(arguments.recvbuf, shadow.recv_);
  send.shift(binding.send, moved.send, moved.sendbuf, shadow.send_, shadow.types_);
  recv.shift(binding.recv, moved.recv, moved.recvbuf, shadow.recv_, shadow.types_);
  moved.bind();
  return shadow;
}

void Shadow::poison_recv() { std::fill_n(recv_.data(), recv_.bytes(), std::byte{0xA5}); }

std::vector<std::byte> Shadow::received(const Exchange& exchange) const {
  std::vector<std::byte> bytes;
  std::vector<Move> moves;
  std::size_t size = 0;
  for (const Block& b : arguments_.binding.recv) size += b.bytes;
  bytes.resize(size);
  std::byte* at = bytes.data();
  for (std::size_t k = 0; k < arguments_.binding.recv.size(); ++k) {
    const Block& b = arguments_.binding.recv[k];
    const std::byte* const view = exchange.view(k);
    Layout whole;
    whole.add(0, b.bytes);
    make_moves(moves, at, whole, view ? view : b.address, b.layout ? *b.layout : whole);
    at += b.bytes;
  }
  run_moves(moves);
  return bytes;
}

bool proves_right(Context& context, const Candidate& native, const Candidate& planned,
                  const Problem& problem, const Settings& settings, const Arguments& arguments) {
  std::optional<Shadow> shadow = Shadow::make(arguments);
  const Ballot here = shadow.has_value();
  if (!agree(context.comm(), std::nullopt, std::span(&here, 1))[0] || !shadow) return false;
  std::vector<Candidate> both{planned, native};
  exchange_forwarded_sizes(context, both, problem, settings, arguments.binding);
  Trial trial(context, both, settings, *shadow);
  trial.verify();
  return trial.usable(1);
}

std::vector<Timing> time_candidates(Context& context, const std::vector<Candidate>& candidates,
                                    const Settings& settings, Shadow& shadow, double budget) {
  Trial trial(context, candidates, settings, shadow);
  trial.verify();
  trial.run(budget);
  return trial.result();
}

}  // namespace tonari
