// SPDX-License-Identifier: BSD-3-Clause
#include "node_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace bench {

namespace {

// How rank 0's memory is found; device and inode tell it from anything else that another process
// may have open under this number.
struct Where {
  long process = 0, descriptor = -1;
  unsigned long device = 0, inode = 0, bytes = 0;
};

bool on_one_node(MPI_Comm comm) {
  MPI_Comm node;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int near, all;
  MPI_Comm_size(node, &near);
  MPI_Comm_size(comm, &all);
  MPI_Comm_free(&node);
  return near == all;
}

Where look_at(int descriptor) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0) return {};
  return {getpid(), descriptor, status.st_dev, status.st_ino,
          static_cast<unsigned long>(status.st_size)};
}

int make(std::size_t bytes) {
  const int descriptor = memfd_create("tonari_bench", MFD_CLOEXEC);
  if (descriptor >= 0 && ftruncate(descriptor, static_cast<off_t>(bytes)) == 0) return descriptor;
  if (descriptor >= 0) close(descriptor);
  return -1;
}

int find(const Where& where) {
  const std::string path =
      "/proc/" + std::to_string(where.process) + "/fd/" + std::to_string(where.descriptor);
  return open(path.c_str(), O_RDWR | O_CLOEXEC);
}

}  // namespace

std::optional<NodeMemory> NodeMemory::share(MPI_Comm comm, std::size_t bytes) {
  if (!on_one_node(comm)) return std::nullopt;
  int rank;
  MPI_Comm_rank(comm, &rank);
  int descriptor = rank == 0 ? make(bytes) : -1;
  Where where = look_at(descriptor);
  MPI_Bcast(&where, sizeof where, MPI_BYTE, 0, comm);
  if (rank != 0 && where.descriptor >= 0) descriptor = find(where);
  const Where found = look_at(descriptor);
  int good = found.descriptor >= 0 && found.device == where.device && found.inode == where.inode &&
             found.bytes == bytes;
  void* data =
      good ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0) : MAP_FAILED;
  good = data != MAP_FAILED;
  MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND, comm);
  if (descriptor >= 0) close(descriptor);
  if (good) return NodeMemory(static_cast<std::byte*>(data), bytes);
  if (data != MAP_FAILED) munmap(data, bytes);
  return std::nullopt;
}

NodeMemory::NodeMemory(NodeMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

NodeMemory::~NodeMemory() {
  if (data_) munmap(data_, bytes_);
}

}  // namespace bench
