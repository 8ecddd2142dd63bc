// SPDX-License-Identifier: BSD-3-Clause
// Starts, tests, completes and frees requests, and answers what can be asked of one.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "memory/process.hpp"
#include "request/ended_exchanges.hpp"
#include "request/free_handle.hpp"
#include "request/guard.hpp"
#include "request/prepared.hpp"
#include "request/stream_ordered.hpp"

using namespace tonari;

namespace {

// `number` is the place in a list of requests, for the sentence; -1 if there is only one.
void check_startable(const tonari_request_s& request, int number = -1) {
  const auto which = [&] {
    return number < 0 ? std::string("the request") : text("request ", number);
  };
  if (request.one_shot)
    fail(Errc::argument, which(),
         " comes from a one-shot call and cannot be started again; make one with tonari_..._init "
         "for that");
  if (request.active || request.prepared->running())
    fail(Errc::active, which(),
         " is already started; complete it with tonari_wait or tonari_test first");
}

void start_checked(tonari_request request) {
  request->active = true;  // also if it fails: test and wait say so again
  request->may_go = false;
  request->prepared->start();
}

void start(tonari_request request) {
  require(request, "request");
  check_startable(*request);
  request->prepared->exchange->check_start();
  start_checked(request);
}

bool test(tonari_request request, Waiter& waiter) {
  if (request && request->active && request->prepared->test(waiter)) request->active = false;
  return !request || !request->active;
}

bool test(tonari_request request) {
  Waiter waiter;
  const bool complete = test(request, waiter);
  if (!complete) waiter.drive();  // a program that tests a request in a loop waits, too
  return complete;
}

void wait(tonari_request request) {
  if (!request || !request->active) return;
  request->prepared->wait();
  request->active = false;
}

DeviceStream stream_of(void* stream) { return {reinterpret_cast<std::uintptr_t>(stream)}; }

// All checks come first, as for starts with other buffers.
void start_on(tonari_request request, DeviceStream stream) {
  require(request, "request");
  check_startable(*request);
  Prepared& prepared = *request->prepared;
  if (prepared.host_sends)
    fail(Errc::argument,
         "the request sends from memory that the host reads, which a start in a stream does not "
         "wait for; wait for the stream, then call tonari_start");
  prepared.exchange->check_start();
  if (prepared.by_stream) prepared.by_stream->pack_on(stream);
  start(request);
}

// Where the host has received, it has waited.
void wait_on(tonari_request request, DeviceStream stream) {
  if (!request || !request->active) return;
  StreamOrdered* const by_stream = request->prepared->by_stream;
  if (by_stream) by_stream->unpack_on(stream);
  wait(request);
  if (by_stream) by_stream->finish_on(stream);
}

// The next non-blocking call that runs this exchange takes the handle.
void put_away(std::unique_ptr<tonari_request_s> handle) {
  if (!handle->one_shot) return;
  const std::shared_ptr<Prepared> prepared = std::move(handle->prepared);
  handle->may_go = false;
  prepared->spare = std::move(handle);
}

void check_free(tonari_request_s& request) {
  if (!request.active || request.prepared->broken() || in_forked_child()) return;
  if (!request.may_go)
    fail(Errc::active, "the request is active; ",
         "complete it with tonari_wait or tonari_test before it is freed");
  request.prepared->give_up({Errc::peer, "it was freed while active, after another had failed"});
}

bool proceeds_by_itself(tonari_request request) {
  return request && request->active && request->prepared->exchange->proceeds_by_itself();
}

// Tells whether all are complete, except those that proceed by themselves.
bool test_all(int n, const tonari_request* requests, Waiter& waiter) {
  bool all = true;
  for (int k = 0; k < n; ++k)
    all = (proceeds_by_itself(requests[k]) || test(requests[k], waiter)) && all;
  return all;
}

void check_list(int n, const tonari_request* requests) {
  if (n < 0) fail(Errc::argument, "`n` is ", n, "; it must not be negative");
  if (n > 0) require(requests, "requests");
}

// The program hears that one of several failed, but not which one. So all may be freed then, and
// the others can still be waited for.
template <class Work>
void for_all(int n, const tonari_request* requests, Work work) {
  try {
    work();
  } catch (...) {
    const auto failed = [](tonari_request r) { return r && r->prepared->broken(); };
    const bool any = std::any_of(requests, requests + n, failed);
    for (int k = 0; any && k < n; ++k)
      if (requests[k]) requests[k]->may_go = true;
    throw;
  }
}

void wait_all(int n, const tonari_request* requests) {
  if (n == 1) return wait(requests[0]);
  {
    Waiter waiter;
    while (!test_all(n, requests, waiter)) waiter.pass();
  }
  for (int k = 0; k < n; ++k) wait(requests[k]);
}

// Those of the function that the program has called.
StartBuffers& buffers_of(Prepared& prepared, const char* function) {
  StartBuffers& buffers = prepared.buffers;
  if (buffers.fixed())
    fail(Errc::argument, "the request cannot be started with other buffers: ", buffers.fixed());
  if (buffers.function() != function && std::string_view(buffers.function()) != function)
    fail(Errc::argument, "the request was made for tonari_", buffers.function(),
         ", not for tonari_", function);
  return buffers;
}

}  // namespace

