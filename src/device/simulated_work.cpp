// SPDX-License-Identifier: BSD-3-Clause
#include "device/simulated_work.hpp"

#include <algorithm>
#include <atomic>

namespace tonari {
namespace {

std::string name_of(int stream) { return text("stream ", stream); }

[[noreturn]] void unordered(const SimulatedBytes& bytes, bool writes, int stream, int other) {
  fail(Errc::buffers, name_of(stream), writes ? " writes " : " reads ", bytes.bytes,
       " bytes from byte ", bytes.at, " of an allocation of ", bytes.range->bytes,
       ", and nothing orders that behind what ", name_of(other),
       " does with them; record an event there, and wait for it here");
}

// ---- copies

// Each move is a piece of work. They begin anywhere in the table, and go up or down from there.
class MoveWork final : public SimulatedWork {
 public:
  explicit MoveWork(std::shared_ptr<const SimulatedTable> table) : table_(std::move(table)) {}
  bool advance(const SimulatedTurn& turn) override {
    const std::size_t all = table_->moves.size();
    if (all == 0) return true;
    if (done_ == 0) first_ = turn.random.below(2 * all);
    const std::size_t until = done_ + 1 + turn.random.below(all - done_);
    for (; done_ < until; ++done_)
      run(first_ < all ? first_ + done_ : 2 * all + first_ - done_, turn);
    return done_ == all;
  }
  bool uses(const SimulatedRange& range) const override {
    const auto has = [&](const SimulatedTable::End& end) { return end.range.get() == &range; };
    return std::any_of(table_->to.begin(), table_->to.end(), has) ||
           std::any_of(table_->from.begin(), table_->from.end(), has);
  }
  bool uses_table(const void* table) const override { return table_.get() == table; }
  WorkPointer again() const override { return move_work(table_); }

 private:
  void run(std::size_t number, const SimulatedTurn& turn) {
    const std::size_t i = number % table_->moves.size();
    const Move& move = table_->moves[i];
    touch_pieces(table_->from[i], move, move.from_stride, false, turn);
    touch_pieces(table_->to[i], move, move.to_stride, true, turn);
    run_moves({&move, 1});
  }
  static void touch_pieces(const SimulatedTable::End& end, const Move& move, std::ptrdiff_t stride,
                           bool writes, const SimulatedTurn& turn) {
    for (std::size_t k = 0; k < move.count; ++k) {
      const auto at = static_cast<std::ptrdiff_t>(end.at) + static_cast<std::ptrdiff_t>(k) * stride;
      touch({end.range, static_cast<Bytes>(at), move.length}, writes, turn);
    }
  }

  std::shared_ptr<const SimulatedTable> table_;
  std::size_t done_ = 0, first_ = 0;
};

// ---- kernels

class KernelWork final : public SimulatedWork {
 public:
  explicit KernelWork(SimulatedKernel kernel)
      : kernel_(std::make_shared<const SimulatedKernel>(std::move(kernel))) {}
  explicit KernelWork(std::shared_ptr<const SimulatedKernel> kernel) : kernel_(std::move(kernel)) {}
  // It reads when it begins and when it ends.
  bool advance(const SimulatedTurn& turn) override {
    for (const SimulatedBytes& bytes : kernel_->reads) touch(bytes, false, turn);
    for (const SimulatedBytes& bytes : kernel_->writes) touch(bytes, true, turn);
    if (!std::exchange(began_, true)) return false;
    kernel_->body();
    return true;
  }
  bool uses(const SimulatedRange& range) const override {
    const auto has = [&](const SimulatedBytes& bytes) { return bytes.range.get() == &range; };
    return std::any_of(kernel_->reads.begin(), kernel_->reads.end(), has) ||
           std::any_of(kernel_->writes.begin(), kernel_->writes.end(), has);
  }
  WorkPointer again() const override { return std::make_unique<KernelWork>(kernel_); }

 private:
  std::shared_ptr<const SimulatedKernel> kernel_;
  bool began_ = false;
};

// ---- flags

std::atomic_ref<std::uint64_t> word(const SimulatedFlag& flag) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(flag.at.work()));
}

// What is ordered before the flag, as far as this process knows.
SimulatedClock& clock_of(const SimulatedFlag& flag) {
  const SimulatedRange::Part& part = flag.at.range->part(flag.at.at);
  return part.region->flags[flag.at.at - part.at];
}

void check_flag(const SimulatedFlag& flag) {
  if (flag.at.range->freed()) fail(Errc::argument, "a stream uses a flag in memory that was freed");
}

