// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/agree_on_call.hpp"

#include <algorithm>

#include "neighborhood/overlaps.hpp"
#include "request/settings.hpp"

namespace tonari {
namespace {

// Checks everything that this rank can check by itself.
void read(const Call& call, Use use, Output output, LocalArguments& mine) {
  tonari_neighborhood_s& near = *call.near;
  mine.settings = read_settings(call.info, where::any_request, near.context->settings());
  mine.is_part = !output.name;
  // nobody could ask where the blocks are
  if (use == Use::one_shot || !output.name) mine.settings.recv_view = false;
  if (mine.reads == ReadsBlocks::where_they_arrive) mine.settings.recv_view = true;
  // a thread drives the outer request that contains this one
  if (use != Use::one_shot && !output.name) mine.settings.progress_thread = false;
  if (const BoundCall* const bound = near.bound[call.operation()].get())
    if (const auto broken = bound->difference(call, near.context->topology())) throw *broken;
  read_blocks(*near.context, call, mine);
  if (use == Use::one_shot && !near.cache) near.cache = std::make_unique<RequestCache>();
  if (use == Use::one_shot)
    mine.matches = idle_matches(*near.cache, call.collective, fingerprint(mine.settings),
                                mine.arguments.binding);
  // the library has checked those already
  if (std::ranges::find(mine.matches, true) == mine.matches.end())
    check_overlaps(near.context->topology(), call.collective, mine.arguments.binding);
  // other rooms would move the blocks
  if (use != Use::one_shot && !output.name && !call.may_stage) require_on_host(mine.on_gpu);
  if (!mine.on_gpu.any()) return;
  mine.staging = find_devices(mine, near.context->topology(), mine.settings);
  mine.arguments.form = Form::w;
  if (use == Use::one_shot) pin(*mine.staging, mine, near.context->topology());
}

// Of what the host exchanges: blocks that are staged are packed.
bool non_contiguous(const LocalArguments& mine) {
  const auto has_layout = [](const Block& block) { return block.layout != nullptr; };
  const Binding& binding = mine.arguments.binding;
  return (mine.on_gpu.send.empty() && std::ranges::any_of(binding.send, has_layout)) ||
         (mine.on_gpu.recv.empty() && std::ranges::any_of(binding.recv, has_layout));
}

// The places of what ranks compare of a call. Votes on the cache follow.
struct At {
  enum : std::size_t {
    collective,
    one_size,
    by_number,
    settings,
    use,
    layouts,
    on_devices,
    form,
    form_read,
    count
  };
};

std::array<Alike, At::count> compared_of(const Call& call, Use use, const LocalArguments& mine) {
  std::array<Alike, At::count> all;
  all[At::collective] = {static_cast<std::uint64_t>(call.collective), other_collective};
  all[At::one_size] = {mine.sizes.one_size}, all[At::by_number] = {mine.sizes.by_number};
  all[At::settings] = {fingerprint(mine.settings), other_settings};
  all[At::use] = {static_cast<std::uint64_t>(use),
                  "some ranks make a persistent request where others make a one-shot call"};
  all[At::layouts] = {non_contiguous(mine)};
  all[At::on_devices] = {mine.on_gpu.any()};
  all[At::form] = {static_cast<std::uint64_t>(call.form()),
                   mine.settings.static_buffers
                       ? "ranks call different forms (regular, v, w) of the operation; with "
                         "cdag_static_buffers it must be one form on all ranks"
                       : nullptr};
  all[At::form_read] = {static_cast<std::uint64_t>(mine.arguments.form)};
  return all;
}

}  // namespace

Agreed agree_on_call(const Call& call, Use use, Output output, LocalArguments& mine,
                     const std::function<void()>& make) {
  const std::optional<Error> wrong =
      wrong_argument(output, [&] { read(call, use, output, mine), make(); });
  const Compared compared =
      agree_on_arguments(call.near->context->comm(), call.info, wrong,
                         with_votes(compared_of(call, use, mine), mine.matches));
  const auto& same = compared.same;
  const auto& said = compared.said;
  // it can express the others: MPI's own collective must be the same on all ranks
  if (!same[At::form_read]) mine.arguments.form = Form::w;
  RequestCache* const cache = call.near->cache.get();
  return {cache ? cache->take(compared) : nullptr,
          {same[At::one_size], same[At::by_number], said[At::one_size]},
          same[At::layouts] && !non_contiguous(mine),
          said[At::on_devices] != 0};
}

}  // namespace tonari
