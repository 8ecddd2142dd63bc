// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/bound_call.hpp"

#include "engine/wait/agree.hpp"
#include "neighborhood/read_call.hpp"
#include "neighborhood/request_cache.hpp"

namespace tonari {
BoundCall::BoundCall(const Call& call, const LocalTopology& topology, Binding binding,
                     std::shared_ptr<Prepared> prepared)
    : sendbuf_(call.send.buffer),
      recvbuf_(call.recv.buffer),
      send_(call.send, call.blocks_sent(topology)),
      recv_(call.recv, call.blocks_received(topology)),
      binding_(std::move(binding)),
      prepared_(std::move(prepared)) {}

bool BoundCall::same_names(const Call& call) const {
  return call.send.buffer == sendbuf_ && call.recv.buffer == recvbuf_ && send_.same(call.send) &&
         recv_.same(call.recv);
}

std::optional<Error> BoundCall::difference(const Call& call, const LocalTopology& topology) const {
  if (same_names(call)) return std::nullopt;
  return error_of([&] {
    const Vertex& vertex = topology.vertex;
    Arguments arguments = call.read(topology);
    arguments.bind();
    leave_out_missing(vertex, arguments);
    if (same_blocks(arguments.binding, binding_)) return;
    fail(Errc::promise, "rank ", vertex.rank, " gives ", call.name(),
         " other buffers, counts or types than its first call on this neighborhood did; ",
         "cdag_static_buffers promises the same for all, and those of the first call were used");
  });
}

}  // namespace tonari
