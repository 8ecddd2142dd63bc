// SPDX-License-Identifier: BSD-3-Clause
// nbx (Hoefler, Siebert, Lumsdaine 2010): messages are sent synchronously, and a rank enters the
// agreement when its own are being received. Once it is complete, all are. The agreement takes the
// place of the paper's barrier. For personalized see sparse/census.hpp.
//
// Methods may turn out to differ, and a rank may have failed. Then all ranks complete what any has
// begun: if one counts, all count. Then the lowest that has failed tells the others its error; that
// needs no memory. Another rank may be out of this superstep earlier and send in the next one: the
// tag tells those apart, as in MpiBspComm.
#include <string_view>

#include "channels/control_tags.hpp"
#include "engine/wait/arrived.hpp"
#include "engine/wait/named_rank.hpp"
#include "engine/wait/request_list.hpp"
#include "mpi/mpi_error.hpp"
#include "sparse/census.hpp"
#include "sparse/superstep.hpp"

namespace tonari {
namespace {

using Method = SparseMethod::Kind;

constexpr std::size_t word = sizeof(Word);

// Where pieces go that there is no memory for. Static, as it is needed then.
Word discarded[SparseLimits().piece / word];

class Consensus final : public Superstep {
 public:
  explicit Consensus(SparseState& state) : state_(state), census_(state.ranks) {}

  void load() override;
  void start() override;
  Seen look() override;
  bool finish() override;

 private:
  enum BallotOf : std::size_t { failing, counts, alike, bytes = alike + 2, messages, ballots };
  static constexpr int nobody = -1;

  void append(const SparseMessage& message);
  bool receive_if_any();
  void vote();
  Seen conclude();

  SparseState& state_;
  Census census_;
  int tag_ = sparse_odd;
  int received_ = 0;  // pieces
  std::optional<Vote> vote_;
  int teller_ = nobody;  // of an error
  struct {
    std::int32_t code = 0;
    std::uint32_t length = 0;
    std::array<char, 1016> sentence;  // a longer one is cut short
  } told_;
  MPI_Request telling_ = MPI_REQUEST_NULL;
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
  if (teller_ != nobody) return is_complete(telling_) ? Seen::all : Seen::nothing;
  const Seen seen = receive_if_any() ? Seen::some : Seen::nothing;
  if (!vote_ && (state_.method != Method::nbx || requests_.done())) vote();
  if (!vote_ || !vote_->test()) return seen;
  if (vote_->said(counts)) census_.start(state_.comm, sent_);
  if (!census_.all(received_) || !requests_.done()) return seen;
  return conclude();
}

// A Vote as if without errors: concluding one blocks.
void Consensus::vote() {
  std::array<Ballot, ballots> said;
  said[failing] = state_.error ? static_cast<std::uint64_t>(state_.ranks - state_.rank) : 0;
  said[counts] = state_.method == Method::personalized;
  std::ranges::copy(state_.task->alike, &said[alike]);
  said[bytes] = std::min<Bytes>(state_.weight, largest_ballot);
  said[messages] = state_.task->messages.size();
  vote_.emplace(state_.comm, nullptr, said);
  if (said[counts].value) census_.start(state_.comm, sent_);
}

Superstep::Seen Consensus::conclude() {
  state_.same = {vote_->same(alike), vote_->same(alike + 1)};
  state_.load = {vote_->said(bytes), vote_->said(messages)};
  const auto failed = static_cast<int>(vote_->said(failing));
  vote_.reset();
  sent_.clear();
  if (failed == 0) return Seen::all;
  teller_ = state_.ranks - failed;
  if (teller_ == state_.rank) {
    const std::string_view sentence = state_.error->what();
    told_.code = static_cast<std::int32_t>(state_.error->code());
    told_.length =
        static_cast<std::uint32_t>(sentence.copy(told_.sentence.data(), told_.sentence.size()));
  }
  check_mpi(MPI_Ibcast(&told_, sizeof told_, MPI_BYTE, teller_, state_.comm, &telling_),
            "MPI_Ibcast");
  return Seen::some;
}

bool Consensus::finish() {
  const int teller = std::exchange(teller_, nobody);
  if (teller == nobody) return state_.same[0] && state_.same[1];
  if (teller == state_.rank) throw with_rank(teller, *state_.error).now_on_all_ranks();
  const std::size_t length = std::min<std::size_t>(told_.length, told_.sentence.size());
  const Error error(static_cast<Errc>(told_.code), {told_.sentence.data(), length});
  throw with_rank(teller, error).now_on_all_ranks();
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

std::unique_ptr<Superstep> make_consensus(SparseState& state) {
  return std::make_unique<Consensus>(state);
}

}  // namespace tonari
