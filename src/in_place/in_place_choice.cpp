// SPDX-License-Identifier: BSD-3-Clause
#include "in_place/in_place_choice.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/hash.hpp"
#include "engine/tune/wisdom.hpp"
#include "engine/wait/agree.hpp"
#include "engine/wait/wrapped_exchange.hpp"
#include "memory/stand_in.hpp"

namespace tonari {
namespace {

// Two exchanges, after which every block is where it was.
class ThereAndBack final : public WrappedExchange {
 public:
  using WrappedExchange::WrappedExchange;
  void wait() override {
    inner().wait();
    inner().start();
    inner().wait();
  }
};

// The blocks once more, at the same distances from each other.
class Copies {
 public:
  Copies(const SwapProblem& problem, const AddressSpan& span)
      : memory_(memory_for(span)), blocks_(problem.blocks), typed_(problem.typed) {
    for (SwapBlock& block : blocks_)
      block.address = static_cast<std::byte*>(stand_in(block.address, span, memory_));
    typed_.buffer = stand_in(typed_.buffer, span, memory_);
  }
  const std::vector<SwapBlock>& blocks() const { return blocks_; }
  const TypedBlocks& typed() const { return typed_; }

  // Collective: what an exchange makes of them.
  std::uint64_t after(Context& context, Exchange& exchange) const {
    fill_as_rank(memory_, context.rank());
    stay_together(context.comm());
    run_collectively(context.comm(), [&] { exchange.start(); });
    exchange.wait();
    const auto* const bytes = reinterpret_cast<const char*>(memory_.data());
    return Hash().bytes({bytes, memory_.bytes()}).value();
  }

 private:
  Memory memory_;
  std::vector<SwapBlock> blocks_;
  TypedBlocks typed_;
};

// What swaps between ranks of a node go through. Between nodes they are messages.
enum class Through : std::uint8_t { single_copies, cells, messages };

struct SwapCandidate {
  SwapOrder order = SwapOrder::hierarchical_sets;
  Through through = Through::cells;
  bool native = false;
  std::unique_ptr<Exchange> exchange = nullptr, timed = nullptr;
};

std::string label(const SwapCandidate& c) {
  static constexpr const char* names[] = {"/shared/single copy", "/shared", "/p2p-packed"};
  return c.native ? "native" : text(name(c.order), names[static_cast<std::size_t>(c.through)]);
}

constexpr const char* too_large =
    "nothing was measured: copies of the buffer do not fit into tonari_inplace_memory on all "
    "ranks; tonari_tune=measure measures on the buffer itself\n";

class SwapChoice {
 public:
  SwapChoice(Context& context, SwapProblem problem, const SwapSettings& settings)
      : context_(context), problem_(std::move(problem)), settings_(settings) {
    agree_on_limits();
    list();
  }

  ChosenSwaps run() {
    Decision decision = decided();
    SwapCandidate& winner = candidates_[decision.winner];
    winner.timed.reset();
    if (copies_ || !winner.exchange)
      winner.exchange = make(winner, problem_.blocks, problem_.typed);
    if (winner.native) return {std::move(winner.exchange), "native", "native", std::move(decision)};
    const Swapper& swapper = swapper_for(winner.through);
    const std::string& refusal = first()->refusal();
    decision.details +=
        text(refusal.empty() ? "" : "channel shared is not used: " + refusal + "\n",
             swapper.copies_once() ? "long blocks are read and written where they lie\n" : "",
             "chunks of at most ", swapper.chunk(), " bytes where they go by MPI\n");
    return {std::move(winner.exchange), name(winner.order), swapper.channel(), std::move(decision)};
  }

 private:
  // One reduction for all that ranks have to know of each other.
  void agree_on_limits() {
    static constexpr Bytes limit = std::numeric_limits<std::int64_t>::max();
    const auto word = [](Bytes bytes) { return static_cast<std::int64_t>(std::min(bytes, limit)); };
    Bytes largest = 0, all = 0;
    bool contiguous = true;
    for (const SwapBlock& block : problem_.blocks) {
      if (block.bytes == 0) continue;
      span_.add(block.span());
      contiguous &= block.contiguous();
      if (block.peer == context_.rank()) continue;
      largest = std::max(largest, block.bytes), all += block.bytes;
    }
    const bool fits = span_.size() <= std::min<Bytes>(settings_.memory, most_shadow);
    std::int64_t words[] = {word(settings_.memory), -word(largest), -word(all), contiguous, fits,
                            problem_.typed.regular};
    least_of_all(context_.comm(), words);
    settings_.least_memory = static_cast<Bytes>(words[0]);
    settings_.largest_block = static_cast<Bytes>(-words[1]);
    most_moved_ = static_cast<Bytes>(-words[2]);
    contiguous_ = settings_.single_copy = words[3], copies_fit_ = words[4],
    problem_.typed.regular = words[5];
  }

  // The fixed rule's first. Two ranks have one swap, whatever the order. Single copies take turns
  // on the processor only, so one order stands for all.
  void list() {
    std::vector<SwapOrder> orders{problem_.order.value_or(SwapOrder::hierarchical_sets)};
    const Swapper& best = swapper_for(Through::single_copies);
    if (best.copies_once()) candidates_.push_back({orders[0], Through::single_copies});
    if (!problem_.order && context_.ranks() > 2)
      orders.insert(orders.end(), {SwapOrder::linear_shift, SwapOrder::mpich});
    const auto add = [&](Through through) {
      for (const SwapOrder order : orders) candidates_.push_back({order, through});
    };
    if (best.through_memory()) add(Through::cells);
    if (!best.through_memory() || problem_.any_channel) add(Through::messages);
    if (!problem_.order && problem_.any_channel && copies_fit_ && measures(problem_.tune) &&
        context_.ranks() > 1)
      candidates_.push_back({.native = true});
  }

