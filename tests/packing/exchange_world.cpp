// SPDX-License-Identifier: BSD-3-Clause
#include "packing/exchange_world.hpp"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace tonari::test {
namespace {

constexpr std::size_t streams_of_a_rank = 4;
constexpr std::size_t most_polls = 20'000;

Layout layout_of(const Words& words) {
  Layout layout;
  for (const std::uint32_t word : words) layout.add(8 * std::ptrdiff_t{word}, 8);
  return layout;
}

// What a kernel touches that uses each of these words, which become ascending.
std::vector<SimulatedDevice::Touched> bytes_of(const std::byte* memory, Words& words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::vector<SimulatedDevice::Touched> bytes;
  const Layout layout = layout_of(words);
  for (const Run& run : layout.runs())
    for (std::size_t k = 0; k < run.count; ++k)
      bytes.push_back(
          {memory + run.offset + run.stride * static_cast<std::ptrdiff_t>(k), run.length});
  return bytes;
}

// ---- shapes

constexpr int side = 4, with_ghosts = side + 2;

std::uint32_t cell(int x, int y, int z) {
  return static_cast<std::uint32_t>((x * with_ghosts + y) * with_ghosts + z);
}

// Along one dimension: where what goes into direction d comes from, and where it arrives.
std::pair<int, int> from(int d) {
  return d < 0 ? std::pair(1, 2) : d > 0 ? std::pair(side, side + 1) : std::pair(1, side + 1);
}
std::pair<int, int> into(int d) {
  return d < 0 ? std::pair(side + 1, side + 2) : d > 0 ? std::pair(0, 1) : std::pair(1, side + 1);
}

template <class Range>
Words box(Range range, int dx, int dy, int dz) {
  Words words;
  for (int x = range(dx).first; x < range(dx).second; ++x)
    for (int y = range(dy).first; y < range(dy).second; ++y)
      for (int z = range(dz).first; z < range(dz).second; ++z) words.push_back(cell(x, y, z));
  return words;
}

WorldShape neighbors(const std::string& name, int ranks) {
  WorldShape shape{name, ranks, with_ghosts * with_ghosts * with_ghosts, {}};
  for (int rank = 0; rank < ranks; ++rank)
    for (int d = 0; d < 27; ++d) {
      const int dx = d / 9 - 1, dy = d / 3 % 3 - 1, dz = d % 3 - 1;
      if (d != 13)
        shape.messages.push_back(
            {rank, (rank + dx + ranks) % ranks, d, box(from, dx, dy, dz), box(into, dx, dy, dz)});
    }
  return shape;
}

}  // namespace

WorldShape own_neighbors() { return neighbors("own_neighbors", 1); }
WorldShape two_neighbors() { return neighbors("two_neighbors", 2); }

WorldShape one_way() {
  return {"one_way",
          3,
          40,
          {{0, 1, 0, {0, 2, 4, 6}, {20, 21, 22, 23}},
           {0, 1, 1, {1, 3}, {25, 27}},
           {0, 2, 0, {8, 9, 2}, {30, 32, 34}},
           {1, 2, 0, {3, 4, 5}, {20, 21, 22}},
           {2, 2, 5, {10, 12}, {39, 37}}}};
}

WorldShape passing_around() {
  WorldShape shape{"passing_around", 3, 6, {}, true};
  for (std::int32_t rank = 0; rank < 3; ++rank)
    shape.messages.push_back({rank, (rank + 1) % 3, 7, {1, 3, 5}, {1, 3, 5}});
  return shape;
}

WorldShape relaying() {
  WorldShape shape{"relaying", 3, 30, {}};
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    const std::int32_t next = (rank + 1) % 3, last = (rank + 2) % 3;
    shape.messages.push_back({rank, last, 0, {0, 2, 3}, {20, 22, 21}, next});
    shape.messages.push_back({rank, last, 1, {5}, {24}, next});
    shape.messages.push_back({rank, next, 2, {1, 4, 7}, {12, 14, 16}});
    shape.messages.push_back({rank, next, 3, {6, 8}, {26, 28}, last});
  }
  return shape;
}

