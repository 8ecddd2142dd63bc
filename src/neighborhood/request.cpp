// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/request.hpp"

#include "engine/wait/agree.hpp"
#include "neighborhood/make_request.hpp"
#include "one_shot/connect_streams.hpp"
#include "request/settings.hpp"

namespace tonari {
namespace {

// Starts may replace them.
void free_buffers(Prepared& prepared, Collective collective, LocalArguments& mine) {
  const char* const fixed =
      mine.settings.static_buffers
          ? "the neighborhood was promised that they stay (cdag_static_buffers)"
      : mine.settings.recv_view ? "its receive blocks stay where they arrive (tonari_recv_view)"
                                : nullptr;
  if (fixed) prepared.buffers = StartBuffers(fixed);
  if (fixed) return;
  StartBuffer send{send_space, "sendbuf", mine.arguments.sendbuf},
      recv{recv_space, "recvbuf", mine.arguments.recvbuf};
  for (const Block& block : mine.arguments.binding.send) send.touch(block);
  for (const Block& block : mine.arguments.binding.recv) recv.touch(block);
  std::vector buffers{std::move(send), std::move(recv)};
  prepared.buffers =
      StartBuffers("start_with", std::move(buffers),
                   [context = prepared.context, collective,
                    binding = std::move(mine.arguments.binding)](Shifts shifts) {
                     check_overlaps(context->topology(), collective, moved(binding, shifts));
                   });
}

// All calls of the operation use it again if they were promised to be this one; otherwise calls
// with the same arguments do. All ranks keep it or none, because it decides who asks the others.
void keep(const Call& call, Use use, LocalArguments& mine, Made& made) {
  tonari_neighborhood_s& near = *call.near;
  near.context->take_tags(made.tags);
  if (made.bound)
    near.bound[call.operation()] = std::move(made.bound);
  else if (use == Use::one_shot && !mine.settings.static_buffers)
    near.cache.put({call.collective, fingerprint(mine.settings), std::move(mine.arguments.binding)},
                   made.prepared);
}

// Requests that nobody describes, that a thread drives, or that other calls share are chosen at
// init.
bool tunes_at_init(const Settings& settings, Use use, const Output& output) {
  if (use == Use::one_shot) return false;  // nor at any other time
  return settings.progress_thread || settings.static_buffers || (use != Use::part && !output.name);
}

}  // namespace

bool wants_streams(const Settings& inherited) {
  if (inherited.static_buffers) return false;
  // A word that makes no sense is reported by the calls that obey it.
  const auto is = [](const Setting& row, const std::string& word, const char* wanted) {
    return in_environment(row).value_or(word) == wanted;
  };
  return is(setting("TONARI_ALGORITHM"), inherited.algorithm, "auto") &&
         is(setting("TONARI_CHANNEL"), inherited.channel, "auto") &&
         is(setting("TONARI_PROGRESS"), inherited.progress_thread ? "thread" : "calls", "calls");
}

void connect_one_shots(const Call& call, Output output) {
  LocalArguments mine;
  (void)agree_on_call(call, Use::one_shot, output, mine);
  const std::shared_ptr<Context>& shared = call.near->context;
  Context& context = *shared;
  std::unique_ptr<OneShots> made;
  run_collectively(context.comm(), [&] {
    std::shared_ptr<Streams> streams = connect_streams(context);
    const WaitPolicy wait{context.node()->crowded(), mine.settings.timeout};
    HopTable hops(context, streams, mine.settings.tune, wait);
    made = std::make_unique<OneShots>(shared, std::move(streams), std::move(hops), wait);
    made->expect(call, output.name != nullptr);
  });
  context.take_tags(stream_tags);
  call.near->one_shots = std::move(made);
}

std::shared_ptr<Prepared> prepare(const Call& call, Use use, Output output, ReadsBlocks reads,
                                  std::size_t contenders) {
  const double start = MPI_Wtime();
  LocalArguments mine;
  mine.reads = reads;
  const Agreed agreed = agree_on_call(call, use, output, mine);
  if (agreed.cached) return agreed.cached;
  mine.settings.contenders = contenders;
  if (tunes_at_init(mine.settings, use, output)) mine.settings.tune = at_init(mine.settings.tune);
  Made made;
  Context& context = *call.near->context;
  run_collectively(context.comm(), [&] {
    const Problem problem = problem_of(context, call.collective, agreed, mine);
    mine.arguments.binding.uniform = problem.sizes.bytes;
    const Choice choice = use == Use::one_shot
                              ? call.near->choices.of(context, problem, mine.settings)
                              : choose(context, problem, mine.settings, mine.arguments);
    made = make_request(call, start, choice, problem, mine);
    if (use == Use::persistent && output.name) free_buffers(*made.prepared, call.collective, mine);
  });
  keep(call, use, mine, made);
  return std::move(made.prepared);
}

tonari_request request_of(std::shared_ptr<Prepared> prepared) {
  std::unique_ptr<tonari_request_s> handle = std::move(prepared->spare);
  handle->prepared = std::move(prepared);
  return handle.release();
}

}  // namespace tonari
