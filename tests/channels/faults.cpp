// SPDX-License-Identifier: BSD-3-Clause
#include "faults.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace {

tonari::test::Called calls;
MPI_Request hidden = MPI_REQUEST_NULL;
MPI_Comm_delete_attr_function* last_function = nullptr;

void once(std::function<void()>& deed) {
  if (const auto now = std::exchange(deed, nullptr)) now();
}

}  // namespace

namespace tonari::test {

Faults& faults() {
  static Faults all;
  return all;
}
Called& called() { return calls; }

}  // namespace tonari::test

using tonari::test::faults;

#define EXPORT_CPP __attribute__((visibility("default")))
#define EXPORT extern "C" EXPORT_CPP

EXPORT_CPP void* operator new(std::size_t bytes) {
  void* const p = faults().no_memory ? nullptr : std::malloc(bytes);
  if (!p) throw std::bad_alloc();
  return p;
}
EXPORT_CPP void operator delete(void* p) noexcept { std::free(p); }
EXPORT_CPP void operator delete(void* p, std::size_t) noexcept { std::free(p); }

EXPORT int MPI_Initialized(int* flag) {
  const int code = PMPI_Initialized(flag);
  if (faults().no_world) *flag = 0;
  return code;
}

EXPORT int MPI_Irecv(void* to, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                     MPI_Request* request) {
  const int code = PMPI_Irecv(to, n, type, from, tag, comm, request);
  if (tag == faults().hidden_tag) hidden = *request;
  calls.longest_receive = std::max(calls.longest_receive, n);
  return code;
}
EXPORT int MPI_Isend(const void* from, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                     MPI_Request* request) {
  if (std::exchange(faults().isend_fails, false)) return MPI_ERR_OTHER;
  return PMPI_Isend(from, n, type, to, tag, comm, request);
}
EXPORT int MPI_Recv(void* to, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                    MPI_Status* status) {
  hidden = MPI_REQUEST_NULL;
  return PMPI_Recv(to, n, type, from, tag, comm, status);
}
EXPORT int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  if (hidden != MPI_REQUEST_NULL && *request == hidden) return *done = 0, MPI_SUCCESS;
  const int code = PMPI_Test(request, done, status);
  if (*done && *request != MPI_REQUEST_NULL) hidden = MPI_REQUEST_NULL;  // a persistent one
  return code;
}
EXPORT int MPI_Start(MPI_Request* request) {
  ++calls.starts;
  return PMPI_Start(request);
}
EXPORT int MPI_Cancel(MPI_Request* request) {
  ++calls.cancels;
  const int code = PMPI_Cancel(request);
  return faults().cancel_fails ? MPI_ERR_OTHER : code;
}

EXPORT int MPI_Type_set_attr(MPI_Datatype type, int key, void* value) {
  once(faults().before_type_attribute_is_set);
  return PMPI_Type_set_attr(type, key, value);
}
EXPORT int MPI_Type_get_attr(MPI_Datatype type, int key, void* value, int* found) {
  once(faults().before_type_attribute_is_read);
  return PMPI_Type_get_attr(type, key, value, found);
}
EXPORT int MPI_Type_free_keyval(int* key) {
  ++calls.type_keys_freed;
  return PMPI_Type_free_keyval(key);
}

EXPORT int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy,
                                  MPI_Comm_delete_attr_function* forget, int* key, void* state) {
  last_function = forget;
  return PMPI_Comm_create_keyval(copy, forget, key, state);
}
EXPORT int MPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
  if (comm == MPI_COMM_SELF) calls.at_finalize.push_back(last_function);
  return PMPI_Comm_set_attr(comm, key, value);
}
