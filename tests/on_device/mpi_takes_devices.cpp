// SPDX-License-Identifier: BSD-3-Clause
#include "on_device/mpi_takes_devices.hpp"

#include <mpi.h>

#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace tonari::test {
namespace {

// A persistent message whose end lies on the device.
struct OnDeviceEnd {
  std::byte* there = nullptr;
  std::vector<std::byte> here = {};
  bool send = false;
};

struct Played {
  SimulatedDevice* device = nullptr;
  bool says = false, loses = false, derived = false;
  int sent = 0;
  std::mutex mutex;  // a thread of the library may call, too
  std::map<MPI_Request, OnDeviceEnd> ends;

  bool has(const void* address) const {
    return device && device->memory_at(address).kind == MemoryKind::device;
  }
  void fetch(std::byte* here, const std::byte* there, std::size_t bytes) {
    through_pinned(bytes, [&](DeviceStream stream, std::byte* pinned) {
      device->copy(stream, pinned, there, bytes);
      device->synchronize(stream);
      std::memcpy(here, pinned, bytes);
    });
    ++sent;
  }
  void put(std::byte* there, const std::byte* here, std::size_t bytes) {
    through_pinned(bytes, [&](DeviceStream stream, std::byte* pinned) {
      std::memcpy(pinned, here, bytes);
      if (loses && bytes > 0) pinned[bytes - 1] = ~pinned[bytes - 1];
      device->copy(stream, there, pinned, bytes);
      device->synchronize(stream);
    });
  }
  void start(MPI_Request request) {
    const std::lock_guard lock(mutex);
    const auto found = ends.find(request);
    if (found == ends.end() || !found->second.send) return;
    fetch(found->second.here.data(), found->second.there, found->second.here.size());
  }
  void complete(std::span<const MPI_Request> requests) {
    const std::lock_guard lock(mutex);
    for (const MPI_Request request : requests) {
      const auto found = ends.find(request);
      if (found == ends.end() || found->second.send) continue;
      put(found->second.there, found->second.here.data(), found->second.here.size());
    }
  }

 private:
  template <class Use>
  void through_pinned(std::size_t bytes, const Use& use) {
    if (bytes == 0) return;
    std::byte* const pinned = device->allocate(MemoryKind::pinned, 0, bytes);
    const DeviceStream stream = device->make_stream(0);
    use(stream, pinned);
    device->end_stream(stream);
    device->free(pinned);
  }
};
Played played;

std::size_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

template <class Init>
int init(void* at, int count, MPI_Datatype type, bool send, MPI_Request* request,
         const Init& real) {
  if (!played.has(at)) return real(at, count, type);
  played.derived = played.derived || type != MPI_BYTE;
  OnDeviceEnd end{static_cast<std::byte*>(at), {}, send};
  end.here.resize(bytes_of(count, type));
  const int code = real(end.here.data(), static_cast<int>(end.here.size()), MPI_BYTE);
  const std::lock_guard lock(played.mutex);
  played.ends.insert_or_assign(*request, std::move(end));
  return code;
}

}  // namespace

MpiTakesDevices::MpiTakesDevices(SimulatedDevice& device, bool says, bool loses) {
  played.device = &device, played.says = says, played.loses = loses, played.sent = 0;
  played.derived = false;
}
MpiTakesDevices::~MpiTakesDevices() {
  played.device = nullptr;
  played.says = played.loses = false;
  played.ends.clear();
}
int MpiTakesDevices::messages() const { return played.sent; }
bool MpiTakesDevices::derived() const { return played.derived; }

}  // namespace tonari::test

using tonari::test::played;

extern "C" {

[[gnu::visibility("default")]] int query_simulated_support() { return played.says; }

int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag,
                 void* in, int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                 MPI_Status* status) {
  if (!played.has(out))
    return PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag,
                         comm, status);
  std::vector<std::byte> sent(tonari::test::bytes_of(out_count, out_type)), got(sent.size());
  played.fetch(sent.data(), static_cast<const std::byte*>(out), sent.size());
  const int bytes = static_cast<int>(sent.size());
  const int code = PMPI_Sendrecv(sent.data(), bytes, MPI_BYTE, to, out_tag, got.data(), bytes,
                                 MPI_BYTE, from, in_tag, comm, status);
  played.put(static_cast<std::byte*>(in), got.data(), got.size());
  return code;
}

int MPI_Send_init(const void* at, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return tonari::test::init(const_cast<void*>(at), count, type, true, request,
                            [&](const void* buffer, int n, MPI_Datatype t) {
                              return PMPI_Send_init(buffer, n, t, to, tag, comm, request);
                            });
}

int MPI_Recv_init(void* at, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return tonari::test::init(at, count, type, false, request,
                            [&](void* buffer, int n, MPI_Datatype t) {
                              return PMPI_Recv_init(buffer, n, t, from, tag, comm, request);
                            });
}

int MPI_Startall(int count, MPI_Request requests[]) {
  for (int k = 0; k < count; ++k) played.start(requests[k]);
  return PMPI_Startall(count, requests);
}

int MPI_Testall(int count, MPI_Request requests[], int* complete, MPI_Status statuses[]) {
  const std::vector<MPI_Request> before(requests, requests + count);
  const int code = PMPI_Testall(count, requests, complete, statuses);
  if (*complete) played.complete(before);
  return code;
}

int MPI_Request_free(MPI_Request* request) {
  {
    const std::lock_guard lock(played.mutex);
    played.ends.erase(*request);
  }
  return PMPI_Request_free(request);
}

}  // extern "C"
