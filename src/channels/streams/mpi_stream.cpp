// SPDX-License-Identifier: BSD-3-Clause
#include "channels/streams/mpi_stream.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "channels/abandon.hpp"
#include "channels/mpi_error.hpp"
#include "channels/mpi_usable.hpp"
#include "channels/world.hpp"

namespace tonari {

MpiOut::MpiOut(MpiRoute route, std::size_t room) : route_(std::move(route)), room_(room) {
  for (Place& place : first_) place.memory = Memory(room);
}

MpiOut::~MpiOut() {
  if (!mpi_usable()) return;
  (void)error_of([&] { (void)taken(); });
  for (std::array<Place, places>* both : {&first_, &more_})
    for (Place& place : *both)
      if (abandon(std::span(&place.request, 1), [](std::size_t) { return true; }))
        leak(std::move(place.memory));
}

bool MpiOut::free(Place& place) {
  int done = 1;
  if (place.request != MPI_REQUEST_NULL)
    call_mpi("MPI_Test", [&] { return MPI_Test(&place.request, &done, MPI_STATUS_IGNORE); });
  return done != 0;
}

std::byte* MpiOut::first() {
  Place& place = first_[next_first_];
  return free(place) ? place.memory.data() + sizeof(MessageHead) : nullptr;
}

std::byte* MpiOut::more() {
  Place& place = more_[next_more_];
  if (!place.memory.data()) place.memory = Memory(later_part);
  return free(place) ? place.memory.data() : nullptr;
}

bool MpiOut::taken() {
  bool all = true;
  for (std::array<Place, places>* both : {&first_, &more_})
    for (Place& place : *both) all = free(place) && all;
  return all;
}

void MpiOut::send(Place& place, std::size_t bytes, int tag) {
  check_mpi(MPI_Isend(place.memory.data(), static_cast<int>(bytes), MPI_BYTE, route_.peer, tag,
                      route_.comm->get(), &place.request),
            "MPI_Isend");
}

void MpiOut::push_first(const MessageHead& head, std::size_t bytes) {
  Place& place = first_[next_first_];
  std::memcpy(place.memory.data(), &head, sizeof head);
  send(place, sizeof head + bytes, route_.first_tag);
  next_first_ = (next_first_ + 1) % places;
}

void MpiOut::push_more(std::size_t bytes) {
  send(more_[next_more_], bytes, route_.first_tag + 1);
  next_more_ = (next_more_ + 1) % places;
}

namespace {

// A program may end without freeing its neighborhoods: then MPI_Finalize takes receives back.
// Callbacks of the program may exchange after that. There messages are looked for, and no receive
// is posted any more.
struct Opened {
  std::mutex mutex;
  std::set<MpiIn*> all;
  bool hooked = false, finalizing = false;
};
Opened& opened() {
  static Opened* const streams = new Opened;
  return *streams;
}
int take_back_all(MPI_Comm, int, void*, void*) {
  opened().finalizing = true;
  for (MpiIn* stream : opened().all) stream->take_back();
  return MPI_SUCCESS;
}

}  // namespace

MpiIn::MpiIn(MpiRoute route, std::size_t room) : route_(std::move(route)), first_(room) {
  const std::lock_guard lock(opened().mutex);
  if (!opened().hooked) opened().hooked = call_in_finalize(take_back_all);
  opened().all.insert(this);
}

MpiIn::~MpiIn() {
  {
    const std::lock_guard lock(opened().mutex);
    opened().all.erase(this);
  }
  if (mpi_usable()) close();
}

void MpiIn::close() {
  std::array requests{more_request_, active_ ? first_request_ : MPI_REQUEST_NULL};
  if (abandon(requests, [](std::size_t) { return false; }))
    leak(std::move(first_), std::move(more_));
  if (!active_ && first_request_ != MPI_REQUEST_NULL) MPI_Request_free(&first_request_);
  first_request_ = more_request_ = MPI_REQUEST_NULL;
  active_ = false;
}

void MpiIn::take_back() {
  MPI_Status status;
  int canceled = 1;
  if (active_) {
    MPI_Cancel(&first_request_);
    if (!is_over(first_request_, MPI_Wtime() + 1, &status)) return;  // its sender has died
    MPI_Test_cancelled(&status, &canceled);
  }
  if (!canceled) {  // another rank is ahead, in a callback of the program
    MPI_Get_count(&status, MPI_BYTE, &bytes_);
    active_ = false;
  }
  if (first_request_ != MPI_REQUEST_NULL) MPI_Request_free(&first_request_);
}

void MpiIn::open() {
  active_ = true;
  if (opened().finalizing) return;
  if (first_request_ == MPI_REQUEST_NULL)
    check_mpi(MPI_Recv_init(first_.data(), static_cast<int>(first_.bytes()), MPI_BYTE, route_.peer,
                            route_.first_tag, route_.comm->get(), &first_request_),
              "MPI_Recv_init");
  call_mpi("MPI_Start", [&] { return MPI_Start(&first_request_); });
}

// Whether the first part has arrived.
bool MpiIn::arrives(MPI_Status& status) {
  int done = 0;
  if (!opened().finalizing) {
    call_mpi("MPI_Test", [&] { return MPI_Test(&first_request_, &done, &status); });
    return done != 0;
  }
  MPI_Comm const comm = route_.comm->get();
  call_mpi("MPI_Iprobe",
           [&] { return MPI_Iprobe(route_.peer, route_.first_tag, comm, &done, &status); });
  if (!done) return false;
  call_mpi("MPI_Recv", [&] {
    return MPI_Recv(first_.data(), static_cast<int>(first_.bytes()), MPI_BYTE, route_.peer,
                    route_.first_tag, comm, &status);
  });
  return true;
}

const std::byte* MpiIn::first(MessageHead& head, std::size_t& bytes) {
  if (active_) {
    MPI_Status status;
    if (!arrives(status)) return nullptr;
    active_ = false;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes_), "MPI_Get_count");
  }
  std::memcpy(&head, first_.data(), sizeof head);
  bytes = static_cast<std::size_t>(bytes_) - sizeof head;
  return first_.data() + sizeof head;
}

const std::byte* MpiIn::more(Bytes left, std::size_t& bytes) {
  bytes = std::min<Bytes>(left, later_part);
  if (!std::exchange(more_posted_, true)) {
    if (!more_.data()) more_ = Memory(later_part);
    check_mpi(MPI_Irecv(more_.data(), static_cast<int>(bytes), MPI_BYTE, route_.peer,
                        route_.first_tag + 1, route_.comm->get(), &more_request_),
              "MPI_Irecv");
  }
  int done = 1;
  if (more_request_ != MPI_REQUEST_NULL)
    call_mpi("MPI_Test", [&] { return MPI_Test(&more_request_, &done, MPI_STATUS_IGNORE); });
  return done ? more_.data() : nullptr;
}

void MpiIn::release() {
  if (std::exchange(more_posted_, false)) return;
  open();
}

}  // namespace tonari
