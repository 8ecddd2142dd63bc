// SPDX-License-Identifier: BSD-3-Clause
#include "channels/streams/mpi_stream.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/lasting.hpp"
#include "channels/abandon.hpp"
#include "mpi/mpi_error.hpp"
#include "mpi/mpi_usable.hpp"
#include "mpi/world.hpp"

namespace tonari {

MpiOut::MpiOut(MpiRoute route, std::size_t room, std::shared_ptr<SeenMessages> seen)
    : route_(std::move(route)), room_(room), seen_(std::move(seen)) {
  for (Place& place : first_) place.memory = Memory(room);
}

MpiOut::~MpiOut() {
  if (!mpi_usable()) return;
  (void)error_of([&] { (void)taken(); });
  for (std::array<Place, places>* both : {&first_, &more_})
    for (Place& place : *both)
      if (abandon(std::span(&place.request, 1), [](std::size_t) { return true; }))
        place.memory.leak();
  if (abandon(std::span(&bare_, 1), [](std::size_t) { return true; })) packed_.leak();
}

bool MpiOut::complete(MPI_Request& request) {
  return request == MPI_REQUEST_NULL || is_complete(request);
}

std::byte* MpiOut::first() {
  Place& place = first_[next_first_];
  return free(place) ? place.memory.data() + sizeof(MpiHead) : nullptr;
}

std::byte* MpiOut::more() {
  Place& place = more_[next_more_];
  if (!place.memory.data()) place.memory = Memory(later_part);
  return free(place) ? place.memory.data() : nullptr;
}

bool MpiOut::taken() {
  bool all = complete(bare_);
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
  ++sent_;
  if (head.kind != MessageHead::packed || !(head == last_)) same_since_ = sent_, promised_ = false;
  last_ = head;
  if (seen_->there.load(std::memory_order_acquire) >= same_since_ && sent_ > same_since_)
    promised_ = true;
  const MpiHead all{head, promised_, seen_->here.load(std::memory_order_acquire), sent_};
  std::memcpy(place.memory.data(), &all, sizeof all);
  send(place, sizeof all + bytes, route_.first_tag + tag_of_first);
  next_first_ = (next_first_ + 1) % places;
}

void MpiOut::push_more(std::size_t bytes) {
  send(more_[next_more_], bytes, route_.first_tag + tag_of_later);
  next_more_ = (next_more_ + 1) % places;
}

bool MpiOut::is_bare(const MessageHead& head, Bytes bytes) const {
  return promised_ && may_be_bare(bytes) && head == last_;
}

std::byte* MpiOut::bare_place(Bytes bytes) {
  if (packed_.bytes() < bytes) packed_ = Memory(bytes);
  return packed_.data();
}

void MpiOut::push_bare(const std::byte* at, Bytes bytes) {
  ++sent_;
  check_mpi(MPI_Isend(at, static_cast<int>(bytes), MPI_BYTE, route_.peer,
                      route_.first_tag + tag_of_bare, route_.comm->get(), &bare_),
            "MPI_Isend");
}

namespace {

// A program may end without freeing its neighborhoods: then MPI_Finalize takes receives back.
// Callbacks of the program may exchange after that. There first parts are looked for, and no
// receive for them is posted any more, unless sessions go on when the world has ended.
struct Opened {
  std::mutex mutex;
  std::set<MpiIn*> all;
  bool hooked = false;
  std::atomic<bool> finalizing = false;
};
Opened& opened() { return lasting<Opened>(); }
bool finalizing() { return opened().finalizing && world_runs(); }
int take_back_all(MPI_Comm, int, void*, void*) {
  const std::lock_guard lock(opened().mutex);
  opened().finalizing = true;
  for (MpiIn* stream : opened().all) stream->take_back();
  return MPI_SUCCESS;
}

}  // namespace

MpiIn::MpiIn(MpiRoute route, std::size_t room, std::shared_ptr<SeenMessages> seen)
    : route_(std::move(route)), first_(room), seen_(std::move(seen)) {
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
  if (abandon(requests, [](std::size_t) { return false; })) first_.leak(), more_.leak();
  expect_nothing();
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
  if (finalizing()) return;
  if (first_request_ == MPI_REQUEST_NULL)
    check_mpi(MPI_Recv_init(first_.data(), static_cast<int>(first_.bytes()), MPI_BYTE, route_.peer,
                            route_.first_tag + tag_of_first, route_.comm->get(), &first_request_),
              "MPI_Recv_init");
  call_mpi("MPI_Start", [&] { return MPI_Start(&first_request_); });
}

// Whether the first part has arrived.
bool MpiIn::arrives(MPI_Status& status) {
  int done = 0;
  if (!finalizing()) {
    if (first_request_ == MPI_REQUEST_NULL) open();  // the world has ended since it was taken back
    call_mpi("MPI_Test", [&] { return MPI_Test(&first_request_, &done, &status); });
    return done != 0;
  }
  MPI_Comm const comm = route_.comm->get();
  const int tag = route_.first_tag + tag_of_first;
  call_mpi("MPI_Iprobe", [&] { return MPI_Iprobe(route_.peer, tag, comm, &done, &status); });
  if (!done) return false;
  call_mpi("MPI_Recv", [&] {
    return MPI_Recv(first_.data(), static_cast<int>(first_.bytes()), MPI_BYTE, route_.peer, tag,
                    comm, &status);
  });
  return true;
}

const std::byte* MpiIn::first(MessageHead& head, std::size_t& bytes) {
  if (bare_here_ || bare_arrives()) {
    head = last_, bytes = bare_bytes_;
    return bare_to_;
  }
  if ((active_ && !head_arrives()) || bare_comes_first()) return nullptr;
  read_head(head);
  bytes = static_cast<std::size_t>(bytes_) - sizeof(MpiHead);
  return first_.data() + sizeof(MpiHead);
}

bool MpiIn::head_arrives() {
  // Where a bare message is expected, few looks ask for another one.
  constexpr std::uint32_t ask_every = 8;
  if (bare_request_ != MPI_REQUEST_NULL && ++looks_ % ask_every != 0) return false;
  MPI_Status status;
  if (!arrives(status)) return false;
  active_ = false;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes_), "MPI_Get_count");
  return true;
}

