// SPDX-License-Identifier: BSD-3-Clause
#include "engine/wait/progress.hpp"

#include <chrono>
#include <utility>

namespace tonari {
namespace {

// After this many rounds without completion the thread sleeps between rounds, because the program
// may need the core to compute.
constexpr int patient_rounds = 200;
constexpr std::chrono::microseconds nap{20};

}  // namespace

ProgressThread::ProgressThread() : thread_([this] { run(); }) {}

ProgressThread::~ProgressThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  comes_.notify_one();
  thread_.join();
}

void ProgressThread::drive(Job& job) {
  {
    const std::lock_guard lock(mutex_);
    job.error = nullptr;
    job.done = false;
    job.next = std::exchange(handed_over_, &job);
  }
  comes_.notify_one();
}

void ProgressThread::wait(const Job& job) {
  std::unique_lock lock(mutex_);
  goes_.wait(lock, [&] { return job.done.load(); });
}

void ProgressThread::ask(const std::function<void()>& question) {
  std::unique_lock lock(mutex_);
  question_ = &question;
  comes_.notify_one();
  goes_.wait(lock, [&] { return question_ != &question; });
}

// Sleeps only if nothing is driven.
void ProgressThread::take_new() {
  std::unique_lock lock(mutex_);
  if (!driven_) comes_.wait(lock, [&] { return stop_ || handed_over_ || question_; });
  if (question_) {
    (*std::exchange(question_, nullptr))();
    goes_.notify_all();
  }
  while (handed_over_) {
    Job* job = handed_over_;
    handed_over_ = job->next;
    job->next = std::exchange(driven_, job);
  }
}

void ProgressThread::finish(Job& job, std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);  // a waiting thread either sees it or is woken
    job.error = std::move(error);
    job.done = true;  // from here on the job may be destroyed
  }
  goes_.notify_all();
}

// Returns whether any was completed.
bool ProgressThread::step_all() {
  bool any = false;
  for (Job** link = &driven_; *link;) {
    Job& job = **link;
    std::exception_ptr error;
    bool complete = true;
    try {
      complete = job.exchange->test();
    } catch (...) {
      error = std::current_exception();
    }
    if (complete)
      *link = job.next, finish(job, std::move(error)), any = true;
    else
      link = &job.next;
  }
  return any;
}

void ProgressThread::run() {
  for (int idle = 0;;) {
    take_new();
    if (!driven_) {
      if (stop_) return;
      continue;  // only a question
    }
    if (step_all())
      idle = 0;
    else if (idle < patient_rounds)
      ++idle, std::this_thread::yield();
    else
      std::this_thread::sleep_for(nap);
  }
}

void DrivenExchange::start() {
  inner().start();
  job_.exchange = &inner();
  thread_->drive(job_);
}

bool DrivenExchange::test() {
  if (!job_.done) return false;
  rethrow();
  return true;
}

void DrivenExchange::wait() {
  thread_->wait(job_);
  rethrow();
}

// The thread looks, since nobody else may touch the exchange; it tells of long waits itself.
void DrivenExchange::awaits(Awaited& awaited) const {
  thread_->ask([&] {
    if (!job_.done) inner().awaits(awaited);
  });
}

void DrivenExchange::rethrow() const {
  if (job_.error) std::rethrow_exception(job_.error);
}

}  // namespace tonari