  Decision decided() {
    const Tune tune =
        problem_.tune == Tune::automatic && !copies_fit_ ? Tune::recall : problem_.tune;
    // Nothing has to be agreed on, which one-shot calls would feel.
    if (candidates_.size() == 1 || !(measures(tune) || tune == Tune::recall)) return by_fixed_rule;
    Alternatives swaps;
    for (const SwapCandidate& c : candidates_) swaps.names.push_back(label(c));
    swaps.prepare = [&] {
      if (copies_fit_) copies_.emplace(problem_, span_);
    };
    swaps.make = [&](std::size_t k) { make_to_be_timed(candidates_[k]); };
    swaps.timed = [&](std::size_t k) -> Exchange& { return *candidates_[k].timed; };
    swaps.question = question();
    swaps.part = 1, swaps.exchanges = 2;
    if (candidates_.back().native) swaps.native = candidates_.size() - 1;
    Decision decision = decide(context_, tune, swaps);
    if (tune == Tune::recall && decision.reason != "wisdom") decision.details += too_large;
    return decision;
  }

  // What the fastest depends on.
  std::string question() {
    Hash nodes;
    for (const std::int32_t node : context_.shared().node_of())
      nodes.word(static_cast<std::uint64_t>(node));
    const auto size = [](Bytes bytes) { return size_class(static_cast<double>(bytes)); };
    return text("in place|", std::hex, nodes.value(), std::dec, "|", size(most_moved_), "|",
                size(settings_.largest_block), "|", size(settings_.least_memory), "|",
                contiguous_ ? "contiguous" : "non-contiguous", "|",
                problem_.typed.regular ? "even" : "uneven", "|",
                problem_.order ? name(*problem_.order) : "auto", "|",
                problem_.any_channel ? "auto"
                : settings_.shared   ? "shared"
                                     : "p2p-packed");
  }

  void make_to_be_timed(SwapCandidate& c) {
    c.exchange = copies_ ? make(c, copies_->blocks(), copies_->typed())
                         : make(c, problem_.blocks, problem_.typed);
    if (c.native && copies_) prove(*c.exchange);
    c.timed = std::make_unique<ThereAndBack>(
        std::shared_ptr<Exchange>(std::shared_ptr<void>(), c.exchange.get()));
  }

  // Collective. Local if what it shares with others is there already.
  std::unique_ptr<Exchange> make(const SwapCandidate& c, const std::vector<SwapBlock>& blocks,
                                 const TypedBlocks& typed) {
    if (!c.native) return swapper_for(c.through).make(c.order, blocks);
    if (!native_comm_) native_comm_ = comm_of_its_own();
    return std::make_unique<NativeSwaps>(native_comm_, typed, context_.rank(), context_.node(),
                                         settings_.timeout);
  }

  // Collective at the first time. The best that there is serves for what is as good.
  const Swapper& swapper_for(Through through) {
    std::optional<Swapper>& swapper = swappers_[static_cast<std::size_t>(through)];
    if (swapper) return *swapper;
    const Swapper* const best = first();
    if (best && through == Through::cells && !best->copies_once()) return *best;
    if (best && !best->through_memory()) return *best;
    SwapSettings with = settings_;
    with.single_copy = settings_.single_copy && through == Through::single_copies;
    with.shared = settings_.shared && through != Through::messages;
    return swapper.emplace(context_, problem_.blocks, with);
  }
  const Swapper* first() const { return swappers_[0] ? &*swappers_[0] : nullptr; }

  // Where the MPI has none left, its collective is no candidate.
  std::shared_ptr<const OwnedComm> comm_of_its_own() {
    auto comm = std::make_shared<OwnedComm>();
    run_collectively(context_.comm(), check_duplicates);
    not_applicable_if_refused([&] { duplicate(context_.comm(), *comm); });
    return comm;
  }

  // Collective: throws Errc::algorithm if MPI's own collective delivers anything but what the first
  // candidate does.
  void prove(Exchange& native) {
    if (!candidates_.front().exchange)
      fail(Errc::memory, "there was none for an exchange to compare its blocks with");
    const std::uint64_t right = copies_->after(context_, *candidates_.front().exchange);
    std::uint64_t found = 0;
    not_applicable_if_refused([&] { found = copies_->after(context_, native); });
    if (found != right) fail(Errc::algorithm, "it delivers wrong blocks on this MPI");
  }

  template <class Work>
  static void not_applicable_if_refused(const Work& work) {
    const std::optional<Error> error = error_of(work);
    if (error && error->code() == Errc::mpi) fail(Errc::algorithm, error->what());
    if (error) throw *error;
  }

  Context& context_;
  SwapProblem problem_;
  SwapSettings settings_;
  AddressSpan span_;
  Bytes most_moved_ = 0;  // by any rank
  bool contiguous_ = true, copies_fit_ = false;
  std::optional<Copies> copies_;
  std::array<std::optional<Swapper>, 3> swappers_;  // by Through
  std::shared_ptr<const OwnedComm> native_comm_;
  std::vector<SwapCandidate> candidates_;
};

}  // namespace

ChosenSwaps choose_swaps(Context& context, SwapProblem problem, const SwapSettings& settings) {
  return SwapChoice(context, std::move(problem), settings).run();
}

}  // namespace tonari
