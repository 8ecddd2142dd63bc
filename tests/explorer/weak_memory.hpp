// SPDX-License-Identifier: BSD-3-Clause
// Memory as the language defines it for threads: what a load may return, and what is a data race.
//
// The model is RC11 (Lahav et al. 2017) in its operational form by messages and views, as in Kang
// et al. 2017 without promises. All stores to an atomic word are messages in its modification
// order. A thread has a view: for each word the oldest message that it may still read. A message
// carries what its reader learns by acquiring it. So every outcome that the standard allows is
// there but for one kind, load buffering: threads run in program order, so no load returns what is
// stored after it. Release sequences are those of C++20: read-modify-writes continue them.
//
// Ordinary accesses are checked for data races by vector clocks (happens-before), in whole words of
// 8 bytes. Operations of order seq_cst are not modeled, only fences of that order.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tonari::explorer {

inline constexpr std::size_t most_threads = 4, most_words = 24;

struct View {
  std::array<std::uint8_t, most_words> seen{};      // by word: position in its modification order
  std::array<std::uint16_t, most_threads> clock{};  // by thread: steps that happened before

  void join(const View& other);
  void join_seen(const View& other);  // without what happened before
};

// What a thread knows of memory.
struct Knowledge {
  View now, by_acquire_fence, by_release_fence;
};

class WeakMemory {
 public:
  using Value = std::uint64_t;
  using Choose = std::function<std::size_t(std::size_t)>;  // one of so many
  using Fail = std::function<void(const std::string&)>;    // does not return

  // The bytes from `base` on are modeled. choose: takes the decisions that the model leaves open.
  // fail: is told of data races, and of what is not modeled.
  WeakMemory(std::byte* base, std::size_t bytes, Choose choose, Fail fail);

  // The first `bytes` bytes are used. What is there is initial, and threads know nothing.
  void begin(std::size_t threads, std::size_t bytes);
  // Whether begin() has known all words that were used as atomic ones since, and by which threads;
  // else begin again.
  bool words_were_known() const { return known_ == words_.size() && !grown_; }
  void forget_words() { words_.clear(); }
  // Call it before each atomic operation. It concerns others if they, at any time, store to this
  // word, or read what is stored; else no other thread can tell when it happens.
  void use(std::size_t thread, void* at, std::size_t bytes, bool stores);
  bool concerns_others(std::size_t thread, void* at, std::size_t bytes, bool stores);

  bool covers(const void* at) const;

  // bytes: of the atomic object, at most 8.
  Value load(std::size_t thread, void* at, std::size_t bytes, std::memory_order order);
  void store(std::size_t thread, void* at, std::size_t bytes, Value value, std::memory_order order);
  // change: from the value that is read to the one that is stored. Returns the former.
  Value modify(std::size_t thread, void* at, std::size_t bytes, std::memory_order order,
               const std::function<Value(Value)>& change);
  // Returns the value that was read; it is stored to only if that is `expected`.
  Value compare_exchange(std::size_t thread, void* at, std::size_t bytes, Value expected,
                         Value value, std::memory_order success, std::memory_order failure);
  void fence(std::size_t thread, std::memory_order order);
  // An ordinary access, before it happens.
  void read(std::size_t thread, const void* at, std::size_t bytes);
  void write(std::size_t thread, const void* at, std::size_t bytes);

  // What `from` has done happens before what `thread` does next.
  void synchronize(std::size_t thread, std::size_t from);
  // A thread may forget what it learned by loads of which nothing remains.
  const Knowledge& knowledge(std::size_t thread) const { return threads_[thread]; }
  std::size_t keep(std::size_t thread);  // the number of a copy, valid until begin()
  void forget_since(std::size_t thread, std::size_t kept);

  void hash(const std::function<void(std::uint64_t)>& add) const;

 private:
  struct Message {
    Value value;
    View view;              // what who acquires it learns
    bool attached = false;  // by a read-modify-write: nothing comes between it and the one before
    bool plain = false;     // by an ordinary store: its value is in memory
  };
  struct Word {
    std::byte* at;
    std::size_t bytes;
    std::vector<Message> order;
    std::array<bool, most_threads> stored, loaded;  // in any run so far
  };
  // Of 8 bytes: the last step of each thread that ...
  struct Accesses {
    std::array<std::uint16_t, most_threads> read{}, written{}, loaded{}, stored{};
  };
  using Steps = std::array<std::uint16_t, most_threads>;

  std::size_t word(void* at, std::size_t bytes);
  void catch_up(Word& word);
  Message message(std::size_t thread, std::size_t word, std::size_t at, Value value, bool releases);
  void insert(std::size_t thread, std::size_t word, std::size_t at, const Message& message);
  void shift(View& view, std::size_t word, std::size_t from) const;
  std::size_t pick_load(std::size_t thread, std::size_t word, bool to_modify, Value but_only,
                        bool any_value);
  Value take(std::size_t thread, std::size_t word, std::size_t at, bool acquires);
  Accesses& accesses(const void* at);
  std::uint16_t next_step(std::size_t thread) const;
  const std::byte* next_word(const std::byte* at) const;
  void begin_atomic(std::size_t thread, std::size_t word, std::memory_order order);
  void expect_before(std::size_t thread, const Steps& steps, const void* at, const char* what);

  std::byte* base_;
  std::size_t bytes_;
  Choose choose_;
  Fail fail_;
  std::vector<Word> words_;
  std::size_t known_ = 0;
  bool grown_ = false;
  std::vector<Knowledge> threads_, kept_;
  View fences_;  // of order seq_cst
  std::vector<Accesses> accesses_;
};

}  // namespace tonari::explorer
