// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/collective.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

#include "mpi/mpi_error.hpp"

namespace tonari {
namespace {

void wait_in_mpi(MPI_Comm, MPI_Request& request, IfOneDies) {
  call_mpi("MPI_Wait", [&] { return MPI_Wait(&request, MPI_STATUS_IGNORE); });
}

std::atomic<CompleteCall> completing{wait_in_mpi};

std::size_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  check_mpi(MPI_Type_size(type, &size), "MPI_Type_size");
  return static_cast<std::size_t>(size) * static_cast<std::size_t>(count);
}

// The words of one call, and a copy of them that the MPI gets: what it writes, and behind that what
// it only reads, if that lies elsewhere.
class CallWords {
 public:
  CallWords(void* words, std::size_t bytes, const void* read = nullptr)
      : words_(words),
        read_(read),
        bytes_(bytes),
        copy_(new(std::nothrow) std::byte[read ? 2 * bytes : bytes]) {
    if (!copy_ || bytes_ == 0) return;
    std::memcpy(copy_.get(), words_, bytes_);
    if (read_) std::memcpy(copy_.get() + bytes_, read_, bytes_);
  }
  void* data() { return copy_ ? copy_.get() : words_; }
  const void* read() const { return copy_ ? copy_.get() + bytes_ : read_; }
  void complete(MPI_Comm comm, MPI_Request& request) {
    std::byte* const kept = copy_.release();  // a call that is given up goes on with it
    complete_call(comm, request, kept ? IfOneDies::give_up : IfOneDies::wait);
    copy_.reset(kept);
    if (copy_ && bytes_ > 0) std::memcpy(words_, copy_.get(), bytes_);
  }

 private:
  void* words_;
  const void* read_;
  std::size_t bytes_;
  std::unique_ptr<std::byte[]> copy_;
};

std::size_t ranks_in(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return static_cast<std::size_t>(ranks);
}

}  // namespace

void complete_calls_by(CompleteCall complete) { completing = complete; }

void complete_call(MPI_Comm comm, MPI_Request& request, IfOneDies deaths) {
  completing.load()(comm, request, deaths);
}

void barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(comm, &request), "MPI_Ibarrier");
  complete_call(comm, request, IfOneDies::give_up);
}

void broadcast(void* words, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  CallWords call(words, bytes_of(count, type));
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibcast(call.data(), count, type, root, comm, &request), "MPI_Ibcast");
  call.complete(comm, request);
}

void reduce_all(void* words, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  CallWords call(words, bytes_of(count, type));
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(MPI_IN_PLACE, call.data(), count, type, op, comm, &request),
            "MPI_Iallreduce");
  call.complete(comm, request);
}

void gather_all(const void* mine, int count, MPI_Datatype type, void* all, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const std::size_t bytes = bytes_of(count, type);
  std::memcpy(static_cast<std::byte*>(all) + bytes * static_cast<std::size_t>(rank), mine, bytes);
  CallWords call(all, bytes * ranks_in(comm));
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(
      MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, call.data(), count, type, comm, &request),
      "MPI_Iallgather");
  call.complete(comm, request);
}

void swap_all(const void* out, int count, MPI_Datatype type, void* in, MPI_Comm comm) {
  CallWords call(in, bytes_of(count, type) * ranks_in(comm), out);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ialltoall(call.read(), count, type, call.data(), count, type, comm, &request),
            "MPI_Ialltoall");
  call.complete(comm, request);
}

}  // namespace tonari