class FlagWork : public SimulatedWork {
 public:
  explicit FlagWork(std::vector<SimulatedFlag> flags) : flags_(std::move(flags)) {}
  bool uses(const SimulatedRange& range) const override {
    return std::any_of(flags_.begin(), flags_.end(),
                       [&](const SimulatedFlag& flag) { return flag.at.range.get() == &range; });
  }

 protected:
  std::vector<SimulatedFlag> flags_;
  std::size_t done_ = 0;
};

class FlagWrites final : public FlagWork {
 public:
  using FlagWork::FlagWork;
  bool advance(const SimulatedTurn& turn) override {
    if (flags_.empty()) return true;
    const std::size_t until = done_ + 1 + turn.random.below(flags_.size() - done_);
    for (; done_ < until; ++done_) {
      const SimulatedFlag& flag = flags_[done_];
      check_flag(flag);
      clock_of(flag).join(turn.clock);
      word(flag).store(flag.value, std::memory_order_release);
    }
    return done_ == flags_.size();
  }
  WorkPointer again() const override { return flag_writes(flags_); }
};

class FlagWaits final : public FlagWork {
 public:
  using FlagWork::FlagWork;
  bool ready() const override {
    return done_ == flags_.size() || flags_[done_].at.range->freed() || is_set(flags_[done_]);
  }
  bool advance(const SimulatedTurn& turn) override {
    for (; done_ < flags_.size(); ++done_) {
      check_flag(flags_[done_]);
      if (!is_set(flags_[done_])) return false;
      turn.clock.join(clock_of(flags_[done_]));
    }
    return true;
  }
  std::string waits_for() const override {
    const SimulatedFlag& flag = flags_[done_];
    return text("a flag at byte ", flag.at.at, " of an allocation of ", flag.at.range->bytes,
                " bytes, which is ", word(flag).load(std::memory_order_acquire),
                " and should become ", flag.value);
  }
  WorkPointer again() const override { return flag_waits(flags_); }

 private:
  // Differences count, as on real devices, so numbers may begin again at 0.
  static bool is_set(const SimulatedFlag& flag) {
    const std::uint64_t now = word(flag).load(std::memory_order_acquire);
    return static_cast<std::int64_t>(now - flag.value) >= 0;
  }
};

// ---- events

class RecordWork final : public SimulatedWork {
 public:
  explicit RecordWork(std::shared_ptr<SimulatedRecord> record) : record_(std::move(record)) {}
  bool advance(const SimulatedTurn& turn) override {
    record_->clock = turn.clock;
    return record_->complete = true;
  }
  bool uses(const SimulatedRange&) const override { return false; }
  WorkPointer again() const override { return record_work(record_); }

 private:
  std::shared_ptr<SimulatedRecord> record_;
};

class WaitWork final : public SimulatedWork {
 public:
  explicit WaitWork(std::shared_ptr<const SimulatedRecord> record) : record_(std::move(record)) {}
  bool ready() const override { return record_->complete; }
  bool advance(const SimulatedTurn& turn) override {
    turn.clock.join(record_->clock);
    return true;
  }
  bool uses(const SimulatedRange&) const override { return false; }
  std::string waits_for() const override { return "an event"; }
  WorkPointer again() const override { return wait_work(record_); }

 private:
  std::shared_ptr<const SimulatedRecord> record_;
};

// ---- graphs

class GraphWork final : public SimulatedWork {
 public:
  explicit GraphWork(std::shared_ptr<const SimulatedGraph> graph) : graph_(std::move(graph)) {
    for (const SimulatedGraph::Node& node : graph_->nodes) left_.push_back(node.work->again());
  }
  bool ready() const override { return unfinished() == 0 || first_ready(0) < left_.size(); }
  bool advance(const SimulatedTurn& turn) override {
    if (unfinished() == 0) return true;
    std::size_t node = first_ready(turn.random.below(left_.size()));
    if (node == left_.size()) node = first_ready(0);
    if (left_[node]->advance(turn)) left_[node].reset();
    return unfinished() == 0;
  }
  bool uses(const SimulatedRange& range) const override {
    return std::any_of(left_.begin(), left_.end(),
                       [&](const WorkPointer& work) { return work && work->uses(range); });
  }
  bool uses_table(const void* table) const override {
    return std::any_of(left_.begin(), left_.end(),
                       [&](const WorkPointer& work) { return work && work->uses_table(table); });
  }
  std::string waits_for() const override { return "what it captured"; }
  WorkPointer again() const override { return graph_work(graph_); }

