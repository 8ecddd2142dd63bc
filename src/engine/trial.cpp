#include "engine/trial.hpp"

#include <algorithm>
#include <tuple>

#include "engine/agree.hpp"

namespace tonari {
namespace {

// What one side of a call touches, in memory of our own: allocations that lie far from each other
// are next to each other here, so that what lies between them takes no memory.
class Regions {
 public:
  // together: the blocks must keep all their distances, as those of the regular forms.
  Regions(const std::vector<Block>& blocks, bool together) {
    for (const Block& b : blocks)
      if (b.bytes > 0) spans_.push_back(span_of(b));
    std::ranges::sort(spans_, {}, &AddressSpan::low);
    std::size_t last = 0;  // that others were joined to
    for (std::size_t k = 1; k < spans_.size(); ++k) {
      if (together || spans_[k].low <= spans_[last].high + far)
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
  // What is added to the displacements of blocks of other regions.
  void shift(const std::vector<Block>& blocks, std::vector<TypedBlock>& typed) const {
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      if (blocks[k].bytes == 0) continue;
      const auto after =
          std::ranges::upper_bound(spans_, span_of(blocks[k]).low, {}, &AddressSpan::low);
      const auto region = static_cast<std::size_t>(after - spans_.begin()) - 1;
      typed[k].displacement += static_cast<MPI_Aint>(places_[region] - spans_[region].low -
                                                     (places_[0] - spans_[0].low));
    }
  }

 private:
  static constexpr std::size_t far = 64 * 1024;  // bytes between two regions

  std::uintptr_t moved_by(std::size_t region, const Memory& memory) const {
    return reinterpret_cast<std::uintptr_t>(memory.data()) + places_[region] - spans_[region].low;
  }

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
    std::vector<Wiring> wirings;
    for (const Candidate& candidate : candidates)
      wirings.push_back(wire(context, candidate, settings, shadow.binding(), Purpose::trial));
    run_collectively(context.comm(), [&] {
      for (std::size_t c = 0; c < candidates.size(); ++c) {
        timings_.push_back({{}, candidates[c], wirings[c].refusal});
        exchanges_.emplace_back();
        if (!timings_[c].refusal.empty()) continue;
        exchanges_[c] = build(context, candidates[c], settings, shadow.arguments(),
                              shadow.binding(), context.first_tag(), std::move(wirings[c]));
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
    exchanges_[c]->start();
    exchanges_[c]->wait();
    return shadow_.received(*exchanges_[c]);
  }

  Context& context_;
  Shadow& shadow_;
  std::vector<std::unique_ptr<Exchange>> exchanges_;
  std::vector<Timing> timings_;
};

}  // namespace

std::optional<Shadow> Shadow::make(const Arguments& arguments, const Binding& binding) {
  const bool together = arguments.form == Form::regular;
  const Regions send(binding.send, together), recv(binding.recv, together);
  if (send.bytes() > most_shadow || recv.bytes() > most_shadow) return std::nullopt;
  Shadow shadow;
  shadow.send_ = zeroed_memory(send.bytes());
  shadow.recv_ = zeroed_memory(recv.bytes());
  shadow.arguments_ = rebased(arguments, send.buffer(arguments.sendbuf, shadow.send_),
                              recv.buffer(arguments.recvbuf, shadow.recv_));
  send.shift(binding.send, shadow.arguments_.send);
  recv.shift(binding.recv, shadow.arguments_.recv);
  shadow.binding_ = bind(shadow.arguments_);
  shadow.binding_.uniform = binding.uniform;
  return shadow;
}

void Shadow::poison_recv() { std::fill_n(recv_.data(), recv_.bytes(), std::byte{0xA5}); }

std::vector<std::byte> Shadow::received(const Exchange& exchange) const {
  std::vector<std::byte> bytes;
  std::vector<Move> moves;
  std::size_t size = 0;
  for (const Block& b : binding_.recv) size += b.bytes;
  bytes.resize(size);
  std::byte* at = bytes.data();
  for (std::size_t k = 0; k < binding_.recv.size(); ++k) {
    const Block& b = binding_.recv[k];
    const std::byte* const view = exchange.view(k);
    Layout whole;
    whole.add(0, b.bytes);
    make_moves(moves, at, whole, view ? view : b.address, b.layout ? *b.layout : whole);
    at += b.bytes;
  }
  run_moves(moves);
  return bytes;
}

std::vector<Timing> time_candidates(Context& context, const std::vector<Candidate>& candidates,
                                    const Settings& settings, Shadow& shadow, double budget) {
  Trial trial(context, candidates, settings, shadow);
  trial.verify();
  trial.run(budget);
  return trial.result();
}

}  // namespace tonari
