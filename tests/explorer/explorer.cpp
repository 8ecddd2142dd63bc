// SPDX-License-Identifier: BSD-3-Clause
#include "explorer/explorer.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>

#include "explorer/orders.hpp"
#include "explorer/weak_memory.hpp"

namespace tonari::explorer {
namespace {

constexpr std::size_t shared_bytes = 1 << 16, heap_bytes = 1 << 20, stack_bytes = 1 << 18;
constexpr std::size_t most_steps = 5000;

struct Hash128 {
  std::uint64_t a = 0x9E37'79B9'7F4A'7C15, b = 0xC2B2'AE3D'27D4'EB4F;
  void add(std::uint64_t value) {
    a = (a ^ value) * 0xFF51'AFD7'ED55'8CCD, a ^= a >> 32;
    b = (b + value) * 0xC4CE'B9FE'1A85'EC53, b ^= b >> 29;
  }
  friend bool operator==(const Hash128&, const Hash128&) = default;
};
struct HashOfHash {
  std::size_t operator()(const Hash128& hash) const { return hash.a; }
};

// What the C++ runtime keeps of exceptions of the thread, which has several fibers.
struct Exceptions {
  void* caught = nullptr;
  unsigned uncaught = 0;
};

struct Rank {
  ucontext_t context;
  std::byte* stack = nullptr;
  std::function<void()> body;
  Exceptions exceptions;
  bool done = false, killed = false, mortal = false;
  bool has_let = false;  // others go on, just before its next operation
  bool stored = false;   // since its await began
  Hash128 stores;        // what it has stored since then
  Hash128 history;       // of what it has read and chosen
  // after its last operation that was not a load; where a loop of loads begins
  Hash128 history_kept;
  std::size_t kept = 0;
};

struct Choice {
  std::size_t taken, of, state;
};

class Search {
 public:
  Search();
  Result explore(const std::function<Program()>& make);

  // ---- called by ranks
  bool in_rank() const { return running_ && !inside_; }
  std::uint64_t load(Operation operation);
  void store(Operation operation, std::uint64_t value);
  std::uint64_t modify(Operation operation,
                       const std::function<std::uint64_t(std::uint64_t)>& change);
  std::uint64_t compare_exchange(Operation operation, std::memory_order failure,
                                 std::uint64_t expected, std::uint64_t value);
  void fence(Operation operation);
  void access(const void* at, std::size_t bytes, bool writes);
  bool ended(std::size_t rank);
  void yield();
  void forget(const Hash128& history, std::size_t kept);
  void await(const std::function<bool()>& look, Follows follows);
  std::size_t decide(std::size_t many);
  void note(std::uint64_t value);
  void fail(const std::string& what);
  bool killed(std::size_t rank) const { return ranks_[rank].killed; }

  std::byte* shared(std::size_t bytes);
  void* heap(std::size_t bytes);
  bool is_heap(const void* at) const { return at >= heap_ && at < heap_ + heap_bytes; }
  bool covers(const void* at) const { return memory_.covers(at); }

 private:
  class Inside;  // this is not what ranks do
  using States = std::unordered_map<Hash128, std::size_t, HashOfHash>;

  void run(const std::function<Program()>& make);
  void begin(Program& program);
  bool next_step();
  bool is_new(const Hash128& state);
  Hash128 state() const;
  bool next_path();
  void resume(Rank& rank);
  void pause();
  void swap_exceptions(Rank& rank);
  static void enter();
  void before(Operation& operation);
  void let_others();
  bool shows(const Operation& operation);
  void after(const Operation& operation, std::uint64_t value);
  void remember(Rank& rank);
  std::size_t keep();
  std::size_t choose(std::size_t many);
  std::size_t number() const { return static_cast<std::size_t>(running_ - ranks_.data()); }
  void log(const std::string& line);
  std::size_t state_without_end() const;
  void retrace(const std::function<Program()>& make, const std::string& what);

