// SPDX-License-Identifier: BSD-3-Clause
// The six operations as C functions: tonari_alltoall_init, tonari_alltoall, tonari_ialltoall, and
// the same for alltoallv, alltoallw, allgather, allgatherv and allgatherw; with _c at the end their
// counts are of type MPI_Count.
#include "api/grouped_operation.hpp"

using namespace tonari;

namespace {

int init(tonari_neighborhood near, MPI_Info info, tonari_request* request, const Call& call) {
  return init_or_collect(
      request,
      [&](Output output) {
        require(near, "near");
        return prepare(near, call, Use::persistent, info, output);
      },
      [&] {
        require(near, "near"), require_no_keys(info);
        return group_operation(*near, call);
      });
}

// On a neighborhood with static buffers, after the first call of the operation, no rank asks the
// others any more. A rank that breaks the promise must still take part, because the others count on
// it; it reports the error afterwards.
void require_promised(const BoundCall& bound, const tonari_neighborhood_s& near, const Call& call,
                      Output output) {
  Prepared& prepared = bound.prepared();
  std::optional<Error> broken = error_of([] { throw_refusal(); });
  if (!broken) broken = bound.difference(call, near.context->topology());
  if (output.name && !broken) broken = error_of([&] { require(output.address, output.name); });
  if (prepared.running) {
    prepared.wait();
    broken = Error(Errc::active, text("an exchange of ", call.name(),
                                      " was still in flight when the next began; with "
                                      "cdag_static_buffers both write the same "
                                      "buffers, so complete one first (both are complete now)"));
  }
  // the request of the last call is still in use
  if (!broken && !prepared.spare)
    broken = error_of([&] { prepared.spare = std::make_unique<tonari_request_s>(); });
  if (!broken) return;
  prepared.start();
  prepared.wait();
  throw *broken;
}

// Makes the request ready to be started.
std::shared_ptr<Prepared> ready(tonari_neighborhood near, const Call& call, Output output) {
  require(near, "near");
  const BoundCall& bound = near->bound[call.operation()];
  if (!bound) return prepare(near, call, Use::once, MPI_INFO_NULL, output);
  require_promised(bound, *near, call, output);
  return bound.shared();
}

// Whether a one-shot call goes by streams; the first of them connects these.
bool by_streams(tonari_neighborhood near, const Call& call, Output output) {
  require(near, "near");
  if (!near->one_shots && wants_streams(near->context->settings()))
    connect_streams(near, call, output);
  return near->one_shots != nullptr;
}

int completed(tonari_neighborhood near, const Call& call) {
  return guarded([&] {
    if (by_streams(near, call, inside))
      near->one_shots->run(call);
    else
      run_to_end(*recorded(ready(near, call, inside), CalledBy::one_shot));
  });
}

int started(tonari_neighborhood near, tonari_request* request, const Call& call) {
  return start_once(request, [&](Output output) {
    return by_streams(near, call, output) ? near->one_shots->prepare(call, output)
                                          : ready(near, call, output);
  });
}

}  // namespace

// One side of a call, as parameters and as what is made of them. `access` is const where the side
// is read. Integer: the type of counts.
#define PARAMETERS_regular(access, side, Integer) \
  access void *side##buf, Integer side##count, MPI_Datatype side##type
#define PARAMETERS_v_form(access, side, Integer)                                       \
  access void *side##buf, const Integer side##counts[], const MPI_Aint side##displs[], \
      MPI_Datatype side##type
#define PARAMETERS_w_form(access, side, Integer)                                       \
  access void *side##buf, const Integer side##counts[], const MPI_Aint side##displs[], \
      const MPI_Datatype side##types[]
#define GIVEN_regular(side) regular(side##buf, side##count, side##type)
#define GIVEN_v_form(side) v_form(side##buf, side##counts, side##displs, side##type)
#define GIVEN_w_form(side) w_form(side##buf, side##counts, side##displs, side##types)

// suffix: of the functions whose counts have this type.
#define OPERATION_WITH(suffix, Integer, name, collective, sent, received)                         \
  extern "C" int tonari_##name##_init##suffix(                                                    \
      PARAMETERS_##sent(const, send, Integer), PARAMETERS_##received(, recv, Integer),            \
      tonari_neighborhood near, MPI_Info info, tonari_request* request) {                         \
    return init(near, info, request,                                                              \
                {Collective::collective, GIVEN_##sent(send), GIVEN_##received(recv)});            \
  }                                                                                               \
  extern "C" int tonari_##name##suffix(PARAMETERS_##sent(const, send, Integer),                   \
                                       PARAMETERS_##received(, recv, Integer),                    \
                                       tonari_neighborhood near) {                                \
    return completed(near, {Collective::collective, GIVEN_##sent(send), GIVEN_##received(recv)}); \
  }                                                                                               \
  extern "C" int tonari_i##name##suffix(PARAMETERS_##sent(const, send, Integer),                  \
                                        PARAMETERS_##received(, recv, Integer),                   \
                                        tonari_neighborhood near, tonari_request* request) {      \
    return started(near, request,                                                                 \
                   {Collective::collective, GIVEN_##sent(send), GIVEN_##received(recv)});         \
  }
#define OPERATION(name, collective, sent, received)       \
  OPERATION_WITH(, int, name, collective, sent, received) \
  OPERATION_WITH(_c, MPI_Count, name, collective, sent, received)

OPERATION(alltoall, alltoall, regular, regular)
OPERATION(alltoallv, alltoall, v_form, v_form)
OPERATION(alltoallw, alltoall, w_form, w_form)
OPERATION(allgather, allgather, regular, regular)
OPERATION(allgatherv, allgather, regular, v_form)
OPERATION(allgatherw, allgather, regular, w_form)

#undef PARAMETERS_regular
#undef PARAMETERS_v_form
#undef PARAMETERS_w_form
#undef GIVEN_regular
#undef GIVEN_v_form
#undef GIVEN_w_form
#undef OPERATION_WITH
#undef OPERATION
