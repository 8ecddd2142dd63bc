#include "engine/swap_exchange.hpp"

#include "channels/mpi_error.hpp"
#include "engine/agree.hpp"

namespace tonari {

SwapExchange::SwapExchange(const Plan& plan, Parts parts)
    : plan_(plan), parts_(std::move(parts)), waiting_(plan_.size()) {
  active_.reserve(plan_.size());
}

void SwapExchange::begin(OpId op) {
  parts_.swaps[op]->start();
  active_.push_back(op);
}

void SwapExchange::start() {
  idle_tests_.reset();
  active_.clear();
  left_ = plan_.size();
  for (OpId op = 0; op < plan_.size(); ++op) waiting_[op] = plan_.predecessor_count(op);
  for (OpId op = 0; op < plan_.size(); ++op)
    if (waiting_[op] == 0) begin(op);
  go_on();
}

// One look at all swaps that have begun. Those that begin by it are looked at, too. Returns whether
// anything went on.
bool SwapExchange::go_on() {
  bool went_on = false;
  std::size_t kept = 0;
  for (std::size_t k = 0; k < active_.size(); ++k) {
    const OpId op = active_[k];
    const Swap::State state = parts_.swaps[op]->advance();
    went_on |= state != Swap::State::idle;
    if (state != Swap::State::complete) {
      active_[kept++] = op;
      continue;
    }
    --left_;
    for (OpId next : plan_.successors(op))
      if (--waiting_[next] == 0) begin(next);
  }
  active_.resize(kept);
  return went_on;
}

bool SwapExchange::test() {
  if (left_ == 0) return true;
  const bool went_on = go_on();
  pause_ = went_on ? Pause::none : Pause::sleep;
  if (went_on)
    idle_tests_.reset();
  else
    after_idle_look(idle_tests_.idle(parts_.wait));
  return left_ == 0;
}

void SwapExchange::wait() {
  Wait waiting(parts_.wait);
  while (left_ > 0) {
    if (go_on()) {
      waiting.reset();
      continue;
    }
    after_idle_look(waiting.idle());
  }
}

void SwapExchange::after_idle_look(Wait::Then then) {
  if (then == Wait::Then::progress) make_progress();
  if (then == Wait::Then::check) check_peers();
}

// Others may need this rank's MPI to come to where they swap with it.
void SwapExchange::make_progress() {
  int flag = 0;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, parts_.comm->get(), &flag, MPI_STATUS_IGNORE),
            "MPI_Iprobe");
}

// Who left, or ended, may have done so right after it had done its part: then what it did is found
// by the next look.
void SwapExchange::check_peers() {
  const std::optional<Error> error = caught([&] {
    for (OpId op : active_) parts_.swaps[op]->check();
  });
  if (error && !go_on()) throw *error;
}

void SwapExchange::give_up() {
  if (parts_.link) parts_.link->give_up();
}

}  // namespace tonari
