// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "device/program.hpp"
#include "device/simulated_device.hpp"
#include "support/errors.hpp"

namespace tonari::test {
namespace {

TEST(SimulatedCapture, RecordsWorkAndRunsItAtEachLaunch) {
  Program p;
  int runs = 0;
  p.device.begin_capture(p.first);
  EXPECT_TRUE(p.device.captures(p.first));
  EXPECT_FALSE(p.device.captures(p.second));
  p.device.launch(p.first, {}, {}, [&] { ++runs; });
  const auto graph = p.device.end_capture(p.first);
  EXPECT_FALSE(p.device.captures(p.first));
  p.let_run();
  EXPECT_EQ(runs, 0);
  p.device.launch(p.first, graph);
  p.device.launch(p.second, graph);
  p.let_run();
  EXPECT_EQ(runs, 2);
}

// The two branches run in any order, and what joins them runs last.
TEST(SimulatedCapture, TakesStreamsAlongThatWaitForItsEvents) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Program p(alone(), seed);
    std::string order;
    const auto note = [&](DeviceStream stream, char what) {
      p.device.launch(stream, {}, {}, [&order, what] { order += what; });
    };
    const DeviceEvent back = p.device.make_event(0);
    p.device.begin_capture(p.first);
    note(p.first, 'a');
    p.device.record(p.first, p.event);
    p.device.wait_event(p.second, p.event);
    EXPECT_TRUE(p.device.captures(p.second));
    note(p.first, 'b');
    note(p.second, 'c');
    p.device.record(p.second, back);
    p.device.wait_event(p.first, back);
    note(p.first, 'd');
    const auto graph = p.device.end_capture(p.first);
    EXPECT_FALSE(p.device.captures(p.second));
    p.device.launch(p.first, graph);
    p.let_run();
    orders.insert(order);
  }
  EXPECT_EQ(orders, (std::set<std::string>{"abcd", "acbd"}));
}

TEST(SimulatedCapture, EndsWhereAllHasJoined) {
  Program p;
  p.device.begin_capture(p.first);
  p.device.record(p.first, p.event);
  p.device.wait_event(p.second, p.event);
  p.set(p.second, p.memory, 8, 1);
  expect_sentence(error_of([&] { p.device.end_capture(p.second); }), Errc::active,
                  {"ends at the stream at which it began"});
  expect_sentence(error_of([&] { p.device.end_capture(p.first); }), Errc::active,
                  {"does not come before its end"});
  EXPECT_FALSE(p.device.captures(p.first));
  EXPECT_FALSE(p.device.captures(p.second));
  expect_sentence(error_of([&] { p.device.end_capture(p.first); }), Errc::active,
                  {"the stream is not captured"});
}

// Each of these is refused at once, and breaks the capture.
template <class Work>
void expect_broken(const std::string& sentence, Work work) {
  Program p;
  p.device.record(p.second, p.event);
  p.device.begin_capture(p.first);
  expect_sentence(error_of([&] { work(p); }), Errc::active, {sentence});
  expect_sentence(error_of([&] { p.device.end_capture(p.first); }), Errc::active,
                  {"the capture was broken by"});
}

TEST(SimulatedCapture, IsBrokenByWhatMayNotBeCaptured) {
  expect_broken("not allowed while", [](Program& p) { p.device.synchronize(p.first); });
  expect_broken("not allowed while",
                [](Program& p) { p.device.allocate(MemoryKind::device, 0, 8); });
  expect_broken("not allowed while", [](Program& p) { p.device.free(p.memory); });
  expect_broken("cannot wait for an event that is not captured",
                [](Program& p) { p.device.wait_event(p.first, p.event); });
  expect_broken("not allowed while", [](Program& p) {
    p.device.record(p.first, p.event);
    p.device.query(p.event);
  });
  expect_broken("not allowed while", [](Program& p) {
    p.device.record(p.first, p.event);
    p.device.synchronize(p.event);
  });
  expect_broken("an event of another capture", [](Program& p) {
    p.device.begin_capture(p.second);
    p.device.record(p.second, p.event);
    p.device.wait_event(p.first, p.event);
  });
}

TEST(SimulatedCapture, OtherStreamsGoOn) {
  Program p;
  p.device.record(p.second, p.event);
  p.device.begin_capture(p.first);
  p.set(p.second, p.memory, 8, 4);
  p.device.synchronize(p.second);
  EXPECT_TRUE(p.device.query(p.event));
  EXPECT_EQ(p.value(p.memory), 4);
  EXPECT_EQ(p.device.end_capture(p.first)->nodes.size(), 0u);
}

TEST(SimulatedCapture, MistakesAreSentences) {
  Program p;
  const auto mistake = [](auto work, Errc code, const std::string& sentence) {
    expect_sentence(error_of(work), code, {sentence});
  };
  p.device.begin_capture(p.first);
  mistake([&] { p.device.begin_capture(p.first); }, Errc::active, "is captured already");
  mistake([&] { p.device.end_stream(p.first); }, Errc::active, "cannot be ended");
  p.device.record(p.first, p.event);
  p.device.end_capture(p.first);
  mistake([&] { p.device.wait_event(p.second, p.event); }, Errc::active,
          "an event of a capture that has ended");
  SimulatedOptions options = alone();
  options.lacks = {Ability::capture_of_flags};
  Program without(options);
  const FlagValue flag{reinterpret_cast<std::uint64_t*>(without.memory), 1};
  without.device.begin_capture(without.first);
  mistake([&] { without.device.write_flags(without.first, {&flag, 1}); }, Errc::argument,
          "captured work of this device does not write flags");
}

TEST(SimulatedCapture, FreedMemoryIsFoundAtTheLaunch) {
  Program p;
  p.device.begin_capture(p.first);
  p.set(p.first, p.memory, 8, 4);
  const auto graph = p.device.end_capture(p.first);
  p.device.free(p.memory);
  expect_sentence(error_of([&] {
                    p.device.launch(p.first, graph);
                    p.let_run();
                  }),
                  Errc::argument, {"memory that was freed"});
}

}  // namespace
}  // namespace tonari::test
