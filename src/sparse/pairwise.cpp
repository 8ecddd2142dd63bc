// SPDX-License-Identifier: BSD-3-Clause
// pairwise: each rank tells each other one what they agree on, together with all short messages
// (sparse/pair_messages.hpp). On a node it writes all that once, where the others read it. That is
// the fastest for few ranks, and needs no collective. Few ranks also begin all other methods with
// it.
#include <string_view>

#include "engine/wait/named_rank.hpp"
#include "sparse/superstep.hpp"

namespace tonari {
namespace {

constexpr std::size_t error_words = 2;  // before the sentence of an error

class Pairwise final : public Superstep {
 public:
  explicit Pairwise(SparseState& state) : state_(state), pairs_(*state.pairs) {}

  void load() override;
  void start() override;
  Seen look() override { return pairs_.test() ? Seen::all : Seen::nothing; }
  bool finish() override;
  Exchange* exchange() override { return &pairs_; }

 private:
  // How a rank's message to another begins.
  enum HeadWord : std::size_t { failed, alike, weighs = alike + 2, counted, head_words };
  static_assert(head_words == PairMessages::head_words);

  void place_error();
  void throw_failures() const;
  [[noreturn]] void throw_failure(std::size_t k) const;

  SparseState& state_;
  PairMessages& pairs_;
};

// All that goes to one rank at once, whatever its length.
void Pairwise::load() {
  if (state_.method != SparseMethod::Kind::pairwise) return;
  state_.each_receiver([&](std::span<const SparseMessage* const> messages) {
    const std::int32_t to = messages.front()->to;
    std::size_t words = 0;
    for (const SparseMessage* m : messages) words += state_.packing.words(*m);
    Word* at = pairs_.place(static_cast<std::size_t>(to - (to > state_.rank)), words);
    for (const SparseMessage* m : messages) at = state_.packing.pack(*m, at);
  });
}

void Pairwise::start() {
  if (state_.error) pairs_.clear(), place_error();
  const SparseTask& task = *state_.task;
  pairs_.receive(state_.inbox.words());
  pairs_.set_head({state_.error.has_value(), static_cast<Word>(task.alike[0].value),
                   static_cast<Word>(task.alike[1].value),
                   static_cast<Word>(std::min<Bytes>(state_.weight, largest_ballot)),
                   static_cast<Word>(task.messages.size())});
  pairs_.start();
}

// An error goes as its code, the length of its sentence, and that. Without memory for it the others
// hear that there is one.
void Pairwise::place_error() {
  const std::string_view sentence = state_.error->what();
  const std::optional<Error> lost = error_of([&] {
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      Word* const at = pairs_.place(k, error_words + words_of(sentence.size()));
      at[0] = static_cast<Word>(state_.error->code()), at[1] = static_cast<Word>(sentence.size());
      sentence.copy(reinterpret_cast<char*>(at + error_words), sentence.size());
    }
  });
  if (lost) pairs_.clear();
}

bool Pairwise::finish() {
  throw_failures();
  state_.error = pairs_.failure();
  const PairMessages::Head& mine = pairs_.head();
  Word heaviest = mine[weighs], most_messages = mine[counted];
  state_.same = {true, true};
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    const PairMessages::Head& head = pairs_.head(k);
    heaviest = std::max(heaviest, head[weighs]);
    most_messages = std::max(most_messages, head[counted]);
    for (std::size_t n = 0; n < state_.same.size(); ++n)
      state_.same[n] = state_.same[n] && head[alike + n] == mine[alike + n];
  }
  state_.load = {static_cast<Bytes>(heaviest), static_cast<std::uint64_t>(most_messages)};
  if (state_.method != SparseMethod::Kind::pairwise) state_.inbox.words().clear();
  return state_.same[0] && state_.same[1];
}

// Throws the error of the lowest rank that has one.
void Pairwise::throw_failures() const {
  const auto ahead = static_cast<std::size_t>(state_.rank);
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    if (k == ahead && state_.error) break;
    if (pairs_.head(k)[failed]) throw_failure(k);
  }
  if (state_.error) throw with_rank(state_.rank, *state_.error).now_on_all_ranks();
}

void Pairwise::throw_failure(std::size_t k) const {
  const std::span<const Word> words = pairs_.words(k);
  if (words.size() < error_words)
    fail(Errc::memory, "rank ", pairs_.rank(k), " has failed, and has no memory to say why");
  const auto* const sentence = reinterpret_cast<const char*>(words.data() + error_words);
  const Error error(static_cast<Errc>(words[0]), {sentence, static_cast<std::size_t>(words[1])});
  throw with_rank(pairs_.rank(k), error).now_on_all_ranks();
}

}  // namespace

std::unique_ptr<Superstep> make_pairwise(SparseState& state) {
  return std::make_unique<Pairwise>(state);
}

}  // namespace tonari
