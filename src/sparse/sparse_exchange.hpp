// SPDX-License-Identifier: BSD-3-Clause
// Exchanges in which a rank knows whom it sends to, and nobody knows who sends to it. Every rank
// knows when it has all that was sent to it, and whether any rank has failed, by one agreement
// (engine/wait/agree.hpp):
//   pairwise       Each rank tells each other one what they agree on, together with all short
//                  messages (sparse/pair_messages.hpp). On a node it writes all that once, where
//                  the others read it. That is the fastest for few ranks, and needs no collective.
//                  Few ranks also begin all other methods with it.
//   nbx            Hoefler, Siebert, Lumsdaine 2010: messages are sent synchronously, and a rank
//                  enters the agreement when its own are being received. Once it is complete, all
//                  are. The agreement takes the place of the paper's barrier.
//   personalized   Each rank learns from a reduction over all ranks how many messages to expect
//                  (the personalized census, PCX, of Hoefler 2010). It runs beside the messages and
//                  the agreement, so nothing waits for anything else; but it has a word for every
//                  rank.
//   store-and-forward/N
//                  hop by hop on a virtual mesh of N dimensions (topology/virtual_topology.hpp),
//                  each hop an exchange of RankGroup. Few messages per rank, many bytes.
//
// Short messages for one rank travel together, and come before it is known how many there are. Of a
// long one only the length does. When all lengths are known, and all ranks have agreed that they
// have the memory, long ones are received in their final place. That second agreement is left out
// where the memory was there before: each rank keeps as much as any can have got in the last
// exchange, if that is not much.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "channels/control_tags.hpp"
#include "engine/comm/kept_exchange.hpp"
#include "engine/wait/agree.hpp"
#include "engine/wait/request_list.hpp"
#include "mpi/owned_comm.hpp"
#include "planners/graphs/rank_group.hpp"
#include "sparse/error_broadcast.hpp"
#include "sparse/pair_messages.hpp"
#include "sparse/sparse_message.hpp"
#include "sparse/sparse_method.hpp"

namespace tonari {

// Messages by source, ascending, those of one source in the order in which it sent them.
struct SparseResult {
  std::vector<int> sources;
  std::vector<MPI_Count> sizes;  // bytes
  std::vector<MPI_Aint> places;  // in data
  std::unique_ptr<std::byte[]> data;
  Bytes room = 0;  // of data

  void clear() { sources.clear(), sizes.clear(), places.clear(); }  // keeps its memory
  Bytes held() const;
  void make_room(Bytes bytes);
};

class SparseExchange final : public KeptExchange {
 public:
  struct Limits {                 // bytes; the same on all ranks
    Bytes little = 64 << 10;      // for which memory is there at first
    Bytes kept = 4 << 20;         // for which memory is kept, if the last exchange was as large
    Bytes short_most = 16 << 10;  // of a short message
    Bytes piece = 64 << 10;       // of short messages that travel together; fits a short one
    Bytes part = 1 << 30;         // of a long message
  };
  struct Call {
    std::optional<Error> error;  // this rank cannot take part
    SparseMethod method;
    std::span<const SparseMessage> messages;  // must live until the exchange is complete
    std::array<Ballot, 2> alike;              // what ranks compare on the way
  };

  // Local. comm: not owned; its messages have the sparse tags (channels/control_tags.hpp). pairs:
  // between all ranks if they are at most most_pairwise; otherwise null.
  SparseExchange(MPI_Comm comm, std::unique_ptr<PairMessages> pairs)
      : SparseExchange(comm, std::move(pairs), Limits()) {}
  SparseExchange(MPI_Comm comm, std::unique_ptr<PairMessages> pairs, const Limits& limits);
  SparseExchange(const SparseExchange&) = delete;
  SparseExchange& operator=(const SparseExchange&) = delete;

  // What automatic means now, the same on all ranks: it takes the last exchange as an example.
  SparseMethod fastest(bool forwards = true) const {
    return fastest_method(ranks_, last_messages_, last_bytes_, forwards);
  }

  // Exchanges take turns, in the order in which they began: as they are collective, that is the
  // same on all ranks.
  Queue& turns() { return turns_; }