  std::byte *shared_, *heap_;
  std::size_t shared_used_ = 0, shared_most_ = 0, heap_used_ = 0;
  WeakMemory memory_;
  std::vector<Rank> ranks_;
  std::array<std::byte*, most_threads> stacks_{};
  ucontext_t main_;
  Rank* running_ = nullptr;
  bool inside_ = false, kills_left_ = false, ended_ = false;

  std::vector<Choice> path_;
  std::size_t depth_ = 0, steps_ = 0;
  std::size_t state_ = 0;  // its number, from 1
  States states_;
  std::vector<std::pair<std::size_t, std::size_t>> ways_;  // from state to state
  std::vector<std::size_t> ends_;
  std::optional<std::size_t> wanted_;  // the state to go to
  bool tracing_ = false;
  std::vector<std::string> trace_;
  Result result_;
};

class Search::Inside {
 public:
  explicit Inside(Search& search) : search_(search), was_(std::exchange(search.inside_, true)) {}
  ~Inside() { search_.inside_ = was_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Search& search_;
  bool was_;
};

constinit Search* made = nullptr;
Search& search() {
  if (!made) made = new Search;
  return *made;
}

std::byte* map(std::size_t bytes) {
  return static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

Search::Search()
    : shared_(map(shared_bytes)),
      heap_(map(heap_bytes)),
      memory_(
          shared_, shared_bytes, [this](std::size_t many) { return choose(many); },
          [this](const std::string& what) { fail(what); }) {
  for (std::byte*& stack : stacks_) stack = map(stack_bytes);
}

// ---- fibers

void Search::swap_exceptions(Rank& rank) {
  auto& of_thread = *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
  std::swap(of_thread, rank.exceptions);
}

void Search::resume(Rank& rank) {
  running_ = &rank;
  inside_ = false;
  swap_exceptions(rank);
  ::swapcontext(&main_, &rank.context);
  swap_exceptions(rank);
  running_ = nullptr;
}

void Search::pause() { ::swapcontext(&running_->context, &main_); }

void Search::enter() {
  Rank& rank = *search().running_;
  try {
    rank.body();
  } catch (const std::exception& error) {
    search().fail(std::string("a rank threw: ") + error.what());
  }
  search().inside_ = true;
  rank.done = true;
  search().pause();
}

// ---- one run

void Search::begin(Program& program) {
  const std::size_t count = program.ranks.size();
  ranks_.clear();
  ranks_.resize(count);
  memory_.begin(count, shared_used_);
  kills_left_ = true;
  for (std::size_t k = 0; k < count; ++k) {
    Rank& rank = ranks_[k];
    rank.body = program.ranks[k];
    rank.mortal = k < program.mortal.size() && program.mortal[k];
    ::getcontext(&rank.context);
    rank.context.uc_stack.ss_sp = stacks_[k];
    rank.context.uc_stack.ss_size = stack_bytes;
    rank.context.uc_link = nullptr;
    ::makecontext(&rank.context, &Search::enter, 0);
    remember(rank);
  }
  for (Rank& rank : ranks_)
    if (result_.failure.empty()) resume(rank);  // to its first operation
}

Hash128 Search::state() const {
  Hash128 hash;
  memory_.hash([&hash](std::uint64_t value) { hash.add(value); });
  for (const Rank& rank : ranks_) {
    hash.add(rank.history.a), hash.add(rank.history.b);
    hash.add(rank.done + 2 * rank.killed);
  }
  return hash;
}

// Beyond what was decided before, a state is new or not.
bool Search::is_new(const Hash128& state) {
  const auto [found, fresh] = states_.try_emplace(state, states_.size() + 1);
  if (state_ > 0) ways_.emplace_back(state_, found->second);
  state_ = found->second;
  if (wanted_ == state_) fail("it is here");
  return fresh;
}

bool Search::next_step() {
  if (++steps_ > most_steps) fail("a run does not end: a loop that waits should be an await");
  if (depth_ == path_.size() && !is_new(state())) return false;
  std::array<std::size_t, 2 * most_threads> able{};
  std::size_t count = 0;
  for (std::size_t k = 0; k < ranks_.size(); ++k)
    if (!ranks_[k].done && !ranks_[k].killed) able[count++] = k;
  if (count == 0) {
    ends_.push_back(state_);
    ended_ = true;
    return false;
  }
  const std::size_t steps = count;
  for (std::size_t k = 0; kills_left_ && k < steps; ++k)
    if (ranks_[able[k]].mortal) able[count++] = able[k];
  const std::size_t chosen = choose(count);
  if (!result_.failure.empty()) return false;
  Rank& rank = ranks_[able[chosen]];
  if (chosen >= steps) {
    rank.killed = true, kills_left_ = false;
    log("rank " + std::to_string(able[chosen]) + " is killed");
  } else {
    resume(rank);
  }
  return true;
}

void Search::run(const std::function<Program()>& make) {
  shared_most_ = std::max(shared_most_, shared_used_);
  std::memset(shared_, 0, shared_most_);
  shared_used_ = heap_used_ = depth_ = steps_ = state_ = 0;
  trace_.clear();
  ended_ = false;
  ++result_.runs;
  Program program = make();
  begin(program);
  while (result_.failure.empty() && next_step()) {
  }
  if (ended_ && result_.failure.empty()) result_.outcomes.insert(program.outcome());
  for (Rank& rank : ranks_) rank.body = nullptr;  // before the next run uses the same memory
}

bool Search::next_path() {
  while (!path_.empty() && path_.back().taken + 1 == path_.back().of) path_.pop_back();
  if (path_.empty()) return false;
  ++path_.back().taken;
  return true;
}

Result Search::explore(const std::function<Program()>& make) {
  memory_.forget_words();
  bool goes_on = true;
  while (goes_on) {
    result_ = {}, path_.clear(), states_.clear(), ways_.clear(), ends_.clear();
    do {
      run(make);
    } while (result_.failure.empty() && memory_.words_were_known() && next_path());
    goes_on = result_.failure.empty() && !memory_.words_were_known();
  }
  result_.states = states_.size();
  if (!result_.failure.empty())
    retrace(make, result_.failure);
  else if (const std::size_t lost = state_without_end())
    wanted_ = lost, retrace(make, "ranks wait in vain");
  wanted_.reset();
  return result_;
}

// From which no end can be reached; 0: there is none.
std::size_t Search::state_without_end() const {
  std::vector<std::vector<std::size_t>> before(states_.size() + 1);
  for (const auto& [from, to] : ways_) before[to].push_back(from);
  std::vector<bool> good(states_.size() + 1);
  std::vector<std::size_t> left = ends_;
  while (!left.empty()) {
    const std::size_t state = left.back();
    left.pop_back();
    if (good[state]) continue;
    good[state] = true;
    left.insert(left.end(), before[state].begin(), before[state].end());
  }
  std::size_t state = states_.size();
  while (state > 0 && good[state]) --state;
  return state;
}

// Goes the way to the failure, or to the wanted state, once more and writes down its steps.
void Search::retrace(const std::function<Program()>& make, const std::string& what) {
  const Result found = result_;
  tracing_ = true;
  if (wanted_) {
    path_.clear(), states_.clear(), ways_.clear(), ends_.clear();
    do {
      result_.failure.clear();
      run(make);
    } while (state_ != *wanted_ && next_path());
  } else {
    result_.failure.clear(), states_.clear();
    run(make);
  }
  tracing_ = false;
  result_ = found;
  result_.failure = what;
  for (const std::string& line : trace_) result_.failure += "\n  " + line;
}

// ---- what ranks do

void Search::log(const std::string& line) {
  if (tracing_) trace_.push_back(line);
}

std::size_t Search::choose(std::size_t many) {
  if (many == 1) return 0;
  if (depth_ == path_.size()) path_.push_back({0, many, state_});
  const Choice& choice = path_[depth_++];
  if (choice.of != many) fail("a program is not the same each time it is made");
  state_ = choice.state;
  return choice.taken;
}

void Search::fail(const std::string& what) {
  const Inside inside(*this);
  if (result_.failure.empty()) result_.failure = what;
  if (running_) pause();  // for good
}

void Search::before(Operation& operation) {
  {
    const Inside inside(*this);
    operation.order = order_at(operation.site, operation.kind, operation.order);
    if (operation.at && !shows(operation)) return;
  }
  let_others();
}

void Search::let_others() {
  if (!std::exchange(running_->has_let, false)) pause();
}

// Whether others can tell when it happens.
bool Search::shows(const Operation& operation) {
  const bool stores = operation.kind != Kind::load;
  memory_.use(number(), operation.at, operation.bytes, stores);
  return memory_.concerns_others(number(), operation.at, operation.bytes, stores);
}

void Search::remember(Rank& rank) {
  const auto number = static_cast<std::size_t>(&rank - ranks_.data());
  rank.history_kept = rank.history;
  rank.kept = memory_.keep(number);
}

void Search::after(const Operation& operation, std::uint64_t value) {
  Rank& rank = *running_;
  rank.history.add(static_cast<std::uint64_t>(operation.kind));
  rank.history.add(reinterpret_cast<std::uintptr_t>(operation.at));
  rank.history.add(value);
  if (operation.kind != Kind::load) {
    rank.stores.add(reinterpret_cast<std::uintptr_t>(operation.at));
    rank.stores.add(value);
    rank.stored = true;
    remember(rank);
  }
  if (!tracing_) return;
  static constexpr std::array kinds{"loads", "stores", "modifies", "fence"};
  std::string line = "rank " + std::to_string(running_ - ranks_.data()) + " " +
                     kinds[static_cast<std::size_t>(operation.kind)] + " (" +
                     name(operation.order) + ") ";
  if (operation.at)
    line += std::to_string(value) + " at byte " +
            std::to_string(static_cast<std::byte*>(operation.at) - shared_) + ", ";
  log(line + place(operation.site));
}

std::uint64_t Search::load(Operation operation) {
  before(operation);
  const Inside inside(*this);
  const std::uint64_t value =
      memory_.load(number(), operation.at, operation.bytes, operation.order);
  after(operation, value);
  return value;
}

void Search::store(Operation operation, std::uint64_t value) {
  before(operation);
  const Inside inside(*this);
  memory_.store(number(), operation.at, operation.bytes, value, operation.order);
  after(operation, value);
}

std::uint64_t Search::modify(Operation operation,
                             const std::function<std::uint64_t(std::uint64_t)>& change) {
  before(operation);
  const Inside inside(*this);
  const std::uint64_t value =
      memory_.modify(number(), operation.at, operation.bytes, operation.order, change);
  after(operation, value);
  return value;
}

std::uint64_t Search::compare_exchange(Operation operation, std::memory_order failure,
                                       std::uint64_t expected, std::uint64_t value) {
  before(operation);
  const Inside inside(*this);
  const std::uint64_t found = memory_.compare_exchange(number(), operation.at, operation.bytes,
                                                       expected, value, operation.order, failure);
  after(operation, found);
  return found;
}

void Search::fence(Operation operation) {
  before(operation);
  const Inside inside(*this);
  if (operation.order != std::memory_order_relaxed) memory_.fence(number(), operation.order);
  after(operation, 0);
}

void Search::access(const void* at, std::size_t bytes, bool writes) {
  const Inside inside(*this);
  running_->stored |= writes;
  if (writes)
    memory_.write(number(), at, bytes);
  else
    memory_.read(number(), at, bytes);
}

// The system knows that a process has ended when all that it did is done.
bool Search::ended(std::size_t rank) {
  if (kills_left_ && ranks_[rank].mortal) let_others();
  const Inside inside(*this);
  const bool killed = ranks_[rank].killed;
  running_->history.add(killed ? 5 : 4);
  if (killed) memory_.synchronize(number(), rank);
  log("rank " + std::to_string(number()) + " finds rank " + std::to_string(rank) +
      (killed ? " ended" : " alive"));
  return killed;
}

// ---- loops that wait

// Goes back to where the loop began: behind the last operation that was not a load.
void Search::yield() { forget(running_->history_kept, running_->kept); }

void Search::forget(const Hash128& history, std::size_t kept) {
  {
    const Inside inside(*this);
    running_->history = history;
    memory_.forget_since(number(), kept);
  }
  pause();  // also if all that was read concerns this rank alone
  running_->has_let = true;
}

void Search::await(const std::function<bool()>& look, Follows follows) {
  Rank& rank = *running_;
  const bool stored = std::exchange(rank.stored, false);
  rank.stores = {};
  const Hash128 history = rank.history;
  const std::size_t kept = keep();
  while (!look()) {
    if (rank.stored) fail("a round of a loop that waits has stored something, and goes on");
    if (rank.history == history) fail("a loop waits for nothing");
    forget(history, kept);
  }
  const Inside inside(*this);
  if (follows == Follows::from_stores) {
    rank.history = history;
    rank.history.add(rank.stores.a), rank.history.add(rank.stores.b);
  }
  rank.stored |= stored;
  remember(rank);
}

std::size_t Search::decide(std::size_t many) {
  const Inside inside(*this);
  const std::size_t chosen = choose(many);
  running_->history.add(chosen + 6);
  remember(*running_);
  return chosen;
}

void Search::note(std::uint64_t value) {
  running_->history.add(value);
  running_->history_kept = running_->history;
}

std::size_t Search::keep() {
  const Inside inside(*this);
  return memory_.keep(number());
}

// ---- memory

std::byte* Search::shared(std::size_t bytes) {
  const std::size_t at = shared_used_;
  shared_used_ += (bytes + 127) / 128 * 128;
  if (shared_used_ > shared_bytes) throw std::bad_alloc();
  return shared_ + at;
}

void* Search::heap(std::size_t bytes) {
  const std::size_t at = heap_used_;
  heap_used_ += (bytes + 63) / 64 * 64;
  return heap_used_ > heap_bytes ? nullptr : heap_ + at;
}

}  // namespace

Result explore(const std::function<Program()>& make) { return search().explore(make); }
std::byte* shared_memory(std::size_t bytes) { return search().shared(bytes); }
void await(const std::function<bool()>& look, Follows follows) { search().await(look, follows); }
std::size_t choose(std::size_t many) { return search().decide(many); }
void note(std::uint64_t value) { search().note(value); }
void must(bool holds, const std::string& what) {
  if (!holds) search().fail(what);
}
bool was_killed(std::size_t rank) { return search().killed(rank); }

bool in_rank() { return made && made->in_rank(); }
bool is_explored(const void* at) { return in_rank() && made->covers(at); }
std::uint64_t explored_load(const Operation& operation) { return search().load(operation); }
void explored_store(const Operation& operation, std::uint64_t value) {
  search().store(operation, value);
}
std::uint64_t explored_modify(const Operation& operation,
                              const std::function<std::uint64_t(std::uint64_t)>& change) {
  return search().modify(operation, change);
}
std::uint64_t explored_compare_exchange(const Operation& operation, std::memory_order failure,
                                        std::uint64_t expected, std::uint64_t value) {
  return search().compare_exchange(operation, failure, expected, value);
}
void explored_fence(const Operation& operation) { search().fence(operation); }
void explored_access(const void* at, std::size_t bytes, bool writes) {
  search().access(at, bytes, writes);
}
bool explored_ended(std::size_t rank) { return !in_rank() || search().ended(rank); }
void explored_yield() { search().yield(); }
void* memory_of_run(std::size_t bytes) { return in_rank() ? made->heap(bytes) : nullptr; }
bool is_memory_of_run(const void* at) { return made && made->is_heap(at); }

}  // namespace tonari::explorer
