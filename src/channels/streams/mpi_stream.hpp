// SPDX-License-Identifier: BSD-3-Clause
// Streams by MPI point to point. The first part of a message goes to a receive that is always
// posted; later parts have another tag, and their receives are posted when the head has told how
// long they are.
//
// A program that exchanges the same again and again needs no heads, and no copies of long messages.
// A sender whose heads stay the same, and who knows that the receiver has seen the first of them,
// promises in a head that like messages come bare from then on: their bytes alone, from where they
// are, with a tag of their own. The receiver posts a receive for such a message where its bytes
// belong. If a head comes instead, it takes that receive back. A new promise comes only when the
// receiver is known to have done so, so no bare message can go to a wrong place. A head may be seen
// before a bare message that was sent earlier, so it tells which message of the stream it is.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <memory>

#include "channels/streams/stream.hpp"
#include "memory/memory.hpp"
#include "mpi/owned_comm.hpp"

namespace tonari {

// Tags of a stream, from its first one on. The farewell is of a rank that goes on no more
// (streams.hpp).
enum StreamTag : int {
  tag_of_first,
  tag_of_later,
  tag_of_bare,
  tag_of_farewell,
  tag_of_numbers,  // (told_numbers.hpp)
  stream_tags
};

// Where a stream's messages go: stream_tags tags of comm belong to it.
struct MpiRoute {
  std::shared_ptr<const OwnedComm> comm;
  int first_tag = 0, peer = 0;
};

// Bytes of a first part with its head that every MPI sends at once; receivers have room for at
// least as many. Bytes of a later part.
inline constexpr std::size_t eager_part = 4096, later_part = std::size_t{1} << 20;

// What two ranks know of each other's receives. Each direction of a pair of streams may be driven
// by a thread of its own.
struct SeenMessages {
  std::atomic<std::uint64_t> here = 0;   // messages of the peer that this rank has read
  std::atomic<std::uint64_t> there = 0;  // messages of this rank that the peer has said it has read
};

// In front of a first part's bytes.
struct MpiHead {
  MessageHead head;
  std::uint64_t promises : 1 = 0;
  std::uint64_t seen : 63 = 0;  // messages that its sender has read
  std::uint64_t number = 0;     // of this message, bare ones counted; the first is 1
};

class MpiOut final : public OutStream {
 public:
  // room: bytes of the peer's receive.
  MpiOut(MpiRoute route, std::size_t room, std::shared_ptr<SeenMessages> seen);
  ~MpiOut() override;
  MpiOut(const MpiOut&) = delete;
  MpiOut& operator=(const MpiOut&) = delete;

  std::size_t first_room() const override { return room_ - sizeof(MpiHead); }
  std::size_t room() const override { return later_part; }
  std::byte* first() override;
  std::byte* more() override;
  void push_first(const MessageHead& head, std::size_t bytes) override;
  void push_more(std::size_t bytes) override;
  bool stays(Bytes bytes) const override { return bytes > eager_part - sizeof(MpiHead); }
  bool taken() override;
  bool is_bare(const MessageHead& head, Bytes bytes) const override;
  std::byte* bare_place(Bytes bytes) override;
  void push_bare(const std::byte* at, Bytes bytes) override;

 private:
  // The next message is written while the last ones are on their way.
  static constexpr std::size_t places = 2;
  struct Place {
    Memory memory;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  static bool free(Place& place) { return complete(place.request); }
  static bool complete(MPI_Request& request);
  void send(Place& place, std::size_t bytes, int tag);

  MpiRoute route_;
  std::array<Place, places> first_, more_;
  std::size_t room_, next_first_ = 0, next_more_ = 0;
  std::shared_ptr<SeenMessages> seen_;
  MPI_Request bare_ = MPI_REQUEST_NULL;
  Memory packed_;                 // of bare messages that are not one piece
  MessageHead last_;              // that was sent
  std::uint64_t sent_ = 0;        // messages
  std::uint64_t same_since_ = 0;  // the message from which on all heads are the last one
  bool promised_ = false;
};

class MpiIn final : public InStream {
 public:
  MpiIn(MpiRoute route, std::size_t room, std::shared_ptr<SeenMessages> seen);
  ~MpiIn() override;
  MpiIn(const MpiIn&) = delete;
  MpiIn& operator=(const MpiIn&) = delete;

  void open();       // posts the first receive
  void close();      // takes back what is posted; nothing arrives any more
  void take_back();  // takes back the first receive; what arrives is found without it
  const std::byte* first(MessageHead& head, std::size_t& bytes) override;
  const std::byte* more(Bytes left, std::size_t& bytes) override;
  void release() override;
  const MessageHead* bare_head() const override { return promised_ ? &last_ : nullptr; }
  void expect_bare(std::byte* to, Bytes bytes) override;
  void expect_nothing() override;

 private:
  bool arrives(MPI_Status& status);
  bool head_arrives();
  bool bare_arrives();
  bool bare_comes_first() const;
  void read_head(MessageHead& head);

  MpiRoute route_;
  Memory first_, more_;
  MPI_Request first_request_ = MPI_REQUEST_NULL, more_request_ = MPI_REQUEST_NULL;
  bool active_ = false;  // the first part is expected, and was not seen
  int bytes_ = 0;        // of the first part that has arrived
  bool more_posted_ = false;
  std::shared_ptr<SeenMessages> seen_;
  MPI_Request bare_request_ = MPI_REQUEST_NULL;
  std::byte* bare_to_ = nullptr;
  Bytes bare_bytes_ = 0;
  Memory bare_;  // for those that go nowhere else
  MessageHead last_;
  std::uint32_t looks_ = 0;
  bool promised_ = false, bare_here_ = false;
};

}  // namespace tonari