// All checks come first: where they fail, the request may be started again.
void tonari::start_with(tonari_request request, const char* function, const void* const buffers[]) {
  require(request, "request");
  check_startable(*request);
  Prepared& prepared = *request->prepared;
  prepared.exchange->check_start();
  // Also where they are those of before: some exchanges are bound anew by all ranks together.
  prepared.rebind(buffers_of(prepared, function).take(buffers));
  start_checked(request);
}

extern "C" int tonari_start(tonari_request request) {
  return guarded([&] { start(request); });
}

extern "C" int tonari_start_with(tonari_request request, const void* sendbuf, void* recvbuf) {
  return guarded([&] {
    const void* const buffers[] = {sendbuf, recvbuf};
    start_with(request, "start_with", buffers);
  });
}

extern "C" int tonari_start_on(tonari_request request, void* stream) {
  return guarded([&] { start_on(request, stream_of(stream)); });
}

extern "C" int tonari_wait_on(tonari_request request, void* stream) {
  return guarded([&] { wait_on(request, stream_of(stream)); });
}

extern "C" int tonari_test(tonari_request request, int* flag) {
  return guarded([&] {
    require(flag, "flag");
    *flag = test(request);
  });
}

extern "C" int tonari_wait(tonari_request request) {
  return guarded([&] { wait(request); });
}

extern "C" int tonari_startall(int n, const tonari_request requests[]) {
  return guarded([&] {
    check_list(n, requests);
    // start all or none; but exchanges of one copy of mapped ghosts can be told apart only when the
    // first has been started
    for (int k = 0; k < n; ++k) {
      if (requests[k])
        check_startable(*requests[k], k), requests[k]->prepared->exchange->check_start();
      if (requests[k] && std::find(requests, requests + k, requests[k]) != requests + k)
        fail(Errc::active, "request ", k, " is in the list twice");
    }
    for_all(n, requests, [&] {
      for (int k = 0; k < n; ++k)
        if (requests[k]) start(requests[k]);
    });
  });
}

extern "C" int tonari_waitall(int n, const tonari_request requests[]) {
  return guarded([&] {
    check_list(n, requests);
    for_all(n, requests, [&] { wait_all(n, requests); });
  });
}

extern "C" int tonari_request_free(tonari_request* request) {
  return guarded([&] {
    require(request, "request");
    if (*request) check_free(**request), put_away(std::unique_ptr<tonari_request_s>(*request));
    *request = TONARI_REQUEST_NULL;
    (void)look_at_ended();
  });
}

extern "C" int tonari_request_recv_view(tonari_request request, int block, const void** address,
                                        MPI_Count* bytes) {
  return guarded([&] {
    require(request, "request"), require(address, "address");
    const Prepared& p = *request->prepared;
    if (block < 0 || static_cast<std::size_t>(block) >= p.arrivals.size())
      fail(Errc::argument, "receive block ", block, " does not exist; there are ",
           p.arrivals.size());
    if (!p.complete())
      fail(Errc::active,
           "no exchange of the request is complete; views show what the last one brought");
    const Arrival& arrival = p.arrivals[static_cast<std::size_t>(block)];
    const std::byte* const view = p.exchange->view(arrival.number);
    *address = view                ? view
               : p.buffers.fixed() ? arrival.address
                                   : moved(arrival.address, p.buffers.shift(recv_space));
    if (bytes) *bytes = static_cast<MPI_Count>(arrival.bytes);
  });
}

extern "C" const char* tonari_request_describe(tonari_request request) {
  if (!request) return nullptr;
  const char* described = request->prepared->description().c_str();
  (void)guarded([&] { described = request->prepared->described().c_str(); });
  return described;
}

extern "C" int tonari_request_get_info(tonari_request request, tonari_request_info* info) {
  return guarded([&] {
    require(request, "request"), require(info, "info");
    Prepared& p = *request->prepared;
    if (p.chosen.undecided) p.describe_now();
    const ChoiceReport& chosen = p.chosen;
    *info = {p.lasting(chosen.algorithm),
             p.lasting(chosen.variant),
             p.lasting(chosen.channel),
             p.lasting(chosen.channel_detail),
             p.lasting(chosen.reason),
             chosen.predicted,
             p.init(),
             chosen.measured,
             p.exchange->messages(),
             chosen.rounds,
             static_cast<MPI_Count>(p.exchange->bytes()),
             static_cast<MPI_Count>(p.exchange->scratch_bytes()),
             chosen.lost,
             static_cast<std::int64_t>(p.context->nodes().ranks_per_core),
             {}};
  });
}
