// SPDX-License-Identifier: BSD-3-Clause
// A thread that drives exchanges while the program computes.
//
// The program's thread starts an exchange and hands it over under the mutex. From then on only the
// progress thread touches it, until it hands it back by `done`. So nothing in an exchange itself
// needs to be atomic.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/wait/wrapped_exchange.hpp"

namespace tonari {

// Exists as long as someone holds it. Needs MPI_THREAD_MULTIPLE. It is destroyed only when nothing
// is being driven.
class ProgressThread {
 public:
  struct Job {
    Exchange* exchange = nullptr;
    std::exception_ptr error;  // what test threw
    std::atomic<bool> done = true;
    Job* next = nullptr;
  };

  ProgressThread();
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  // The exchange was started. The job must stay where it is until it is done. Allocates nothing.
  void drive(Job& job);
  void wait(const Job& job);
  // The thread runs this between its looks; returns when it has. It must not throw.
  void ask(const std::function<void()>& question);

 private:
  void run();
  void take_new();
  bool step_all();
  void finish(Job& job, std::exception_ptr error);

  std::mutex mutex_;
  std::condition_variable comes_, goes_;
  Job* handed_over_ = nullptr;  // guarded, like stop_ and question_
  const std::function<void()>* question_ = nullptr;
  bool stop_ = false;
  Job* driven_ = nullptr;  // the thread's own
  std::thread thread_;     // last: it sees the rest complete
};

// Wraps an exchange, which the thread drives from start to completion.
class DrivenExchange final : public WrappedExchange {
 public:
  DrivenExchange(std::shared_ptr<Exchange> exchange, std::shared_ptr<ProgressThread> thread)
      : WrappedExchange(std::move(exchange)), thread_(std::move(thread)) {}
  ~DrivenExchange() override { thread_->wait(job_); }

  void start() override;
  bool test() override;
  void wait() override;
  Pause pause() const override { return Pause::sleep; }
  bool proceeds_by_itself() const override { return true; }
  void awaits(Awaited& awaited) const override;

 private:
  void rethrow() const;

  std::shared_ptr<ProgressThread> thread_;
  ProgressThread::Job job_;
};

}  // namespace tonari
