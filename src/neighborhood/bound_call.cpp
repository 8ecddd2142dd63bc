// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/bound_call.hpp"

#include <algorithm>

#include "engine/wait/agree.hpp"
#include "neighborhood/request_cache.hpp"

namespace tonari {
BoundCall::Side::Side(const BufferArguments& given, std::size_t blocks) : given_(given) {
  if (given.form == Form::regular || given.form == Form::v)
    types_.push_back(named_type(given.type));
  if (given.form == Form::regular || blocks == 0) return;
  counts_ = KeptNumbers(given.counts, blocks);
  displacements_.assign(given.displacements, given.displacements + blocks);
  if (given.form == Form::w)
    std::transform(given.types, given.types + blocks, std::back_inserter(types_), named_type);
}

bool BoundCall::Side::same(const BufferArguments& given) const {
  if (given.buffer != given_.buffer || given.count != given_.count) return false;
  if (!displacements_.empty() && !given.displacements) return false;
  if (!counts_.same(given.counts) ||
      !std::equal(displacements_.begin(), displacements_.end(), given.displacements))
    return false;
  if (given.form != Form::w) return types_.front().is(given.type);
  for (std::size_t i = 0; i < types_.size(); ++i)
    if (!given.types || !types_[i].is(given.types[i])) return false;
  return true;
}

BoundCall::BoundCall(const Call& call, const LocalTopology& topology, Binding binding,
                     std::shared_ptr<Prepared> prepared)
    : send_(call.send, call.blocks_sent(topology)),
      recv_(call.recv, call.blocks_received(topology)),
      binding_(std::move(binding)),
      prepared_(std::move(prepared)) {}

std::optional<Error> BoundCall::difference(const Call& call, const LocalTopology& topology) const {
  if (same_names(call)) return std::nullopt;
  return error_of([&] {
    Arguments arguments = call.read(topology);
    Binding binding = bind(arguments);
    leave_out_missing(topology.vertex, arguments, binding);
    if (same_blocks(binding, binding_)) return;
    fail(Errc::promise, "rank ", topology.vertex.rank, " gives ", call.name(),
         " other buffers, counts or types than its first call on this neighborhood did; ",
         "cdag_static_buffers promises the same for all, and those of the first call were used");
  });
}

}  // namespace tonari
