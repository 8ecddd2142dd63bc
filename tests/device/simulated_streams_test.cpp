// SPDX-License-Identifier: BSD-3-Clause
#include "device/simulated_streams.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "device/program.hpp"
#include "support/errors.hpp"

namespace tonari::test {
namespace {

constexpr std::uint64_t seeds = 200;

// What two streams leave in a byte, over many seeds.
template <class Work>
std::set<int> outcomes(Work work) {
  std::set<int> outcomes;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Program p(alone(false), seed);
    p.fill(p.memory, Program::bytes, 0);
    work(p);
    p.let_run();
    outcomes.insert(p.value(p.memory));
  }
  return outcomes;
}

TEST(SimulatedStreams, KeepTheirOwnOrder) {
  EXPECT_EQ(outcomes([](Program& p) {
              for (int value = 1; value < 4; ++value) p.set(p.first, p.memory, 8, value);
            }),
            std::set{3});
}

TEST(SimulatedStreams, RunInEveryOrderThatNothingForbids) {
  EXPECT_EQ(outcomes([](Program& p) {
              p.set(p.first, p.memory, 8, 1);
              p.set(p.second, p.memory, 8, 2);
            }),
            (std::set{1, 2}));
}

TEST(SimulatedStreams, WaitForEvents) {
  EXPECT_EQ(outcomes([](Program& p) {
              p.set(p.first, p.memory, 8, 1);
              p.device.record(p.first, p.event);
              p.device.wait_event(p.second, p.event);
              p.set(p.second, p.memory, 8, 2);
            }),
            std::set{2});
}

TEST(SimulatedStreams, WaitForTheLastRecordBeforeTheWait) {
  EXPECT_EQ(outcomes([](Program& p) {
              p.device.record(p.first, p.event);
              p.device.wait_event(p.second, p.event);
              p.set(p.first, p.memory, 8, 1);
              p.device.record(p.first, p.event);
              p.set(p.second, p.memory, 8, 2);
            }),
            (std::set{1, 2}));
}

TEST(SimulatedStreams, WaitForFlags) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::pinned})
    EXPECT_EQ(outcomes([kind](Program& p) {
                std::byte* const flags = p.device.allocate(kind, 0, 16);
                std::memset(p.device.on_device(flags), 0, 16);
                auto* const word = reinterpret_cast<std::uint64_t*>(flags);
                const FlagValue both[] = {{word, 4}, {word + 1, 5}};
                const FlagValue less[] = {{word + 1, 3}, {word, 4}};
                p.device.wait_flags(p.second, less);
                p.set(p.second, p.memory, 8, 2);
                p.set(p.first, p.memory, 8, 1);
                p.device.write_flags(p.first, both);
              }),
              std::set{2});
}

// A slow copy: what overwrites its source meanwhile shows in part of it.
TEST(SimulatedStreams, CopiesTakeTime) {
  std::set<std::set<int>> mixtures;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Program p(alone(false), seed);
    p.fill(p.memory, 64, 1);
    p.device.copy(p.first, p.memory + 64, p.memory, 64);
    p.set(p.second, p.memory, 64, 2);
    p.let_run();
    std::set<int> values;
    for (int k = 0; k < 64; ++k) values.insert(p.value(p.memory + 64 + k));
    mixtures.insert(values);
  }
  EXPECT_EQ(mixtures, (std::set<std::set<int>>{{1}, {2}, {1, 2}}));
}

TEST(SimulatedStreams, RunTheSameWithTheSameSeed) {
  const auto order = [](std::uint64_t seed) {
    Program p(alone(), seed);
    std::string order;
    for (int k = 0; k < 10; ++k) {
      p.device.launch(p.first, {}, {}, [&order] { order += 'a'; });
      p.device.launch(p.second, {}, {}, [&order] { order += 'b'; });
    }
    p.let_run();
    return order;
  };
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    EXPECT_EQ(order(seed), order(seed));
    orders.insert(order(seed));
  }
  EXPECT_GT(orders.size(), seeds / 2);
}

// ---- what nothing orders is found in every order

template <class Work>
void expect_unordered(Work work) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Program p(alone(), seed);
    p.fill(p.memory, Program::bytes, 0);
    expect_sentence(error_of([&] {
                      work(p);
                      p.let_run();
                    }),
                    Errc::buffers, {"nothing orders that behind what stream"});
  }
}

TEST(SimulatedOrder, TwoWritesNeedOne) {
  expect_unordered([](Program& p) {
    p.set(p.first, p.memory, 8, 1);
    p.set(p.second, p.memory + 7, 8, 2);
  });
}

