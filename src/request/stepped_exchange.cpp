// SPDX-License-Identifier: BSD-3-Clause
#include "request/stepped_exchange.hpp"

namespace tonari {
SteppedExchange::SteppedExchange(std::vector<std::unique_ptr<LocalWork>> works, std::size_t steps)
    : works_(std::move(works)), step_(steps) {
  steps_.reserve(steps);
}

std::string SteppedExchange::report_steps(ChoiceReport& report) const {
  const bool one = steps_.size() == 1;
  ChoiceReport all;
  all.reason = "fixed rule";
  std::string lines, names;
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    const ChoiceReport& step = steps_[s]->chosen;
    lines += text(one ? "" : text("hop ", s + 1, ": "), steps_[s]->describe_now());
    names += (s == 0 ? "" : ", ") + step.algorithm;
    if (s == 0)
      all = step;
    else
      all.add(step);
  }
  if (!one) all.algorithm = report.algorithm, all.variant = names;
  report = std::move(all);
  for (const auto& other : beside_) lines += text("beside it: ", other->description());
  return lines;
}

void SteppedExchange::check_start() const {
  for_all([](const Exchange& exchange) { exchange.check_start(); });
}

void SteppedExchange::start() {
  for (const auto& other : beside_) other->to_start().start();
  ended_ = 0;
  for (const auto& work : works_) work->begin();
  step_ = 0;
  begin_step();
  for (const auto& work : works_) work->meanwhile();
  end_if_complete();
}

// Goes on to the first step in which this rank has something to do.
void SteppedExchange::begin_step() {
  for (; step_ < steps_.size(); ++step_) {
    Exchange& next = steps_[step_]->to_start();
    if (next.nothing()) continue;
    for (const auto& work : works_) work->pack(step_);
    return next.start();
  }
}

void SteppedExchange::end_step() {
  for (const auto& work : works_) work->unpack(step_);
  ++step_;
  begin_step();
  end_if_complete();
}

void SteppedExchange::end_if_complete() {
  if (step_ < steps_.size()) return;
  for (const auto& work : works_) work->end();
}

bool SteppedExchange::test() {
  while (stepping()) {
    if (!step().test()) return false;
    end_step();
  }
  while (ended_ < beside_.size() && beside_[ended_]->exchange->test()) ++ended_;
  return ended_ == beside_.size();
}

void SteppedExchange::wait() {
  while (stepping()) {
    step().wait();
    end_step();
  }
  for (; ended_ < beside_.size(); ++ended_) beside_[ended_]->exchange->wait();
}

Pause SteppedExchange::pause() const {
  return stepping() ? step().pause() : beside_[ended_]->exchange->pause();
}

void SteppedExchange::rebind(Shifts shifts) {
  for (const auto& work : works_) work->rebind(shifts);
  for_all([&](Exchange& exchange) { exchange.rebind(shifts); });
}

int SteppedExchange::messages() const {
  int sum = 0;
  for_all([&](const Exchange& exchange) { sum += exchange.messages(); });
  return sum;
}

std::string SteppedExchange::channel_mix() const {
  std::string all;
  for_all([&](const Exchange& exchange) {
    if (const std::string some = exchange.channel_mix(); !some.empty())
      all += (all.empty() ? "" : "; ") + some;
  });
  return all;
}

Bytes SteppedExchange::bytes() const {
  Bytes sum = 0;
  for_all([&](const Exchange& exchange) { sum += exchange.bytes(); });
  return sum;
}

std::size_t SteppedExchange::scratch_bytes() const {
  std::size_t sum = 0;
  for (const auto& work : works_) sum += work->scratch_bytes();
  for_all([&](const Exchange& exchange) { sum += exchange.scratch_bytes(); });
  return sum;
}

void SteppedExchange::give_up() {
  for_all([](Exchange& exchange) { exchange.give_up(); });
  for (const auto& work : works_) work->give_up();
}

void SteppedExchange::awaits(Awaited& awaited) const {
  awaited.step(step_ + 1, steps_.size());
  if (stepping())
    step().awaits(awaited);
  else if (ended_ < beside_.size())
    beside_[ended_]->exchange->awaits(awaited);
}

void SteppedExchange::belongs_to(const std::string& call) {
  Exchange::belongs_to(call);
  for_all([&](Exchange& exchange) { exchange.belongs_to(call); });
}

}  // namespace tonari
