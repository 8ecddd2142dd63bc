#include "engine/trial.hpp"

#include <algorithm>
#include <tuple>

#include "engine/agree.hpp"

namespace tonari {
namespace {

AddressSpan span_of(const std::vector<Block>& blocks) {
  AddressSpan span;
  for (const Block& b : blocks) {
    if (b.bytes == 0) continue;
    const auto [first, last] = b.layout ? b.layout->span()
                                        : std::pair<std::ptrdiff_t, std::ptrdiff_t>(
                                              0, static_cast<std::ptrdiff_t>(b.bytes));
    const auto address = reinterpret_cast<std::uintptr_t>(b.address);
    span.add({address + first, address + last});
  }
  return span;
}

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
  const AddressSpan send = span_of(binding.send), recv = span_of(binding.recv);
  if (send.size() > most_shadow || recv.size() > most_shadow) return std::nullopt;
  Shadow shadow;
  shadow.send_ = memory_for(send);
  shadow.recv_ = memory_for(recv);
  shadow.arguments_ = rebased(arguments, stand_in(arguments.sendbuf, send, shadow.send_),
                              stand_in(arguments.recvbuf, recv, shadow.recv_));
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
