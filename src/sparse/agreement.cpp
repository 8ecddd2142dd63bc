// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/agreement.hpp"

#include <string_view>
#include <utility>

#include "engine/wait/named_rank.hpp"
#include "mpi/mpi_error.hpp"

namespace tonari {

// A Vote as if without errors: concluding one blocks.
void Agreement::vote(bool counts) {
  std::array<Ballot, ballots> said;
  said[failing] = state_.error ? static_cast<std::uint64_t>(state_.ranks - state_.rank) : 0;
  said[counting] = counts;
  std::ranges::copy(state_.task->alike, &said[alike]);
  said[bytes] = std::min<Bytes>(state_.weight, largest_ballot);
  said[messages] = state_.task->messages.size();
  vote_.emplace(state_.comm, nullptr, said);
}

Superstep::Seen Agreement::look() {
  if (telling()) {
    int complete = 0;
    call_mpi("MPI_Test", [&] { return MPI_Test(&telling_, &complete, MPI_STATUS_IGNORE); });
    return complete ? Seen::all : Seen::nothing;
  }
  if (!vote_->test()) return Seen::nothing;
  state_.same = {vote_->same(alike), vote_->same(alike + 1)};
  state_.load = {vote_->said(bytes), vote_->said(messages)};
  const auto failed = static_cast<int>(vote_->said(failing));
  vote_.reset();
  if (failed == 0) return Seen::all;
  teller_ = state_.ranks - failed;
  tell();
  return Seen::some;
}

void Agreement::tell() {
  if (teller_ == state_.rank) {
    const std::string_view sentence = state_.error->what();
    told_.code = static_cast<std::int32_t>(state_.error->code());
    told_.length =
        static_cast<std::uint32_t>(sentence.copy(told_.sentence.data(), told_.sentence.size()));
  }
  check_mpi(MPI_Ibcast(&told_, sizeof told_, MPI_BYTE, teller_, state_.comm, &telling_),
            "MPI_Ibcast");
}

bool Agreement::finish() {
  if (!telling()) return state_.same[0] && state_.same[1];
  const int teller = std::exchange(teller_, nobody);
  if (teller == state_.rank) throw with_rank(teller, *state_.error).now_on_all_ranks();
  const std::size_t length = std::min<std::size_t>(told_.length, told_.sentence.size());
  const Error error(static_cast<Errc>(told_.code), {told_.sentence.data(), length});
  throw with_rank(teller, error).now_on_all_ranks();
}

}  // namespace tonari
