// SPDX-License-Identifier: BSD-3-Clause
// A BSP communicator with one rank per process. Messages travel by NBX (Hoefler, Siebert and
// Lumsdaine 2010): a rank sends to those it has messages for, and none has to know its senders.
// Only the depth of a barrier grows with the number of ranks. Here the barrier is an agreement
// (engine/wait/agree.hpp), which costs the same and reports a rank that has failed.
#pragma once

#include <mpi.h>

#include <functional>
#include <map>
#include <optional>

#include "channels/control_tags.hpp"
#include "engine/wait/agree.hpp"
#include "engine/wait/request_list.hpp"
#include "planners/graphs/bsp_comm.hpp"

namespace tonari {

class MpiBspComm final : public BspComm {
 public:
  static constexpr int most_words = 1 << 17;  // in a message

  // Collective. `comm` is not owned and must outlive this; messages have the planning tags
  // (channels/control_tags.hpp), so only one of these may exist on it at a time. A message has at
  // most longest_message words (1 to most_words, the same on all ranks). If the messages for one
  // rank are longer together, they are cut. The first one on `comm` need not meet, since none of an
  // earlier one's messages can be on its way.
  enum class Number : bool { first, later };
  explicit MpiBspComm(MPI_Comm comm, int longest_message = most_words,
                      Number number = Number::later);
  MpiBspComm(const MpiBspComm&) = delete;
  MpiBspComm& operator=(const MpiBspComm&) = delete;
  using BspComm::max;
  using BspComm::send;
  using BspComm::sum;

  void send(std::size_t k, std::int32_t to, std::span<const Word> words) override;
  // After an error outside of `run_collectively` this and its `comm` can only be freed.
  void exchange() override;
  void run_collectively(const std::function<void()>& work) override;
  std::span<const BspMessage> inbox(std::size_t) const override { return mail_; }
  std::span<const std::size_t> receivers() const override;
  void sum(std::span<Word> words) override { reduce(words, MPI_SUM); }
  void max(std::span<Word> words) override { reduce(words, MPI_MAX); }

 private:
  // several messages, each as its length and its words
  using Stream = std::vector<Word>;

  bool receive_if_any();
  void pause(AllAwaited& all);
  void drop_if_any(int tag);
  void drop_until(const std::function<bool()>& done);
  void give_up(const Error& error);
  void forget();
  void start(std::int32_t to, const Stream& stream);
  void open_streams();
  void reduce(std::span<Word> words, MPI_Op operation);

  MPI_Comm comm_;
  int longest_message_;
  int tag_ = planning_even;
  std::map<std::int32_t, Stream> outgoing_, incoming_;  // by peer
  // Synchronous sends of outgoing_: one is complete only when its receiver has begun to receive it.
  // An exchange's end rests on that.
  RequestList sends_;
  std::optional<Vote> vote_;  // at the end of the running exchange
  std::vector<BspMessage> mail_;
};

}  // namespace tonari