// Whether the bare message that is expected was sent before the head that is here.
bool MpiIn::bare_comes_first() const {
  if (bare_request_ == MPI_REQUEST_NULL) return false;
  MpiHead all;
  std::memcpy(&all, first_.data(), sizeof all);
  return all.number > seen_->here.load(std::memory_order_relaxed) + 1;
}

void MpiIn::read_head(MessageHead& head) {
  MpiHead all;
  std::memcpy(&all, first_.data(), sizeof all);
  expect_nothing();
  head = last_ = all.head;
  promised_ = all.promises;
  seen_->there.store(all.seen, std::memory_order_release);
}

// ---- bare messages

void MpiIn::expect_bare(std::byte* to, Bytes bytes) {
  if (!to && bare_.bytes() < bytes) bare_ = Memory(bytes);
  bare_to_ = to ? to : bare_.data();
  bare_bytes_ = bytes;
  check_mpi(MPI_Irecv(bare_to_, static_cast<int>(bytes), MPI_BYTE, route_.peer,
                      route_.first_tag + tag_of_bare, route_.comm->get(), &bare_request_),
            "MPI_Irecv");
}

void MpiIn::expect_nothing() {
  if (abandon(std::span(&bare_request_, 1), [](std::size_t) { return false; })) bare_.leak();
  bare_request_ = MPI_REQUEST_NULL;
}

bool MpiIn::bare_arrives() {
  return bare_request_ != MPI_REQUEST_NULL && (bare_here_ = is_complete(bare_request_));
}

const std::byte* MpiIn::more(Bytes left, std::size_t& bytes) {
  bytes = std::min<Bytes>(left, later_part);
  if (!std::exchange(more_posted_, true)) {
    if (!more_.data()) more_ = Memory(later_part);
    check_mpi(MPI_Irecv(more_.data(), static_cast<int>(bytes), MPI_BYTE, route_.peer,
                        route_.first_tag + tag_of_later, route_.comm->get(), &more_request_),
              "MPI_Irecv");
  }
  const bool arrived = more_request_ == MPI_REQUEST_NULL || is_complete(more_request_);
  return arrived ? more_.data() : nullptr;
}

void MpiIn::release() {
  if (std::exchange(more_posted_, false)) return;
  seen_->here.fetch_add(1, std::memory_order_release);
  if (!std::exchange(bare_here_, false)) open();
}

}  // namespace tonari