TEST(SimulatedOrder, AReadAndAWriteNeedOne) {
  expect_unordered([](Program& p) {
    p.device.copy(p.first, p.memory + 64, p.memory, 8);
    p.set(p.second, p.memory, 8, 2);
  });
}

TEST(SimulatedOrder, AnEventCoversWhatIsBeforeIt) {
  expect_unordered([](Program& p) {
    p.device.record(p.first, p.event);
    p.set(p.first, p.memory, 8, 1);
    p.device.wait_event(p.second, p.event);
    p.set(p.second, p.memory, 8, 2);
  });
}

TEST(SimulatedOrder, WaitsOfTheHostAndEventsAndFlagsAreOrders) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Program p(alone(), seed);
    p.fill(p.memory, Program::bytes, 0);  // the host waits
    p.device.copy(p.second, p.memory + 64, p.memory, 8);
    p.device.copy(p.first, p.memory + 128, p.memory, 8);  // two reads
    p.device.record(p.second, p.event);
    p.device.wait_event(p.first, p.event);
    p.set(p.first, p.memory, 8, 1);
    p.device.record(p.first, p.event);
    while (!p.device.query(p.event)) {
    }
    p.set(p.second, p.memory, 8, 1);
    p.let_run();
  }
}

// ---- mistakes

TEST(SimulatedStreams, ThatWaitInVainAreTold) {
  Program p;
  p.device.record(p.second, p.event);
  p.never_runs_by_itself();
  expect_sentence(error_of([&] { p.device.synchronize(p.first); }), Errc::internal,
                  {"no stream can go on: stream 1 waits for a flag at byte 0 of an allocation of 8 "
                   "bytes, which is 0 and should become 1"});
}

// What waits in one stream of a device that has one queue holds up all of them.
TEST(SimulatedStreams, MayShareOneQueue) {
  for (const bool one_queue : {false, true}) {
    SimulatedOptions options = alone();
    options.one_queue = one_queue;
    Program p(options);
    p.set(p.second, p.memory + 8, 1, 1);
    p.never_runs_by_itself();
    p.set(p.second, p.memory, 1, 7);
    const auto stuck = tonari::error_of([&] { p.device.synchronize(p.second); });
    EXPECT_EQ(stuck.has_value(), one_queue);
    p.let_run();
    EXPECT_EQ(p.value(p.memory), 7);
    EXPECT_EQ(p.value(p.memory + 8), 1);
  }
}

TEST(SimulatedStreams, AnErrorStays) {
  Program p;
  const Error error = error_of([&] {
    p.set(p.first, p.memory, 8, 1);
    p.set(p.second, p.memory, 8, 1);
    p.let_run();
  });
  EXPECT_EQ(error.code(), Errc::buffers);
  EXPECT_STREQ(error_of([&] { p.set(p.first, p.memory, 8, 1); }).what(), error.what());
  p.device.reset(1);
  p.fill(p.memory, 8, 2);
  EXPECT_EQ(p.value(p.memory), 2);
}

TEST(SimulatedStreams, MistakesAreSentences) {
  Program p(two_devices());
  const auto mistake = [](auto work, const std::string& sentence) {
    expect_sentence(error_of(work), Errc::argument, {sentence});
  };
  const DeviceStream other = p.device.make_stream(1);
  const DeviceEvent fresh = p.device.make_event(0);
  mistake([&] { p.device.wait_event(p.first, fresh); }, "never recorded cannot be waited for");
  mistake([&] { p.device.query(fresh); }, "never recorded cannot be asked for");
  mistake([&] { p.device.record(other, fresh); }, "cannot be recorded in a stream of device 1");
  p.device.end_event(fresh);
  mistake([&] { p.device.record(p.first, fresh); }, "an event that was ended");
  const Move move{p.memory, p.memory + 8, 8, 1, 0, 0};
  const DeviceTable table = p.device.make_table(0, {&move, 1});
  mistake([&] { p.device.move(other, table); }, "a table of device 0 in a stream of device 1");
  p.device.free_table(table);
  mistake([&] { p.device.move(p.first, table); }, "a table that was freed");
  p.device.end_stream(other);
  mistake([&] { p.device.synchronize(other); }, "a stream that was ended");
  mistake([&] { p.device.end_stream({0}); }, "that no device made");
  mistake([&] { p.device.make_stream(2); }, "there is no device 2");
}

