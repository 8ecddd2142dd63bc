// SPDX-License-Identifier: BSD-3-Clause
#include "sparse/sparse_call.hpp"

#include <atomic>

#include "engine/wait/in_flight.hpp"
#include "request/guard.hpp"
#include "request/refusal.hpp"
#include "request/settings.hpp"
#include "sparse/pair_messages.hpp"

namespace tonari {

// What the program reads, and what it points to.
struct OwnedMessages : tonari_messages_s {
  SparseResult result;
  std::string name;
};

namespace {

// What the program frees serves a later call, if it is small: the library frees it never.
std::atomic<OwnedMessages*> spare = nullptr;

std::unique_ptr<OwnedMessages> take_messages() {
  std::unique_ptr<OwnedMessages> messages(spare.exchange(nullptr));
  if (!messages) return std::make_unique<OwnedMessages>();
  messages->result.clear();
  static_cast<tonari_messages_s&>(*messages) = {};
  return messages;
}

void put_away(std::unique_ptr<OwnedMessages> messages) {
  constexpr Bytes most = 8 << 20;
  if (messages && messages->result.held() <= most)
    messages.reset(spare.exchange(messages.release()));
}

// Collective at the first call for a communicator, and the same object from then on. It lives as
// long as `shared`. Throws the same on all ranks.
SparseExchange& sparse_exchange_of(SharedComm& shared) {
  if (SparseExchange* const known = shared.families().find<SparseExchange>()) return *known;
  std::unique_ptr<SparseExchange> made;
  run_collectively(shared.comm(), [&] {
    std::unique_ptr<PairMessages> pairs;
    if (shared.ranks() <= most_pairwise) pairs = connect_pairs(shared);
    made = std::make_unique<SparseExchange>(shared.comm(), std::move(pairs));
  });
  return shared.families().add(std::move(made));
}

// Sizes and places in elements, as the program has them.
void show(OwnedMessages& messages, Bytes element) {
  SparseResult& result = messages.result;
  const auto unit = static_cast<MPI_Count>(std::max<Bytes>(element, 1));
  messages.count = static_cast<int>(result.sources.size());
  for (MPI_Count& size : result.sizes) messages.total += size /= unit;
  for (MPI_Aint& place : result.places) place /= static_cast<MPI_Aint>(unit);
  messages.sources = result.sources.data();
  messages.counts = result.sizes.data();
  messages.displs = result.places.data();
  messages.data = messages.total > 0 ? result.data.get() : nullptr;
  messages.algorithm = messages.name.c_str();
}

}  // namespace

void free_messages(tonari_messages messages) noexcept {
  put_away(std::unique_ptr<OwnedMessages>(
      const_cast<OwnedMessages*>(static_cast<const OwnedMessages*>(messages))));
}

// Exchanges in flight go on whenever they are tested, so their collective calls must not meet any
// other.
void SparseCall::connect(SharedComm& shared, Kind kind) {
  SparseExchange& exchange = sparse_exchange_of(shared);
  if (kind == Kind::blocking || exchange.apart()) return;
  exchange.move_to(shared.another());
}

SparseCall::SparseCall(std::shared_ptr<SharedComm> shared, const SparseArguments& given,
                       MPI_Info info, Kind kind, tonari_messages* place,
                       const std::optional<Error>& error)
    : shared_(std::move(shared)),
      exchange_(sparse_exchange_of(*shared_)),
      kind_(kind),
      info_(info),
      outgoing_(given, shared_->ranks(), shared_->rank()),
      place_(place) {
  call_.error = error ? error : error_of([&] { read(); });
}

SparseCall::~SparseCall() { give_up(); }

void SparseCall::read() {
  throw_refusal();
  require(place_, "messages");
  made_ = take_messages();
  outgoing_.read();
  call_.messages = outgoing_.messages();
  const bool forwards = kind_ == Kind::blocking;
  call_.method = read_method(info_, shared_->ranks(), forwards);
  const auto [kind, dimensions] = call_.method;
  call_.alike = {static_cast<std::uint64_t>(kind) << 32 | static_cast<std::uint64_t>(dimensions),
                 outgoing_.element_bytes()};
  if (kind == SparseMethod::Kind::automatic) call_.method = exchange_.fastest(forwards);
  made_->name = name_ = call_.method.name();
}

void SparseCall::start() {
  ticket_ = exchange_.turns().join();
  phase_ = Phase::queued;
  (void)step();
}

template <class Work>
void SparseCall::or_leave(const Work& work) {
  try {
    work();
  } catch (...) {
    leave();
    throw;
  }
}

bool SparseCall::test() {
  while (!over() && step()) {
  }
  return over();
}

// One look; whether anything changed.
bool SparseCall::step() {
  const Phase before = phase_;
  bool moved = false;
  or_leave([&] {
    if (phase_ == Phase::queued) {
      if (exchange_.turns().serves(ticket_) || exchange_.given_up()) open();
    } else if (phase_ == Phase::opening || phase_ == Phase::completing) {
      moved = exchange_.advance();
      if (exchange_.finished()) complete();
    }
  });
  return moved || phase_ != before;
}

Pause SparseCall::pause() const {
  return phase_ == Phase::queued ? Pause::yield : exchange_.pause();
}

// In its turn.
void SparseCall::open() {
  phase_ = Phase::opening;
  exchange_.open(call_, made_ ? made_->result : none_);
}

// A part of the exchange has finished.
void SparseCall::complete() {
  if (phase_ == Phase::completing) {
    show(*made_, outgoing_.element_bytes());
    *place_ = made_.release();
    return leave();
  }
  check_alike();
  BspComm* bsp = nullptr;
  if (call_.method.kind == SparseMethod::Kind::store_and_forward)
    run_collectively(shared_->comm(), [&] { bsp = &shared_->bsp(); });
  phase_ = Phase::completing;
  exchange_.complete(bsp);
}

void SparseCall::check_alike() const {
  const auto [methods, elements] = exchange_.same();
  if (!methods && kind_ == Kind::blocking) fail_on_different_settings(shared_->comm(), info_);
  if (!methods)
    fail(Errc::mismatch, "ranks gave different values for ",
         name_of(setting("TONARI_SPARSE_ALGORITHM")), "; it must be the same on all ranks");
  if (!elements)
    fail(Errc::mismatch, "an element of `type` has not equally many bytes on all ranks");
}

void SparseCall::leave() {
  phase_ = Phase::over;
  if (!exchange_.finished()) exchange_.give_up();
  if (!exchange_.given_up()) exchange_.turns().next();
}

// The others find out when they have waited for long, and every later exchange fails.
void SparseCall::give_up() {
  if (phase_ == Phase::made || phase_ == Phase::over) return;
  exchange_.give_up();
  phase_ = Phase::over;
}

void SparseCall::wait() {
  if (phase_ == Phase::queued) {
    Waiter waiter;
    for (step(); phase_ == Phase::queued; step()) waiter.pass(Pause::yield);
  }
  while (!over()) or_leave([&] { exchange_.wait(), complete(); });
}

Bytes SparseCall::bytes() const {
  Bytes all = 0;
  for (const SparseMessage& m : outgoing_.messages()) all += m.bytes;
  return all;
}

}  // namespace tonari