WorldShape joining() {
  return {"joining",
          4,
          30,
          {{0, 2, 0, {0, 2, 4}, {20, 22, 24}, 1},
           {3, 2, 1, {1, 2}, {25, 26}, 1},
           {1, 2, 2, {5, 7}, {27, 28}, 1},
           {1, 0, 0, {3, 5}, {20, 22}},
           {2, 1, 0, {0, 1}, {20, 21}}}};
}

WorldShape passing_twice() {
  WorldShape shape{"passing_twice", 3, 6, {}, true};
  for (std::int32_t rank = 0; rank < 3; ++rank)
    shape.messages.push_back({rank, (rank + 2) % 3, 7, {1, 3, 5}, {1, 3, 5}, (rank + 1) % 3});
  return shape;
}

namespace {

// What a rank has of a message: it sends it, passes it on, or receives it.
void add_message(std::int32_t rank, std::byte* memory, const WorldMessage& message,
                 std::vector<PackedMessage>& in, std::vector<PackedMessage>& out) {
  const auto& [from, to, tag, source, target, via] = message;
  const bool passed_on = via >= 0 && via != from;
  const std::int32_t later = via < 0 ? 0 : 1;  // where it leaves by its last hop
  if (from == rank) {
    out.push_back({passed_on ? via : to, tag, memory, layout_of(source)});
    if (!passed_on) out.back().piece = out.back().step = later;
  }
  if (passed_on && via == rank) {
    PackedMessage passed{from, tag, nullptr, {}};
    passed.layout.add(0, 8 * source.size());
    passed.only_passed_on = true;
    in.push_back(passed);
    passed.peer = to, passed.piece = passed.step = later,
    passed.from = static_cast<std::int32_t>(in.size()) - 1;
    out.push_back(passed);
  }
  if (to == rank) {
    in.push_back({passed_on ? via : from, tag, memory, layout_of(target)});
    in.back().piece = in.back().step = later;
  }
}

}  // namespace

// ---- making

ExchangeWorld::ExchangeWorld(const WorldShape& shape, const SimulatedOptions& options,
                             std::uint64_t seed, const Mutant& mutant, std::int32_t first,
                             std::int32_t last, const Over& over)
    : shape_(shape),
      device_(options, seed),
      over_(over ? over(device_) : nullptr),
      mutated_(over_ ? *over_ : device_, 0),
      alone_(options.patience == 0),
      first_(first) {
  mutated_.mutate(mutant);
  model_.assign(static_cast<std::size_t>(shape.ranks), Values(shape.words, 0));
  for (std::int32_t rank = first; rank < (last < 0 ? shape.ranks : last); ++rank) make(rank);
}

void ExchangeWorld::make(std::int32_t number) {
  Rank& rank = ranks_.emplace_back();
  rank.number = number;
  rank.memory = device_.allocate(MemoryKind::device, 0, 8 * Bytes{shape_.words});
  std::memset(device_.on_device(rank.memory), 0, 8 * shape_.words);
  for (std::size_t k = 0; k < streams_of_a_rank; ++k)
    rank.streams.push_back(device_.make_stream(0));
  rank.event = device_.make_event(0);
  rank.last = rank.waited = rank.streams[0];
  std::vector<PackedMessage> in, out;
  for (const WorldMessage& message : shape_.messages) {
    const auto& [from, to, tag, source, target, via] = message;
    add_message(number, rank.memory, message, in, out);
    if (from == number) rank.sources.insert(rank.sources.end(), source.begin(), source.end());
    if (to == number) rank.targets.insert(rank.targets.end(), target.begin(), target.end());
  }
  rank.source_bytes = bytes_of(rank.memory, rank.sources);
  rank.target_bytes = bytes_of(rank.memory, rank.targets);
  enter(rank, "make");
  rank.exchange =
      std::make_unique<PackedExchange>(mutated_, 0, number, std::move(in), std::move(out));
}