TEST(SimulatedStreams, AnEndedOneDoesWhatItHolds) {
  Program p;
  p.never_runs_by_itself();
  p.set(p.first, p.memory, 8, 6);
  p.device.record(p.first, p.event);
  p.device.end_stream(p.first);
  const DeviceStream fresh = p.device.make_stream(0);
  EXPECT_FALSE(fresh == p.first);
  *p.gate = 1;
  p.device.synchronize(p.event);
  EXPECT_EQ(p.value(p.memory), 6);
}

TEST(SimulatedStreams, HaveALimit) {
  Program p;
  const Error error = error_of([&] {
    for (int k = 0; k < 100; ++k) p.device.make_stream(0);
  });
  expect_sentence(error, Errc::memory, {"at most 31 streams"});
}

TEST(SimulatedFlags, BeginAgainAtZero) {
  Program p;
  auto* const word = reinterpret_cast<std::uint64_t*>(p.device.allocate(MemoryKind::pinned, 0, 8));
  const FlagValue last{word, ~std::uint64_t{0}};
  p.device.write_flags(p.first, {&last, 1});
  p.device.synchronize(p.first);
  const FlagValue next{word, 1};
  p.device.wait_flags(p.first, {&next, 1});
  expect_sentence(error_of([&] { p.device.synchronize(p.first); }), Errc::internal,
                  {"no stream can go on"});
  p.device.write_flags(p.second, {&next, 1});
  p.let_run();
  p.device.wait_flags(p.first, {&last, 1});
  p.let_run();
}

TEST(SimulatedFlags, MistakesAreSentences) {
  SimulatedOptions options = alone();
  options.lacks = {Ability::flags_in_order};
  Program p, without(options);
  const auto mistake = [](Program& program, std::byte* at, const std::string& sentence) {
    const FlagValue flag{reinterpret_cast<std::uint64_t*>(at), 1};
    for (const auto set : {&Device::write_flags, &Device::wait_flags})
      expect_sentence(error_of([&] { (program.device.*set)(program.first, {&flag, 1}); }),
                      Errc::argument, {sentence});
  };
  mistake(without, without.memory, "do not write flags");
  mistake(p, p.memory + 4, "a flag at byte 4 of an allocation is not aligned");
  mistake(p, p.memory + Program::bytes, "outside of it");
  mistake(p, p.device.allocate(MemoryKind::managed, 0, 8), "cannot be in managed memory");
}

// ---- tables

TEST(SimulatedTables, MoveAllPiecesAtOnce) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Program p(alone(), seed);
    for (int k = 0; k < 8; ++k) p.fill(p.memory + 8 * k, 8, k + 1);
    const Move moves[] = {{p.memory + 64, p.memory, 8, 4, 8, 16},        // every second one
                          {p.memory + 120, p.memory + 8, 8, 4, -8, 16},  // the others, backwards
                          {p.memory + 128, p.memory, 0, 3, 8, 8}};
    const DeviceTable table = p.device.make_table(0, moves);
    p.device.move(p.first, table);
    p.device.synchronize(p.first);
    std::vector<int> values;
    for (int k = 0; k < 8; ++k) values.push_back(p.value(p.memory + 64 + 8 * k));
    EXPECT_EQ(values, (std::vector{1, 3, 5, 7, 8, 6, 4, 2}));
  }
}

TEST(SimulatedTables, HaveMovesThatMayRunAtOnce) {
  Program p;
  const auto refused = [&](const std::vector<Move>& moves, const std::string& sentence) {
    expect_sentence(error_of([&] { p.device.make_table(0, moves); }), Errc::buffers, {sentence});
  };
  refused({{p.memory, p.memory + 64, 8, 1, 0, 0}, {p.memory + 72, p.memory + 7, 8, 1, 0, 0}},
          "moves 0 and 1 of a table touch the same bytes");
  refused({{p.memory, p.memory + 64, 8, 2, 4, 8}}, "writes a byte twice");
}

TEST(SimulatedTables, StayWhileWorkUsesThem) {
  Program p;
  const Move move{p.memory, p.memory + 8, 8, 1, 0, 0};
  const DeviceTable table = p.device.make_table(0, {&move, 1});
  p.never_runs_by_itself();
  p.device.move(p.first, table);
  expect_sentence(error_of([&] { p.device.free_table(table); }), Errc::active,
                  {"a table cannot be freed while work in a stream uses it"});
  p.let_run();
  p.device.free_table(table);
  const DeviceTable late = p.device.make_table(0, {&move, 1});
  p.device.free(p.memory);
  expect_sentence(error_of([&] {
                    p.device.move(p.first, late);
                    p.device.synchronize(p.first);
                  }),
                  Errc::argument, {"memory that was freed"});
}

}  // namespace
}  // namespace tonari::test
