// SPDX-License-Identifier: BSD-3-Clause
#include "in_place/make_request.hpp"

#include "engine/wait/agree.hpp"

namespace tonari {
namespace {

void describe(const AgreedInPlace& agreed, double start, const Decision& decision,
              Prepared& prepared) {
  const Settings& settings = agreed.settings;
  if (settings.progress_thread) prepared.drive_by_thread();
  prepared.recording.operation = "in-place all-to-all";
  prepared.chosen.follow(decision);
  if (settings.inplace_algorithm != "auto" && decision.reason == "fixed rule")
    prepared.chosen.reason = "forced";
  prepared.describe(start, text("in-place all-to-all between ", agreed.context->ranks(), " ranks"),
                    prepared.chosen.algorithm + " " + prepared.chosen.channel,
                    text("may hold ", settings.inplace_memory, " bytes\n", decision.details));
}

std::vector<Bytes> sizes_of(const std::vector<SwapBlock>& blocks) {
  std::vector<Bytes> sizes;
  for (const SwapBlock& block : blocks) sizes.push_back(block.bytes);
  return sizes;
}

std::vector<Bytes> in_bytes(const std::vector<std::uint64_t>& counts, Bytes element) {
  std::vector<Bytes> bytes;
  for (std::uint64_t count : counts)
    bytes.push_back(checked_multiply<Bytes>(count, element, "size of a block"));
  return bytes;
}

}  // namespace

std::shared_ptr<Prepared> build_symmetric(const InPlaceCall& call, Use use, double start,
                                          AgreedInPlace& agreed) {
  Context& context = *agreed.context;
  const Settings& settings = agreed.settings;
  SwapCall key;
  std::shared_ptr<Prepared> prepared;
  run_collectively(context.comm(), [&] {
    // another rank does not know the call
    if (!agreed.symmetric) agreed.symmetric = read_symmetric(call, use, context);
    SwapProblem& problem = *agreed.symmetric;
    const std::vector<Bytes> sizes = sizes_of(problem.blocks);
    compare_pairs(context, sizes, sizes);
    if (agreed.calls) agreed.calls->kept.clear();  // its memory goes first
    context.reserve_tags(1);
    problem.order = swap_order_named(settings.inplace_algorithm);
    problem.any_channel = settings.channel == "auto";
    if (use != Use::one_shot) problem.tune = settings.tune;
    ChosenSwaps chosen = choose_swaps(context, std::move(problem),
                                      {.shared = settings.channel != "p2p-packed",
                                       .memory = settings.inplace_memory,
                                       .timeout = settings.timeout});
    prepared = std::make_shared<Prepared>(agreed.context);
    prepared->exchange = std::move(chosen.exchange);
    prepared->chosen.algorithm = chosen.algorithm;
    prepared->chosen.channel = chosen.channel;
    describe(agreed, start, chosen.decision, *prepared);
    if (agreed.calls)
      key = {KnownSide(call.blocks, static_cast<std::size_t>(context.ranks())), call.blocks.buffer,
             settings, call.info == MPI_INFO_NULL};
  });
  context.take_tags(1);
  if (agreed.calls && !settings.progress_thread) agreed.calls->kept.put(std::move(key), prepared);
  return prepared;
}

std::shared_ptr<Prepared> build_general(double start, AgreedInPlace& agreed) {
  Context& context = *agreed.context;
  std::shared_ptr<Prepared> prepared;
  run_collectively(context.comm(), [&] {
    GeneralProblem& problem = *agreed.general;
    const Bytes element = problem.element->bytes();
    compare_pairs(context, in_bytes(problem.send_counts, element),
                  in_bytes(problem.recv_counts, element));
    context.reserve_tags(GeneralExchange::tags);
    prepared = std::make_shared<Prepared>(agreed.context);
    const WaitPolicy wait{context.node()->crowded(), agreed.settings.timeout};
    prepared->exchange =
        std::make_unique<GeneralExchange>(context.shared_comm(), context.first_tag(), problem,
                                          agreed.settings.inplace_memory, wait, context.node());
    prepared->chosen.algorithm = "general";
    prepared->chosen.channel = "p2p-packed";
    describe(agreed, start, by_fixed_rule, *prepared);
  });
  context.take_tags(GeneralExchange::tags);
  return prepared;
}

}  // namespace tonari
