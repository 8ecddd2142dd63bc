// SPDX-License-Identifier: BSD-3-Clause
// Runs prepared exchanges one after the other, with work on this rank's memory around them: vectors
// gather, scatter and combine values. Others may run beside all of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "request/prepared.hpp"

namespace tonari {

// None of these functions allocates.
class LocalWork {
 public:
  LocalWork() = default;
  virtual ~LocalWork() = default;
  LocalWork(const LocalWork&) = delete;
  LocalWork& operator=(const LocalWork&) = delete;

  virtual void begin() {}                       // before the first step
  virtual void pack(std::size_t /*step*/) {}    // before it starts
  virtual void meanwhile() {}                   // while the first step is under way
  virtual void unpack(std::size_t /*step*/) {}  // once it is complete
  virtual void end() {}                         // after the last step
  virtual void rebind(Shifts /*shifts*/) {}
  virtual void give_up() {}
  virtual std::size_t scratch_bytes() const { return 0; }
};

class SteppedExchange final : public Exchange {
 public:
  // Allocates. There will be so many steps. Of a step in which this rank has nothing to send or
  // receive, works hear nothing.
  SteppedExchange(std::vector<std::unique_ptr<LocalWork>> works, std::size_t steps);

  void add_step(std::shared_ptr<Prepared> step) { steps_.push_back(std::move(step)); }
  // It starts with the first step, and must be complete in the end.
  void add_beside(std::shared_ptr<Prepared> other) { beside_.push_back(std::move(other)); }
  LocalWork& work(std::size_t k) const { return *works_[k]; }
  // The step that runs, or has failed; as many as there are: none.
  std::size_t running() const { return step_; }
  // Sets `report` to what the steps report together; returns what they say of themselves.
  std::string report_steps(ChoiceReport& report) const;

  void check_start() const override;
  void start() override;
  bool test() override;
  void wait() override;
  Pause pause() const override;
  bool proceeds_by_itself() const override { return false; }
  bool nothing() const override { return false; }
  int messages() const override;
  std::string channel_mix() const override;
  Bytes bytes() const override;
  std::size_t scratch_bytes() const override;
  void give_up() override;
  void rebind(Shifts shifts) override;
  const std::byte* view(std::size_t /*block*/) const override { return nullptr; }
  void awaits(Awaited& awaited) const override;
  void belongs_to(const std::string& call) override;

 private:
  void begin_step();
  void end_step();
  void end_if_complete();
  bool stepping() const { return step_ < steps_.size(); }
  template <class Use>
  void for_all(Use use) const {
    for (const auto* some : {&steps_, &beside_})
      for (const auto& prepared : *some) use(*prepared->exchange);
  }
  Exchange& step() const { return *steps_[step_]->exchange; }

  std::vector<std::unique_ptr<LocalWork>> works_;
  std::vector<std::shared_ptr<Prepared>> steps_;
  std::vector<std::shared_ptr<Prepared>> beside_;
  std::size_t step_;       // the one that runs; as many as there are: none
  std::size_t ended_ = 0;  // of those beside
};

}  // namespace tonari
