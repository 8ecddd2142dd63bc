// SPDX-License-Identifier: BSD-3-Clause
#include "request/mpi_on_device.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <cstring>

#include "device/held_on_device.hpp"
#include "mpi/mpi_error.hpp"

namespace tonari {
namespace {

// An MPI without support would touch the memory by the host, which ends the program. So nothing is
// tried unless the MPI says yes.
void ask(const char* query) {
  const auto function = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, query));
  if (!function)
    fail(Errc::argument, "this MPI does not say whether it takes memory of a device (it has no ",
         query, ")");
  if (function() == 0)
    fail(Errc::argument, "this MPI says that it takes no memory of a device (", query, ")");
}

// Two halves of memory on the device; the first is sent to the second.
class Trial {
 public:
  Trial(PresentDevice& devices, int number)
      : device_(*devices), stream_(devices.stream(number)), held_(device_) {
    there_ = held_.allocate(MemoryKind::device, number, 2 * longest);
    here_ = held_.allocate(MemoryKind::pinned, number, 2 * longest);
  }

  void run(int bytes, MPI_Comm comm, int tag) {
    const auto length = static_cast<std::size_t>(bytes);
    for (std::size_t k = 0; k < length; ++k) here_[k] = static_cast<std::byte>(k * 31 + k / 256);
    std::memset(here_ + longest, 0, length);
    move(there_, here_, longest + length);
    const int self = rank_in(comm);
    call_mpi("MPI_Sendrecv", [&] {
      return MPI_Sendrecv(there_, bytes, MPI_BYTE, self, tag, there_ + longest, bytes, MPI_BYTE,
                          self, tag, comm, MPI_STATUS_IGNORE);
    });
    std::memset(here_ + longest, 0, length);
    move(here_ + longest, there_ + longest, length);
    if (std::memcmp(here_, here_ + longest, length) != 0)
      fail(Errc::argument, "this MPI says that it takes memory of a device, but of ", bytes,
           " bytes that a rank sent itself there, others came");
  }

  static constexpr int longest = 1 << 18;  // MPIs send it otherwise than a short one

 private:
  void move(std::byte* to, const std::byte* from, std::size_t bytes) {
    device_.copy(stream_, to, from, bytes);
    device_.synchronize(stream_);
  }

  Device& device_;
  DeviceStream stream_;
  HeldOnDevice held_;
  std::byte *there_ = nullptr, *here_ = nullptr;
};

}  // namespace

void try_mpi_on_device(PresentDevice& devices, int number, MPI_Comm comm, int tag) {
  ask(devices->mpi_query());
  Trial trial(devices, number);
  for (const int bytes : {8, Trial::longest}) trial.run(bytes, comm, tag);
}

}  // namespace tonari