 private:
  std::size_t unfinished() const {
    return left_.size() - static_cast<std::size_t>(std::count(left_.begin(), left_.end(), nullptr));
  }
  std::size_t first_ready(std::size_t from) const {
    for (; from < left_.size(); ++from) {
      const auto complete = [&](std::size_t earlier) { return !left_[earlier]; };
      const auto& after = graph_->nodes[from].after;
      if (left_[from] && std::all_of(after.begin(), after.end(), complete) && left_[from]->ready())
        break;
    }
    return from;
  }

  std::shared_ptr<const SimulatedGraph> graph_;
  std::vector<WorkPointer> left_;  // null: complete
};

}  // namespace

void touch(const SimulatedBytes& bytes, bool writes, const SimulatedTurn& turn) {
  if (bytes.range->freed())
    fail(Errc::argument, name_of(turn.stream), writes ? " writes to" : " reads from",
         " memory that was freed");
  if (!bytes.range->touched) return;
  const int other =
      note_access(bytes.range->touched + bytes.at, bytes.bytes, {turn.stream, turn.clock, writes});
  if (other >= 0) unordered(bytes, writes, turn.stream, other);
}

// ---- tables

namespace {

// All pieces of one end of a move are in one allocation.
SimulatedTable::End end_of(const SimulatedMemory& memory, int device, const std::byte* first,
                           const Move& move, std::ptrdiff_t stride) {
  const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(move.count - 1) * stride;
  const std::ptrdiff_t low = std::min<std::ptrdiff_t>(last, 0),
                       high = std::max<std::ptrdiff_t>(last, 0);
  const SimulatedBytes all =
      memory.reach(first + low, static_cast<Bytes>(high - low) + move.length, device);
  return {all.range, all.at + static_cast<Bytes>(-low)};
}

Layout pieces_of(const Move& move, std::ptrdiff_t stride) {
  Layout layout;
  layout.add({0, move.length, stride, move.count});
  return layout;
}

// All run at once, so none may write what it or another one touches.
void check_disjoint(std::span<const Move> moves) {
  std::vector<Layout> layouts;
  std::vector<Placed> ends;
  layouts.reserve(2 * moves.size());
  const auto add = [&](const std::byte* at, const Move& move, std::ptrdiff_t stride, bool written) {
    layouts.push_back(pieces_of(move, stride));
    if (written && overlaps_itself(layouts.back()))
      fail(Errc::buffers, "a move of a table writes a byte twice");
    ends.push_back({reinterpret_cast<std::uintptr_t>(at), &layouts.back(), 0, written});
  };
  for (const Move& move : moves) {
    add(move.to, move, move.to_stride, true);
    add(move.from, move, move.from_stride, false);
  }
  if (Overlap overlap; find_overlap(ends, overlap))
    fail(Errc::buffers, "moves ", overlap.first / 2, " and ", overlap.second / 2,
         " of a table touch the same bytes, and one of them writes");
}

}  // namespace

SimulatedTable::SimulatedTable(const SimulatedMemory& memory, int d, std::span<const Move> all)
    : device(d) {
  for (const Move& move : all) {
    if (move.count == 0 || move.length == 0) continue;
    to.push_back(end_of(memory, d, move.to, move, move.to_stride));
    from.push_back(end_of(memory, d, move.from, move, move.from_stride));
    moves.push_back(move);
    moves.back().to = to.back().range->work + to.back().at;
    moves.back().from = from.back().range->work + from.back().at;
  }
  check_disjoint(moves);
}

WorkPointer move_work(std::shared_ptr<const SimulatedTable> table) {
  return std::make_unique<MoveWork>(std::move(table));
}
WorkPointer kernel_work(SimulatedKernel kernel) {
  return std::make_unique<KernelWork>(std::move(kernel));
}
WorkPointer flag_writes(std::vector<SimulatedFlag> flags) {
  return std::make_unique<FlagWrites>(std::move(flags));
}
WorkPointer flag_waits(std::vector<SimulatedFlag> flags) {
  return std::make_unique<FlagWaits>(std::move(flags));
}
WorkPointer record_work(std::shared_ptr<SimulatedRecord> record) {
  return std::make_unique<RecordWork>(std::move(record));
}
WorkPointer wait_work(std::shared_ptr<const SimulatedRecord> record) {
  return std::make_unique<WaitWork>(std::move(record));
}
WorkPointer graph_work(std::shared_ptr<const SimulatedGraph> graph) {
  return std::make_unique<GraphWork>(std::move(graph));
}

}  // namespace tonari
