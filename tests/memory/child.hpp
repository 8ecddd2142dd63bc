// SPDX-License-Identifier: BSD-3-Clause
// Another process, to share with and to kill.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <utility>

namespace tonari::test {

// One end of a line between two processes.
class Line {
 public:
  explicit Line(int socket) : socket_(socket) {}
  Line(const Line&) = delete;
  ~Line() { close(socket_); }
  template <class T>
  void tell(const T& value) {
    if (::send(socket_, &value, sizeof value, MSG_NOSIGNAL) != sizeof value)
      throw std::runtime_error("the other process has ended");
  }
  template <class T = char>
  T hear() {
    T value;
    if (::recv(socket_, &value, sizeof value, MSG_WAITALL) != sizeof value)
      throw std::runtime_error("the other process has ended");
    return value;
  }

 private:
  int socket_;
};

// A forked process that runs work(line). Its expectations count: finish() fails where one of them
// did, and skips where it skipped.
class Child {
 public:
  template <class Work>
  explicit Child(Work work) : Child(sockets(), std::move(work)) {}
  ~Child() {
    if (!waited_) kill();
  }
  pid_t process() const { return process_; }
  Line& line() { return line_; }

  void finish() {
    const int status = wait();
    if (WIFEXITED(status) && WEXITSTATUS(status) == skipped) GTEST_SKIP();
    EXPECT_EQ(status, 0) << "of the child";
  }
  void kill() {
    ::kill(process_, SIGKILL);
    EXPECT_TRUE(WIFSIGNALED(wait()));
  }
  int wait() {
    int status = 0;
    EXPECT_EQ(waitpid(process_, &status, 0), process_);
    waited_ = true;
    return status;
  }

 private:
  static constexpr int skipped = 77;

  static std::pair<int, int> sockets() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::runtime_error("no socketpair");
    return {ends[0], ends[1]};
  }
  template <class Work>
  Child(std::pair<int, int> ends, Work work) : line_(ends.first), process_(fork()) {
    if (process_ != 0) {
      close(ends.second);
      return;
    }
    int status = 2;
    try {
      close(ends.first);
      Line line(ends.second);
      const bool failed_before = testing::Test::HasFailure();
      work(line);
      status = testing::Test::HasFailure() && !failed_before ? 1
               : testing::Test::IsSkipped()                  ? skipped
                                                             : 0;
    } catch (const std::exception& e) {
      std::printf("in the child: %s\n", e.what());
    }
    std::fflush(stdout);
    _exit(status);
  }

  Line line_;
  pid_t process_;
  bool waited_ = false;
};

}  // namespace tonari::test
