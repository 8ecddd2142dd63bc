// SPDX-License-Identifier: BSD-3-Clause
#include "grid/halo_exchanges.hpp"

#include <cstdint>
#include <span>
#include <utility>

#include "engine/run/plan_exchange.hpp"
#include "engine/wait/agree.hpp"
#include "grid/ghost_maps.hpp"
#include "grid/halo_plan.hpp"
#include "grid/mapped_exchange.hpp"
#include "request/staged_exchange.hpp"

namespace tonari {
namespace {

class HaloRun final : public WrappedExchange {
 public:
  HaloRun(std::shared_ptr<Exchange> exchange, HaloUse use)
      : WrappedExchange(std::move(exchange)), use_(std::move(use)) {}
  void give_up() override {
    inner().give_up();
    use_.give_up();
  }

 private:
  HaloUse use_;
};

const char* channel_of(HaloKind kind) {
  switch (kind) {
    case HaloKind::pack:
      return "p2p-packed";
    case HaloKind::zero_byte:
      return "shared";
    default:
      return "p2p-typed";
  }
}

// The exchanges of a kind as they are made; what is theirs besides, they share.
class Builder {
 public:
  Builder(const HaloTask& task, HaloKind kind, std::shared_ptr<const GridMark> mark)
      : task_(task), request_(task.request), mark_(std::move(mark)) {
    request_.kind = kind;
  }

  HaloExchanges messages() {
    HaloMemory memory;
    const std::shared_ptr<Exchange> exchange = build_messages(memory);
    take(memory);
    Prepared& prepared = add(exchange);
    prepared.chosen.channel = channel_of(request_.kind);
    prepared.chosen.rounds = request_.kind == HaloKind::shift ? grid().shape().dims() : 1;
    return std::move(made_);
  }

  HaloExchanges plans(std::size_t contenders) {
    HaloMemory memory;
    const std::shared_ptr<Prepared> planned =
        plan_halo(grid(), request_, task_.use, task_.info, contenders, memory);
    take(memory);
    if (planned->tuning && !grid().some_on_device())  // where blocks are staged around the race
      add_contenders(planned);
    else
      add_planned(planned);
    return std::move(made_);
  }

 private:
  HaloGrid& grid() const { return *task_.grid; }

  void take(HaloMemory& memory) {
    views_ = std::make_shared<Views>(std::move(memory.views));
    contributions_ = std::make_shared<Contributions>(std::move(memory.contributions));
  }

  Prepared& add(std::shared_ptr<Exchange> exchange) {
    Prepared& prepared = *made_.all.emplace_back(std::make_shared<Prepared>(grid().context()));
    if (request_.reverse)
      exchange = std::make_shared<CombiningExchange>(std::move(exchange), contributions_,
                                                     request_.reduction);
    prepared.exchange = std::make_unique<HaloRun>(std::move(exchange), HaloUse{mark_, views_});
    prepared.chosen.algorithm = prepared.recording.label = name(request_.kind);
    return prepared;
  }

  void add_planned(const std::shared_ptr<Prepared>& planned) {
    Prepared& prepared = add({planned, planned->exchange.get()});
    prepared.by_stream = planned->by_stream;
    prepared.host_sends = planned->host_sends;
    prepared.recording.staged = planned->recording.staged;
    prepared.recording.no_faster = planned->recording.no_faster;
    prepared.chosen = planned->chosen;
    const std::string own = describe_own(planned->by_stream);
    made_.details = own + (planned->description().empty() ? "" : told + planned->description());
    say_kind(prepared.chosen, request_.kind);
    made_.by_starts = planned->tuning.has_value();
    if (!made_.by_starts) return;
    prepared.tell_of([planned, own, kind = request_.kind](ChoiceReport& chosen) {
      const std::string& description = planned->describe_now();
      chosen = planned->chosen;
      say_kind(chosen, kind);
      return own + told + description;
    });
  }

  // Those that the plan's starts would choose from. They need it as long as they live.
  void add_contenders(const std::shared_ptr<Prepared>& planned) {
    struct Held {
      std::shared_ptr<Prepared> planned;
      std::unique_ptr<Exchange> exchange;
    };
    const std::vector<Candidate> candidates = std::move(planned->tuning->candidates);
    OnlineExchange::Entrants entrants = planned->tuning->online->release();
    made_.remember = std::move(entrants.remember);
    planned->tuning.reset(), planned->exchange.reset();
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      auto held = std::make_shared<Held>(planned, std::move(entrants.contenders[k].exchange));
      Prepared& prepared = add({held, held->exchange.get()});
      prepared.chosen.name(candidates[k]);
      say_kind(prepared.chosen, request_.kind);
      prepared.recording.label += text(": ", candidates[k].label());
    }
  }

  static constexpr const char* told = "as an exchange between neighbors: ";
  // What becomes of messages of this rank to itself, as a line.
  std::string describe_own(const StreamOrdered* by_stream) const {
    if (const std::size_t spared = grid().spared_on_device())
      return text(spared, spared == 1 ? " message to itself is" : " messages to itself are",
                  " spared: these ghosts are its surface, mapped again on device ",
                  grid().device().number, "\n");
    const auto* const staged = dynamic_cast<const StagedExchange*>(by_stream);
    return staged ? staged->sides().describe_own() : std::string();
  }
  static void say_kind(ChoiceReport& chosen, HaloKind kind) {
    const bool both = !chosen.algorithm.empty() && !chosen.variant.empty();
    chosen.variant = chosen.algorithm + (both ? ", " : "") + chosen.variant;
    chosen.algorithm = name(kind);
  }

  std::shared_ptr<Exchange> build_messages(HaloMemory& memory) {
    Context& context = *grid().context();
    HaloProgram halo;
    const std::optional<Error> error = error_of([&] { halo = compile_halo(grid(), request_); });
    const Ballot tags = static_cast<std::uint64_t>(error ? 0 : halo.tags());
    std::vector<std::uint64_t> most;
    agree(context.comm(), error, std::span(&tags, 1), &most);
    made_.tags = most[0];
    context.reserve_tags(made_.tags);
    memory = {std::move(halo.views), std::move(halo.contributions)};
    const double timeout = task_.settings.timeout;
    std::shared_ptr<Exchange> built =
        std::make_shared<PlanExchange>(halo.plan, std::move(halo.program), context.shared_comm(),
                                       PlanExchange::Options{.first_tag = context.first_tag(),
                                                             .node = context.node(),
                                                             .wait = {.look_after = timeout}});
    if (grid().ghost_maps())
      built = std::make_shared<MappedExchange>(*grid().ghost_maps(), request_.copy,
                                               std::move(built), context.shared_comm(),
                                               WaitPolicy{context.node()->crowded(), timeout});
    return built;
  }

  const HaloTask& task_;
  HaloRequest request_;
  std::shared_ptr<const GridMark> mark_;
  std::shared_ptr<Views> views_;
  std::shared_ptr<Contributions> contributions_;
  HaloExchanges made_;
};

}  // namespace

HaloExchanges build_exchanges(const HaloTask& task, HaloKind kind, std::size_t contenders,
                              const std::shared_ptr<const GridMark>& mark) {
  Builder builder(task, kind, mark);
  return kind == HaloKind::plan || task.grid->some_on_device() ? builder.plans(contenders)
                                                               : builder.messages();
}

}  // namespace tonari
