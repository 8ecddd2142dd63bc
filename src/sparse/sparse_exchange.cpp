// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/sparse_exchange.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <utility>

#include "engine/wait/arrived.hpp"
#include "engine/wait/in_flight.hpp"
#include "engine/wait/named_rank.hpp"
#include "mpi/mpi_error.hpp"
#include "sparse/sparse_hops.hpp"

namespace tonari {
namespace {

using Method = SparseMethod::Kind;

constexpr std::size_t word = sizeof(Word);
constexpr std::size_t error_words = 2;  // before the sentence of an error
constexpr Bytes message_weight = 32;    // at least what is noted of a message besides its bytes

// Where pieces go that there is no memory for. Static, as it is needed then.
Word discarded[SparseExchange::Limits().piece / word];

enum BallotOf : std::size_t {
  failing,
  counts,
  first_alike,
  second_alike,
  weight,
  messages,
  all_ballots
};

}  // namespace

// ---- What this rank sends

SparseExchange::SparseExchange(MPI_Comm comm, std::unique_ptr<PairMessages> pairs,
                               const Limits& limits)
    : comm_(comm),
      limits_(limits),
      packing_(limits.short_most),
      reserved_(little()),
      next_(little()),
      pairs_(std::move(pairs)) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
  counts_.resize(static_cast<std::size_t>(ranks_));
}

void SparseExchange::forget() {
  for (std::vector<Word>* words : {&outgoing_, &arrived_}) {
    words->clear();
    if (words->capacity() * word > 2 * reserved_.bytes) words->shrink_to_fit();
  }
  order_.clear(), sent_.clear(), got_.clear(), entries_.clear();
  failure_.reset();
  weight_ = 0;
  received_ = expected_ = 0;
  counts_started_ = false;
}