PackedOffers ExchangeWorld::offers() const {
  PackedOffers offers;
  for (std::size_t k = 0; k < ranks_.size(); ++k)
    if (shape_.ranks > 1)
      offers[first_ + static_cast<std::int32_t>(k)] = ranks_[k].exchange->offer();
  return offers;
}

void ExchangeWorld::connect(const PackedOffers& offers) {
  for (Rank& rank : ranks_) rank.exchange->connect(offers);
}

// ---- what a case does: the same steps on all ranks, in streams of their own

void ExchangeWorld::run(std::uint64_t seed) {
  if (std::exchange(ran_, true)) device_.reset(seed);
  begin(seed);
  complete();
}

void ExchangeWorld::begin(std::uint64_t seed) {
  SimulatedRandom random(seed);
  plan(random);
  SimulatedRandom here(seed + static_cast<std::uint64_t>(first_));
  issue(here);
}

void ExchangeWorld::plan(SimulatedRandom& random) {
  using Kind = Step::Kind;
  for (std::uint64_t left = 1 + random.below(3); left > 0; --left) {
    const bool two = !shape_.passes_on && random.below(2) == 0;
    if (!shape_.passes_on || random.below(4) == 0) plan_all(Kind::produce, random);
    plan_all(Kind::start, random);
    const bool beside = two && random.below(2) == 0;
    // what leaves in a later step stays as it is until the wait
    if (two && !beside && !shape_.relays()) plan_all(Kind::produce, random);
    if (two) plan_all(Kind::start, random, false, beside);
    const bool between = random.below(2) == 0;
    plan_all(Kind::wait, random);
    if (between || (!two && !shape_.passes_on)) plan_all(Kind::consume, random);
    if (two) plan_all(Kind::wait, random, between);
    if (two && random.below(2) == 0) plan_all(Kind::consume, random);
  }
}

void ExchangeWorld::plan_all(Step::Kind kind, SimulatedRandom& random, bool behind_consumer,
                             bool beside) {
  if (kind == Step::Kind::start) in_flight_.emplace_back();
  const std::uint64_t salt = random.next();
  for (std::int32_t rank = 0; rank < shape_.ranks; ++rank) {
    const auto values = played(rank, kind, salt);
    const std::size_t stream = random.below(streams_of_a_rank);
    const std::size_t here = static_cast<std::size_t>(rank - first_);
    if (rank < first_ || here >= ranks_.size()) continue;
    Rank& mine = ranks_[here];
    mine.steps.push_back({kind, mine.streams[stream], values, behind_consumer, beside});
  }
  if (kind == Step::Kind::wait) in_flight_.erase(in_flight_.begin());
}

// What the step does to the model. Returns what it writes, or what it should read.
std::shared_ptr<const ExchangeWorld::Values> ExchangeWorld::played(std::int32_t rank,
                                                                   Step::Kind kind,
                                                                   std::uint64_t salt) {
  Values& model = model_[static_cast<std::size_t>(rank)];
  if (kind == Step::Kind::produce)
    for (const WorldMessage& message : shape_.messages)
      if (message.from == rank)
        for (const std::uint32_t word : message.source)
          model[word] = salt + 1000 * static_cast<std::uint64_t>(rank) + word;
  if (kind == Step::Kind::start) {
    for (const WorldMessage& message : shape_.messages)
      if (message.from == rank) {
        Values packed;
        for (const std::uint32_t word : message.source) packed.push_back(model[word]);
        in_flight_.back().push_back(std::move(packed));
      }
    return nullptr;
  }
  if (kind == Step::Kind::wait) {
    std::size_t sent = 0;  // messages are in flight in the order of their senders
    for (std::int32_t from = 0; from < shape_.ranks; ++from)
      for (const WorldMessage& message : shape_.messages) {
        if (message.from != from) continue;
        const Values& packed = in_flight_.front()[sent++];
        for (std::size_t k = 0; message.to == rank && k < packed.size(); ++k)
          model[message.target[k]] = packed[k];
      }
    return nullptr;
  }
  return std::make_shared<const Values>(model);
}

