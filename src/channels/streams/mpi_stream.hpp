// SPDX-License-Identifier: BSD-3-Clause
// Streams by MPI point to point. The first part of a message goes to a receive that is always
// posted; later parts have another tag, and their receives are posted when the head has told how
// long they are.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>

#include "channels/owned_comm.hpp"
#include "channels/streams/stream.hpp"
#include "memory/memory.hpp"

namespace tonari {

// Where a stream's messages go. Tags first_tag and first_tag + 1 of comm belong to it; the third is
// for the farewell of a rank that goes on no more (streams.hpp).
struct MpiRoute {
  std::shared_ptr<const OwnedComm> comm;
  int first_tag = 0, peer = 0;
};

// Bytes of a first part with its head that every MPI sends at once; receivers have room for at
// least as many. Bytes of a later part.
inline constexpr std::size_t eager_part = 4096, later_part = std::size_t{1} << 20;
inline constexpr int stream_tags = 3;

class MpiOut final : public OutStream {
 public:
  // room: bytes of the peer's receive.
  MpiOut(MpiRoute route, std::size_t room);
  ~MpiOut() override;
  MpiOut(const MpiOut&) = delete;
  MpiOut& operator=(const MpiOut&) = delete;

  std::size_t first_room() const override { return room_ - sizeof(MessageHead); }
  std::size_t room() const override { return later_part; }
  std::byte* first() override;
  std::byte* more() override;
  void push_first(const MessageHead& head, std::size_t bytes) override;
  void push_more(std::size_t bytes) override;
  bool stays(Bytes bytes) const override { return bytes > eager_part - sizeof(MessageHead); }
  bool taken() override;

 private:
  // The next message is written while the last ones are on their way.
  static constexpr std::size_t places = 2;
  struct Place {
    Memory memory;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  static bool free(Place& place);
  void send(Place& place, std::size_t bytes, int tag);

  MpiRoute route_;
  std::array<Place, places> first_, more_;
  std::size_t room_, next_first_ = 0, next_more_ = 0;
};

class MpiIn final : public InStream {
 public:
  MpiIn(MpiRoute route, std::size_t room);
  ~MpiIn() override;
  MpiIn(const MpiIn&) = delete;
  MpiIn& operator=(const MpiIn&) = delete;

  void open();       // posts the first receive
  void close();      // takes back what is posted; nothing arrives any more
  void take_back();  // takes back the first receive; what arrives is found without it
  const std::byte* first(MessageHead& head, std::size_t& bytes) override;
  const std::byte* more(Bytes left, std::size_t& bytes) override;
  void release() override;

 private:
  bool arrives(MPI_Status& status);

  MpiRoute route_;
  Memory first_, more_;
  MPI_Request first_request_ = MPI_REQUEST_NULL, more_request_ = MPI_REQUEST_NULL;
  bool active_ = false;  // the first part is expected, and was not seen
  int bytes_ = 0;        // of the first part that has arrived
  bool more_posted_ = false;
};

}  // namespace tonari