// Short messages are copied, so that those for one rank travel together.
void SparseExchange::load() {
  const Call& call = *call_;
  for (const SparseMessage& m : call.messages)
    weight_ = checked_add(weight_, checked_add(m.bytes, message_weight + word, "bytes to send"),
                          "bytes to send");
  if (call.method.kind == Method::store_and_forward) return;
  order_.resize(call.messages.size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  const auto to = [&](std::size_t k) { return call.messages[k].to; };
  if (!std::ranges::is_sorted(order_, {}, to)) std::ranges::stable_sort(order_, {}, to);
  if (call.method.kind == Method::pairwise)
    load_pairwise();
  else
    for (const std::size_t k : order_)
      if (to(k) != rank_) append(call.messages[k]);
  requests_.reserve(sent_.size());
}

// All that goes to one rank at once, whatever its length.
void SparseExchange::load_pairwise() {
  const auto message = [&](std::size_t k) -> const SparseMessage& { return call_->messages[k]; };
  for (auto next = order_.begin(); next != order_.end();) {
    const std::int32_t to = message(*next).to;
    const auto end =
        std::find_if(next, order_.end(), [&](std::size_t k) { return message(k).to != to; });
    if (to != rank_) {
      std::size_t words = 0;
      for (auto k = next; k != end; ++k) words += packing_.words(message(*k));
      Word* at = pairs_->place(static_cast<std::size_t>(to - (to > rank_)), words);
      for (auto k = next; k != end; ++k) at = packing_.pack(message(*k), at);
    }
    next = end;
  }
}

void SparseExchange::append(const SparseMessage& message) {
  const std::size_t words = packing_.words(message);
  if (sent_.empty() || sent_.back().peer != message.to ||
      sent_.back().end - sent_.back().begin + words > limits_.piece / word)
    sent_.push_back({message.to, outgoing_.size(), outgoing_.size()});
  outgoing_.resize(outgoing_.size() + words);
  packing_.pack(message, &outgoing_[sent_.back().end]);
  sent_.back().end += words;
}

SparseExchange::Room SparseExchange::little() const {
  return {limits_.little, limits_.little / message_weight};
}

// What as much as last time takes, so that nothing can fail behind the agreement.
void SparseExchange::reserve() {
  SparseResult& result = *result_;
  const auto [bytes, most] = reserved_;
  const std::size_t peers = pairs_ ? pairs_->size() : 0;
  arrived_.reserve(bytes / word + peers * head_words);
  got_.reserve(most), entries_.reserve(most);
  requests_.reserve(2 * (bytes / limits_.short_most + bytes / limits_.part));  // parts in and out
  result.sources.reserve(most), result.sizes.reserve(most), result.places.reserve(most);
  if (result.room < bytes) result.make_room(bytes);
}

// ---- The first part: short messages travel

void SparseExchange::move_to(std::shared_ptr<const OwnedComm> apart) {
  comm_ = apart->get();
  apart_ = std::move(apart);
}

void SparseExchange::give_up() {
  given_up_ = true;
  if (pairs_) pairs_->give_up();
}

void SparseExchange::open(const Call& call, SparseResult& result) {
  if (given_up_ || !finished())
    fail(Errc::peer,
         "an earlier sparse exchange on this communicator failed in the middle; use another one");
  reserved_ = next_;
  forget();
  call_ = &call, result_ = &result;
  part_ = Part::opening;
  if (pairs_) pairs_->check_start(), pairs_->clear();
  error_ = call.error;
  if (!error_) error_ = error_of([&] { load(), reserve(); });
  if (error_) sent_.clear();
  if (pairs_)
    meet();
  else
    start_round();
}

bool SparseExchange::advance() {
  switch (stage_) {
    case Stage::idle:
      return false;
    case Stage::meeting:
      return pairs_->test() && (met(), true);
    case Stage::round:
      return advance_round();
    case Stage::telling:
      return advance_telling();
    case Stage::checking:
      return advance_check();
    case Stage::moving:
      if (!requests_.done()) return false;
      stage_ = Stage::idle;
      return true;
  }
  return false;
}

void SparseExchange::wait() {
  if (stage_ == Stage::meeting) wait_and_drive(*pairs_), met();
  if (finished()) return;
  Waiter waiter;
  AllAwaited all(comm_);
  while (!finished()) {
    if (advance()) {
      all.reset();
      continue;
    }
    waiter.pass(pause());
    const std::optional<Error> error = all.idle();
    if (error && !advance()) throw *error;
  }
}

// ---- Each rank hears from all others, so all know the same

void SparseExchange::meet() {
  if (error_) pairs_->clear(), place_error();
  pairs_->receive(arrived_);
  pairs_->set_head({error_.has_value(), static_cast<Word>(call_->alike[0].value),
                    static_cast<Word>(call_->alike[1].value),
                    static_cast<Word>(std::min<Bytes>(weight_, largest_ballot)),
                    static_cast<Word>(call_->messages.size())});
  pairs_->start();
  stage_ = Stage::meeting;
}

// An error goes as its code, the length of its sentence, and that. Without memory for it the others
// hear that there is one.
void SparseExchange::place_error() {
  const std::string_view sentence = error_->what();
  const std::optional<Error> lost = error_of([&] {
    for (std::size_t k = 0; k < pairs_->size(); ++k) {
      Word* const at = pairs_->place(k, error_words + words_of(sentence.size()));
      at[0] = static_cast<Word>(error_->code()), at[1] = static_cast<Word>(sentence.size());
      sentence.copy(reinterpret_cast<char*>(at + error_words), sentence.size());
    }
  });
  if (lost) pairs_->clear();
}

void SparseExchange::met() {
  stage_ = Stage::idle;
  if (part_ == Part::completing) return throw_failures(), start_moving();
  failure_ = pairs_->failure();
  throw_failures();
  const PairMessages::Head& mine = pairs_->head();
  Word heaviest = mine[weighs], most_messages = mine[counted];
  same_ = {true, true};
  for (std::size_t k = 0; k < pairs_->size(); ++k) {
    const PairMessages::Head& head = pairs_->head(k);
    heaviest = std::max(heaviest, head[weighs]);
    most_messages = std::max(most_messages, head[counted]);
    for (std::size_t n = 0; n < same_.size(); ++n)
      same_[n] = same_[n] && head[alike + n] == mine[alike + n];
  }
  note(static_cast<std::uint64_t>(heaviest), static_cast<std::uint64_t>(most_messages));
  if (!same_[0] || !same_[1] || call_->method.kind == Method::pairwise) return;
  arrived_.clear();
  start_round();
}

// Throws the error of the lowest rank that has one.
void SparseExchange::throw_failures() const {
  const auto ahead = static_cast<std::size_t>(rank_);
  for (std::size_t k = 0; k < pairs_->size(); ++k) {
    if (k == ahead && error_) break;
    if (pairs_->head(k)[failed]) throw_failure(k);
  }
  if (error_) throw with_rank(rank_, *error_).now_on_all_ranks();
}

void SparseExchange::throw_failure(std::size_t k) const {
  const std::span<const Word> words = pairs_->words(k);
  if (words.size() < error_words)
    fail(Errc::memory, "rank ", pairs_->rank(k), " has failed, and has no memory to say why");
  const auto* const sentence = reinterpret_cast<const char*>(words.data() + error_words);
  const Error error(static_cast<Errc>(words[0]), {sentence, static_cast<std::size_t>(words[1])});
  throw with_rank(pairs_->rank(k), error).now_on_all_ranks();
}

// ---- The round of other methods

void SparseExchange::start_sends() {
  const auto send = call_->method.kind == Method::nbx ? MPI_Issend : MPI_Isend;
  for (const Piece& piece : sent_)
    check_mpi(send(&outgoing_[piece.begin], static_cast<int>(piece.end - piece.begin), MPI_INT64_T,
                   piece.peer, tag_, comm_, requests_.add()),
              "MPI_Isend");
}

void SparseExchange::start_counting() {
  counts_started_ = true;
  for (const Piece& piece : sent_) ++counts_[static_cast<std::size_t>(piece.peer)];
  check_mpi(
      MPI_Ireduce_scatter_block(counts_.data(), &expected_, 1, MPI_INT, MPI_SUM, comm_, &counting_),
      "MPI_Ireduce_scatter_block");
}

bool SparseExchange::all_counted() {
  int complete = 0;
  call_mpi("MPI_Test", [&] { return MPI_Test(&counting_, &complete, MPI_STATUS_IGNORE); });
  return complete && received_ == expected_;
}

bool SparseExchange::receive_if_any() {
  Arrived arrived(comm_, tag_);
  if (!arrived.found) return false;
  ++received_;
  Word* to = discarded;
  const std::optional<Error> error = error_of([&] {
    const std::size_t begin = arrived_.size(),
                      end = begin + static_cast<std::size_t>(arrived.count);
    arrived_.resize(end);
    got_.push_back({arrived.status.MPI_SOURCE, begin, end});
    to = &arrived_[begin];
  });
  arrived.receive(to);
  if (error && !failure_) failure_ = error;
  return true;
}

void SparseExchange::note(std::uint64_t heaviest, std::uint64_t most_messages) {
  last_bytes_ = static_cast<double>(heaviest);
  last_messages_ = static_cast<double>(most_messages);
  const auto ranks = static_cast<std::uint64_t>(ranks_);
  fits_ = heaviest <= reserved_.bytes / ranks && most_messages <= reserved_.messages / ranks;
  next_ = little();
  if (heaviest <= limits_.kept / ranks)
    next_ = {std::max(next_.bytes, heaviest * ranks),
             std::max(next_.messages, most_messages * ranks)};
}

// Another rank may be out of this round earlier and send for the next exchange: the tag tells those
// apart, as in MpiRankGroup. Methods may turn out to differ, and a rank may have failed. Then all
// ranks complete what any has begun: if one counts, all count.
void SparseExchange::start_round() {
  tag_ = other_tag();
  received_ = 0;
  counts_here_ = !error_ && call_->method.kind == Method::personalized;
  stage_ = Stage::round;
  start_sends();
}

bool SparseExchange::advance_round() {
  const bool received = receive_if_any();
  if (!vote_ && (call_->method.kind != Method::nbx || requests_.done())) vote();
  if (!vote_ || !vote_->test()) return received;
  if (vote_->said(counts) && !counts_started_) start_counting();
  if ((counts_started_ && !all_counted()) || !requests_.done()) return received;
  if (counts_started_) std::ranges::fill(counts_, 0);
  note(vote_->said(weight), vote_->said(messages));
  same_ = {vote_->same(first_alike), vote_->same(second_alike)};
  conclude();
  return true;
}

// A Vote as if without errors: concluding one blocks.
void SparseExchange::vote() {
  if (!error_) error_ = failure_;
  std::array<Ballot, all_ballots> ballots;
  ballots[failing] = error_ ? static_cast<std::uint64_t>(ranks_ - rank_) : 0;
  ballots[counts] = counts_here_;
  ballots[first_alike] = call_->alike[0], ballots[second_alike] = call_->alike[1];
  ballots[weight] = std::min<Bytes>(weight_, largest_ballot);
  ballots[messages] = call_->messages.size();
  vote_.emplace(comm_, nullptr, ballots);
  if (counts_here_) start_counting();
}

// The vote is complete. Where a rank has failed, the lowest such rank tells its error.
void SparseExchange::conclude() {
  const auto said = static_cast<int>(vote_->said(failing));
  vote_.reset();
  stage_ = Stage::idle;
  if (said == 0) return;
  teller_ = ranks_ - said;
  told_.start(comm_, teller_, teller_ == rank_ ? &*error_ : nullptr);
  stage_ = Stage::telling;
}

bool SparseExchange::advance_telling() {
  if (!told_.test()) return false;
  stage_ = Stage::idle;
  throw with_rank(teller_, teller_ == rank_ ? *error_ : told_.error()).now_on_all_ranks();
}

// ---- The second part

// What was written by others is read before the next meeting.
void SparseExchange::complete(RankGroup* group) {
  const bool forwards = call_->method.kind == Method::store_and_forward;
  const auto hop_by_hop = [&] {
    forward_by_hops(*group, rank_, call_->method.dimensions, call_->messages,
                    [&](std::int32_t source, std::span<const Word> packed) {
                      got_.push_back({source, arrived_.size(), arrived_.size() + packed.size()});
                      arrived_.insert(arrived_.end(), packed.begin(), packed.end());
                    });
  };
  // by reference: the function that is passed must not need memory, as no scope is open yet
  if (forwards) group->run_collectively(std::cref(hop_by_hop));
  part_ = Part::completing;
  error_ = failure_ ? failure_ : error_of([&] { place(), copy_short(); });
  if (!fits_) return check_memory();
  if (error_) throw *error_;
  start_moving();
}

// All must have the memory before the first long message moves.
void SparseExchange::check_memory() {
  if (pairs_) return pairs_->clear(), meet();
  std::array<Ballot, 1> ballots{error_ ? static_cast<std::uint64_t>(ranks_ - rank_) : 0};
  vote_.emplace(comm_, nullptr, ballots);
  stage_ = Stage::checking;
}

bool SparseExchange::advance_check() {
  if (!vote_->test()) return false;
  conclude();
  if (finished()) start_moving();
  return true;
}

void SparseExchange::start_moving() {
  if (call_->method.kind == Method::store_and_forward) return;
  stage_ = Stage::moving;
  move_long();
}

}  // namespace tonari
