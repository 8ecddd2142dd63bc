// SPDX-License-Identifier: BSD-3-Clause
// An exchange whose use the report tells (TONARI_REPORT). One that is not to be reported is not
// wrapped, so that it costs nothing.
#pragma once

#include <memory>
#include <utility>

#include "engine/comm/usage.hpp"
#include "engine/wait/call_time.hpp"
#include "engine/wait/wrapped_exchange.hpp"

namespace tonari {

class RecordedExchange final : public WrappedExchange {
 public:
  explicit RecordedExchange(Usage* usage = nullptr) : WrappedExchange(nullptr), usage_(usage) {}
  // First, and once. The exchange does not run. If this throws, the caller still has it.
  void wrap(std::unique_ptr<Exchange>&& exchange) {
    hold(std::shared_ptr<Exchange>(std::move(exchange)));
  }
  // From the next start on it counts for this one, and keeps it; null: for none.
  void count_for(std::shared_ptr<Usage> usage) {
    usage_ = usage.get();
    kept_ = std::move(usage);
  }

  void start() override {
    idle_ = inner().nothing();
    weight_ = usage_ ? usage_->start() : 0;
    enter_first();
    if (!idle_) inner().start();
    leave(false);
    if (usage_ && !idle_) usage_->sends(static_cast<std::uint64_t>(inner().messages()), bytes());
  }
  bool test() override {
    enter();
    const bool complete = idle_ || inner().test();
    leave(true);
    if (complete) end();
    return complete;
  }
  void wait() override {
    enter();
    if (!idle_) inner().wait();
    leave(true);
    end();
  }
  // Ranks that move nothing have starts, too.
  bool nothing() const override { return false; }
  bool proceeds_by_itself() const override { return idle_ || inner().proceeds_by_itself(); }

 private:
  bool timed() const { return weight_ > 0; }
  void enter_first() {
    if (timed()) time_.begin(), time_.enter(usage_->now());
  }
  void enter() {
    if (timed()) time_.enter(usage_->now());
  }
  void leave(bool looked) {
    if (timed()) time_.leave(usage_->now(), looked);
  }
  void end() {
    if (timed()) usage_->took(time_.seconds(), std::exchange(weight_, 0));
  }

  Usage* usage_;
  std::shared_ptr<Usage> kept_;
  CallTime time_;
  double weight_ = 0;  // of the start under way, if it is timed
  bool idle_ = false;  // the exchange has nothing to do on this rank
};

}  // namespace tonari
