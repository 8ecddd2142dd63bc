// SPDX-License-Identifier: BSD-3-Clause
// nbx (Hoefler, Siebert, Lumsdaine 2010): messages are sent synchronously, and a rank enters the
// agreement when its own are being received. Once it is complete, all are. The agreement takes the
// place of the paper's barrier. For personalized see sparse/census.hpp.
//
// Methods may turn out to differ, and a rank may have failed. Then all ranks complete what any has
// begun: if one counts, all count. Another rank may be out of this superstep earlier and send for
// the next exchange: the tag tells those apart, as in MpiRankGroup.
#include "channels/control_tags.hpp"
#include "engine/wait/arrived.hpp"
#include "engine/wait/request_list.hpp"
#include "sparse/agreement.hpp"
#include "sparse/census.hpp"

namespace tonari {
namespace {

using Method = SparseMethod::Kind;

constexpr std::size_t word = sizeof(Word);

// Where pieces go that there is no memory for. Static, as it is needed then.
Word discarded[SparseLimits().piece / word];

class Consensus final : public Superstep {
 public:
  Consensus(SparseState& state, Agreement& agreement)
      : state_(state), agreement_(agreement), census_(state.ranks) {}

  void load() override;
  void start() override;
  Seen look() override;
  bool finish() override { return agreement_.finish(); }

 private:
  void append(const SparseMessage& message);
  bool receive_if_any();
  void vote();

  SparseState& state_;
  Agreement& agreement_;
  Census census_;
  int tag_ = sparse_odd;
  int received_ = 0;  // pieces
  std::vector<Word> words_;
  std::vector<SparsePiece> sent_;  // in words_
  RequestList requests_;           // last: what they send outlives them
};

// Short messages are copied, so that those for one rank travel together.
void Consensus::load() {
  clear(words_, state_.reserved.bytes);
  sent_.clear();
  if (state_.method != Method::nbx && state_.method != Method::personalized) return;
  state_.each_receiver([&](std::span<const SparseMessage* const> messages) {
    for (const SparseMessage* m : messages) append(*m);
  });
  requests_.reserve(sent_.size());
}

void Consensus::append(const SparseMessage& message) {
  const std::size_t words = state_.packing.words(message);
  if (sent_.empty() || sent_.back().peer != message.to ||
      sent_.back().end - sent_.back().begin + words > state_.limits.piece / word)
    sent_.push_back({message.to, words_.size(), words_.size()});
  words_.resize(words_.size() + words);
  state_.packing.pack(message, &words_[sent_.back().end]);
  sent_.back().end += words;
}

void Consensus::start() {
  if (state_.error) sent_.clear();
  state_.inbox.words().clear();
  tag_ = tag_ == sparse_even ? sparse_odd : sparse_even;
  received_ = 0;
  census_.clear();
  const auto send = state_.method == Method::nbx ? MPI_Issend : MPI_Isend;
  for (const SparsePiece& piece : sent_)
    check_mpi(send(&words_[piece.begin], static_cast<int>(piece.end - piece.begin), MPI_INT64_T,
                   piece.peer, tag_, state_.comm, requests_.add()),
              "MPI_Isend");
}

Superstep::Seen Consensus::look() {
  const Seen seen = receive_if_any() ? Seen::some : Seen::nothing;
  if (!agreement_.voted() && (state_.method != Method::nbx || requests_.done())) vote();
  if (!agreement_.voted() || !agreement_.heard()) return seen;
  if (agreement_.any_counts() && !census_.started()) census_.start(state_.comm, sent_);
  if ((census_.started() && !census_.expects(received_)) || !requests_.done()) return seen;
  return agreement_.look();
}

void Consensus::vote() {
  const bool counts = state_.method == Method::personalized;
  agreement_.vote(counts);
  if (counts) census_.start(state_.comm, sent_);
}

bool Consensus::receive_if_any() {
  Arrived arrived(state_.comm, tag_);
  if (!arrived.found) return false;
  ++received_;
  Word* to = discarded;
  const std::optional<Error> error = error_of([&] {
    to = state_.inbox.add(arrived.status.MPI_SOURCE, static_cast<std::size_t>(arrived.count));
  });
  arrived.receive(to);
  if (error && !state_.error) state_.error = error;
  return true;
}

}  // namespace

std::unique_ptr<Superstep> make_consensus(SparseState& state, Agreement& agreement) {
  return std::make_unique<Consensus>(state, agreement);
}

}  // namespace tonari