// ---- issuing

void ExchangeWorld::issue(SimulatedRandom& random) {
  std::size_t left = 0;
  for (Rank& rank : ranks_) {
    rank.next = 0;
    left += rank.steps.size();
  }
  while (left > 0) {
    Rank& rank = ranks_[random.below(ranks_.size())];
    if (rank.next == rank.steps.size()) continue;
    issue(rank, rank.steps[rank.next++]);
    --left;
  }
}

// A program orders what it does with its own memory: a step goes behind the last one, writing and
// reading behind the last unpacking. An exchange orders its own.
void ExchangeWorld::issue(Rank& rank, const Step& step) {
  using Kind = Step::Kind;
  if (step.kind == Kind::start) return start(rank, step);
  if (step.kind == Kind::wait) return wait(rank, step);
  follow(rank, step.stream, rank.last);
  follow(rank, step.stream, rank.waited);
  step.kind == Kind::produce ? write(rank, step) : read(rank, step);
  rank.last = step.stream;
}

void ExchangeWorld::start(Rank& rank, const Step& step) {
  if (!step.beside) rank.before_start = rank.last;
  follow(rank, step.stream, rank.before_start);
  enter(rank, "start_on");
  rank.exchange->start_on(step.stream);
  rank.last = step.stream;
}

void ExchangeWorld::wait(Rank& rank, const Step& step) {
  if (step.behind_consumer) follow(rank, step.stream, rank.last);
  enter(rank, "wait_on");
  rank.exchange->wait_on(step.stream);
  rank.waited = step.stream;
}

void ExchangeWorld::follow(Rank& rank, DeviceStream stream, DeviceStream behind) {
  if (stream == behind) return;
  device_.record(behind, rank.event);
  device_.wait_event(stream, rank.event);
}

void ExchangeWorld::write(Rank& rank, const Step& step) {
  device_.launch(step.stream, {}, rank.source_bytes,
                 [at = device_.on_device(rank.memory), &rank, values = step.values] {
                   for (const std::uint32_t word : rank.sources)
                     std::memcpy(at + 8 * word, &(*values)[word], 8);
                 });
}

void ExchangeWorld::read(Rank& rank, const Step& step) {
  device_.launch(step.stream, rank.target_bytes, {},
                 [this, at = device_.on_device(rank.memory), &rank, values = step.values] {
                   compare(at, rank.targets, *values);
                 });
}

void ExchangeWorld::compare(const std::byte* memory, const Words& places, const Values& values) {
  for (const std::uint32_t word : places)
    wrong_ += std::memcmp(memory + 8 * word, &values[word], 8) != 0;
}

// The host waits for everything, and looks at all of it.
void ExchangeWorld::complete() {
  for (Rank& rank : ranks_)
    for (const DeviceStream stream : rank.streams) device_.synchronize(stream);
  for (std::size_t k = 0; k < ranks_.size(); ++k) {
    Rank& rank = ranks_[k];
    compare(device_.on_device(rank.memory), rank.targets,
            model_[static_cast<std::size_t>(first_) + k]);
    rank.steps.clear();
    rank.last = rank.waited = rank.streams[0];
  }
}

void ExchangeWorld::finish(std::uint64_t seed) {
  device_.reset(seed);
  begin(seed);
  std::size_t polls = 0;
  const auto check = [&] {
    ::sched_yield();
    if (alone_ && ++polls == most_polls) throw std::runtime_error("an exchange does not end");
  };
  for (Rank& rank : ranks_) {
    enter(rank, "finish");
    rank.exchange->finish(check);
  }
  complete();
}

}  // namespace tonari::test
