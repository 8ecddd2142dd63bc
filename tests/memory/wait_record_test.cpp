// SPDX-License-Identifier: BSD-3-Clause
#include "memory/wait_record.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "memory/child.hpp"
#include "memory/process.hpp"

namespace tonari {
namespace {

WaitRecord record_for(std::int32_t rank, const char* exchange) {
  WaitRecord record;
  record.rank = rank, record.ranks = 2;
  record.seen = steady_seconds(), record.since = record.seen - 5;
  std::strcpy(record.exchange.data(), exchange);
  return record;
}

TEST(WaitRecord, AnotherProcessSeesTheLastOneUntilItIsHidden) {
  test::Child child([](test::Line& line) {
    line.hear();
    show_wait(record_for(3, "alltoall"));
    line.tell('!'), line.hear();
    show_wait(record_for(4, "a call"));
    line.tell('!'), line.hear();
    hide_wait();
    line.tell('!'), line.hear();
  });
  EXPECT_FALSE(shown_wait(child.process())) << "nothing was shown yet";
  const auto next = [&] {
    child.line().tell('!'), child.line().hear();
    return shown_wait(child.process());
  };
  const std::optional<WaitRecord> first = next(), second = next();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->rank, 3);
  EXPECT_EQ(first->ranks, 2);
  EXPECT_STREQ(first->exchange.data(), "alltoall");
  EXPECT_NEAR(first->seen - first->since, 5, 1e-6);
  EXPECT_LT(steady_seconds() - first->seen, 60) << "the clock is the same";
  EXPECT_EQ(second->rank, 4);
  EXPECT_STREQ(second->exchange.data(), "a call");
  EXPECT_FALSE(next());
  child.line().tell('!');
  child.finish();
  EXPECT_FALSE(shown_wait(child.process())) << "it has ended";
}

// What fork() has copied shows a wait of the parent.
TEST(WaitRecord, AChildShowsItsOwn) {
  show_wait(record_for(7, "the parent's"));
  test::Child child([](test::Line& line) {
    show_wait(record_for(8, "the child's"));
    line.tell('!'), line.hear();
  });
  child.line().hear();
  EXPECT_EQ(shown_wait(this_process())->rank, 7);
  EXPECT_EQ(shown_wait(child.process())->rank, 8);
  child.line().tell('!');
  child.finish();
  hide_wait();
}

TEST(ProcessState, IsTheSystems) {
  EXPECT_EQ(process_state(this_process()), 'R');
  test::Child child([](test::Line& line) { line.hear(); });
  kill(static_cast<pid_t>(child.process()), SIGSTOP);
  int status = 0;
  waitpid(static_cast<pid_t>(child.process()), &status, WUNTRACED);
  EXPECT_EQ(process_state(child.process()), 'T');
  kill(static_cast<pid_t>(child.process()), SIGCONT);
  child.line().tell('!');
  child.finish();
  EXPECT_EQ(process_state(0), 0);
}

}  // namespace
}  // namespace tonari
