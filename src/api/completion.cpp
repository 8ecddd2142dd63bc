// start, test, wait and free of requests, and what can be asked of one.
#include <algorithm>

#include "api/guard.hpp"
#include "api/handles.hpp"

using namespace tonari;

namespace {

void start(tonari_request request) {
  if (!request) fail(Errc::argument, "the request is null");
  if (request->active) fail(Errc::active, "the request is already started; complete it with tonari_wait or tonari_test first");
  request->exchange->start();
  request->active = true;
}

bool test(tonari_request request) {
  if (!request || !request->active) return true;
  request->active = !request->exchange->test();
  return !request->active;
}

void wait(tonari_request request) {
  if (!request || !request->active) return;
  request->exchange->wait();
  request->active = false;
}

void check_list(int n, const tonari_request* requests) {
  if (n < 0) fail(Errc::argument, "the number of requests is ", n, "; it must not be negative");
  if (n > 0 && !requests) fail(Errc::argument, "the list of requests is null");
}

}  // namespace

extern "C" int tonari_start(tonari_request request) {
  return guarded([&] { start(request); });
}

extern "C" int tonari_test(tonari_request request, int* flag) {
  return guarded([&] {
    if (!flag) fail(Errc::argument, "the place for the flag is null");
    *flag = test(request);
  });
}

extern "C" int tonari_wait(tonari_request request) {
  return guarded([&] { wait(request); });
}

extern "C" int tonari_startall(int n, const tonari_request requests[]) {
  return guarded([&] {
    check_list(n, requests);
    for (int k = 0; k < n; ++k) {  // all or none
      if (requests[k] && requests[k]->active) fail(Errc::active, "request ", k, " is already started; complete it with tonari_wait or tonari_test first");
      if (requests[k] && std::find(requests, requests + k, requests[k]) != requests + k) fail(Errc::active, "request ", k, " is in the list twice");
    }
    for (int k = 0; k < n; ++k)
      if (requests[k]) start(requests[k]);
  });
}

extern "C" int tonari_waitall(int n, const tonari_request requests[]) {
  return guarded([&] {
    check_list(n, requests);
    if (n == 1) return wait(requests[0]);
    for (bool all = false; !all;) {
      all = true;
      for (int k = 0; k < n; ++k) all = test(requests[k]) && all;
    }
  });
}

extern "C" int tonari_request_free(tonari_request* request) {
  return guarded([&] {
    if (!request) fail(Errc::argument, "the address of the request is null");
    if (*request && (*request)->active) fail(Errc::active, "the request is active; complete it with tonari_wait or tonari_test before it is freed");
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized && *request) (void)(*request)->exchange.release();  // its MPI objects are gone already
    delete *request;
    *request = TONARI_REQUEST_NULL;
  });
}

extern "C" const char* tonari_request_describe(tonari_request request) { return request ? request->description.c_str() : nullptr; }

extern "C" int tonari_request_get_info(tonari_request request, tonari_request_info* info) {
  return guarded([&] {
    if (!request || !info) fail(Errc::argument, request ? "the place for the information is null" : "the request is null");
    *info = {request->algorithm.c_str(), request->variant.c_str(),  request->channel.c_str(), request->channel_detail.c_str(),
             request->reason.c_str(),    request->predicted,        request->init,
             request->measured,          request->exchange->messages(), request->rounds,
             static_cast<MPI_Count>(request->exchange->bytes()), static_cast<MPI_Count>(request->exchange->scratch_bytes())};
  });
}