  // Collective, in turn; does not block. Short messages travel, and it is found out what is to come
  // and whether all ranks call alike. call, result: live until the exchange is over; result is
  // empty. Throws Errc::peer if an earlier exchange failed in the middle.
  void open(const Call& call, SparseResult& result);
  // When that has finished: which of `alike` are so on all ranks. Where methods are not, the
  // exchange is over.
  const std::array<bool, 2>& same() const { return same_; }
  // Collective: the rest. group: for store-and-forward, which waits for the other ranks in here.
  void complete(RankGroup* group);

  // Of either part. advance() looks once, and tells whether anything moved; wait() drives exchanges
  // in flight. Both throw on all ranks the error of one; then the exchange is over.
  bool finished() const { return stage_ == Stage::idle; }
  bool advance();
  void wait();
  Pause pause() const { return stage_ == Stage::meeting ? pairs_->pause() : Pause::yield; }

  // From now on messages and agreements go over this one, where nobody else has collective calls:
  // exchanges that do not block are in them whenever they are tested. Between exchanges.
  void move_to(std::shared_ptr<const OwnedComm> apart);
  bool apart() const { return apart_ != nullptr; }
  // This rank does not go on with an exchange: later ones fail.
  void give_up();
  bool given_up() const { return given_up_; }

 private:
  struct Piece {  // of short messages: each as its length and its bytes, in words
    std::int32_t peer;
    std::size_t begin, end;  // words
  };
  struct Entry {
    std::int32_t source;
    Bytes bytes;
    const std::byte* address;  // null: a long one, which is still to come
  };

  struct Room {  // the same on all ranks
    Bytes bytes;
    std::uint64_t messages;
  };

  // How a rank's message to another begins, when they meet pairwise.
  enum HeadWord : std::size_t { failed, alike, weighs = alike + 2, counted, head_words };
  static_assert(head_words == PairMessages::head_words);

  void load();
  void load_pairwise();
  void append(const SparseMessage& message);
  void reserve();
  int other_tag() const { return tag_ == sparse_even ? sparse_odd : sparse_even; }
  // What is waited for.
  enum class Stage : std::uint8_t { idle, meeting, round, telling, checking, moving };
  enum class Part : std::uint8_t { opening, completing };

  void start_sends();
  void start_counting();
  bool all_counted();
  bool receive_if_any();
  void meet();
  void place_error();
  void met();
  void throw_failures() const;
  [[noreturn]] void throw_failure(std::size_t k) const;
  void start_round();
  bool advance_round();
  void vote();
  void conclude();
  bool advance_telling();
  void check_memory();
  bool advance_check();
  void start_moving();
  void note(std::uint64_t heaviest, std::uint64_t most_messages);
  void read_all();
  void place();
  void copy_short() const;
  void move_long();
  void forget();
  Room little() const;
  template <class Work>
  void each_part(Bytes bytes, Work work) const;
  std::size_t long_parts() const;
  bool is_long(const SparseMessage& message) const;

  MPI_Comm comm_;
  std::shared_ptr<const OwnedComm> apart_;
  const Limits limits_;
  MessagePacking packing_;
  Queue turns_;
  bool given_up_ = false;
  const Call* call_ = nullptr;  // that is under way
  SparseResult* result_ = nullptr;
  Part part_ = Part::opening;
  Stage stage_ = Stage::idle;
  std::optional<Error> error_;  // of this rank
  std::array<bool, 2> same_{};
  std::optional<Vote> vote_;
  ErrorBroadcast told_;
  int teller_ = 0;
  int rank_ = 0, ranks_ = 0;
  int tag_ = sparse_odd;
  double last_messages_ = 1, last_bytes_ = 0;
  Room reserved_, next_;            // by this exchange, and by the next one
  bool fits_ = false;               // all of it, on all ranks, into what was reserved
  std::uint64_t weight_ = 0;        // of what this rank sends: bytes, and some for each message
  std::vector<std::size_t> order_;  // of messages, by receiver
  std::vector<Word> outgoing_, arrived_;
  std::vector<Piece> sent_, got_;
  std::vector<Entry> entries_;
  std::unique_ptr<PairMessages> pairs_;
  std::vector<int> counts_;          // of pieces for each rank; 0 between exchanges
  int received_ = 0, expected_ = 0;  // pieces for this rank
  MPI_Request counting_ = MPI_REQUEST_NULL;
  bool counts_here_ = false, counts_started_ = false;
  RequestList requests_;          // last: what they send and receive outlives them
  std::optional<Error> failure_;  // at receiving
};

}  // namespace tonari
