// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/request.hpp"

#include "engine/wait/agree.hpp"
#include "neighborhood/on_devices.hpp"
#include "neighborhood/overlaps.hpp"
#include "neighborhood/problem.hpp"
#include "neighborhood/sizes.hpp"
#include "request/settings.hpp"
#include "request/stream_ordered.hpp"

namespace tonari {
namespace {

// Starts may replace them.
void free_buffers(Prepared& prepared, const Call& call, LocalArguments& mine) {
  const char* const fixed =
      mine.settings.static_buffers
          ? "the neighborhood was promised that they stay (cdag_static_buffers)"
      : mine.settings.recv_view ? "its receive blocks stay where they arrive (tonari_recv_view)"
                                : nullptr;
  if (fixed) prepared.buffers = StartBuffers(fixed);
  if (fixed) return;
  // nobody gives absolute addresses again
  const auto on_gpu = [](const std::string& named) { return named.starts_with('`'); };
  StartBuffer send{send_space, "sendbuf", call.send.buffer, {}, on_gpu(mine.on_gpu.send)},
      recv{recv_space, "recvbuf", call.recv.buffer, {}, on_gpu(mine.on_gpu.recv)};
  for (const Block& block : mine.given().send) send.touch(block);
  for (const Block& block : mine.given().recv) recv.touch(block);
  std::vector buffers{std::move(send), std::move(recv)};
  const StreamOrdered* const on_device = prepared.by_stream;
  prepared.buffers = StartBuffers(
      "start_with", std::move(buffers),
      [context = prepared.context, collective = call.collective, on_device,
       binding = std::move(mine.given())](Shifts shifts) {
        if (on_device) on_device->check_reach(shifts);
        check_overlaps(context->topology(), collective, moved(binding, shifts));
      },
      on_device ? StartBuffers::Ask::always : StartBuffers::Ask::if_unclear);
}

// All calls of the operation use it again if they were promised to be this one; otherwise calls
// with the same arguments do. All ranks keep it or none, because it decides who asks the others.
void keep(const Call& call, Use use, LocalArguments& mine, Made& made) {
  tonari_neighborhood_s& near = *call.near;
  near.context->take_tags(made.tags);
  if (made.bound)
    near.bound[call.operation()] = std::move(made.bound);
  else if (use == Use::one_shot && !mine.settings.static_buffers)
    near.cache->put({call.collective, fingerprint(mine.settings), std::move(mine.given())},
                    made.prepared);
}

// Collective, together. Where it cannot be, the host exchanges what is on devices.
bool on_devices(const Call& call, Use use, double start, const Problem& problem,
                const Agreed& agreed, LocalArguments& mine, Made& made) {
  if (!agreed.on_devices || use == Use::one_shot) return false;
  const std::string why = make_on_devices(call, start, problem, mine, made);
  if (why.empty()) return true;
  if (!mine.staging) return false;
  mine.staging->why = why;
  pin(*mine.staging, mine, call.near->context->topology());
  return false;
}

// Requests that nobody describes, that a thread drives, or that other calls share are chosen at
// init.
bool tunes_at_init(const Settings& settings, Use use, const Output& output) {
  if (use == Use::one_shot) return false;  // nor at any other time
  return settings.progress_thread || settings.static_buffers || (use != Use::part && !output.name);
}

}  // namespace

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
    Binding& binding = mine.arguments.binding;
    const Problem problem =
        problem_of(context, call.collective,
                   sizes_of_call(context, call.collective, binding, mine.sizes, agreed.sizes),
                   agreed.contiguous);
    binding.uniform = problem.sizes.bytes;
    if (!on_devices(call, use, start, problem, agreed, mine, made)) {
      const Choice choice = use == Use::one_shot
                                ? call.near->choices.of(context, problem, mine.settings)
                                : choose(context, problem, mine.settings, mine.arguments);
      made = make_request(call, start, choice, problem, mine);
    }
    if (use == Use::persistent && output.name) free_buffers(*made.prepared, call, mine);
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
