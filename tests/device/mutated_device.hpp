// SPDX-License-Identifier: BSD-3-Clause
// A device in front of another one that forgets one call which orders something: the code above it
// is then one with an event, a flag or a synchronization taken out, and no line of it was changed.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "device/device.hpp"
#include "device/forwarding_device.hpp"

namespace tonari::test {

// A call that orders something: the n-th of a function of the code.
struct OrderingCall {
  std::string function;
  std::size_t number = 0;
  std::string call;
  std::size_t flags = 0;  // of a list, the most that were seen
};

struct Mutant {
  std::string function;  // empty: nothing is changed
  std::size_t number = 0;
  enum class Change : std::uint8_t { nothing, left_out, one_flag_left_out, one_exchange_early };
  Change change = Change::nothing;
  std::size_t flag = 0;  // of the list
  std::string name;
  std::string call = {};  // empty: whichever it is
};

// All mutants of these calls: each is left out, each flag of a list is, and each wait for flags is
// content with the exchange before of the same parity.
inline std::vector<Mutant> mutants_of(const std::vector<OrderingCall>& calls) {
  using Change = Mutant::Change;
  std::vector<Mutant> mutants;
  for (const OrderingCall& call : calls) {
    const std::string name = text(call.function, " ", call.number, " ", call.call);
    mutants.push_back({call.function, call.number, Change::left_out, 0, name});
    for (std::size_t flag = 0; call.flags > 1 && flag < call.flags; ++flag)
      mutants.push_back({call.function, call.number, Change::one_flag_left_out, flag,
                         text(name, " without flag ", flag)});
    if (call.call == "wait_flags")
      mutants.push_back({call.function, call.number, Change::one_exchange_early, 0,
                         name + " of the exchange before"});
  }
  return mutants;
}

class MutatedDevice final : public ForwardingDevice {
 public:
  // `device` must have a stream left: records that were taken out happen there instead.
  MutatedDevice(Device& device, int number)
      : ForwardingDevice(device), idle_(device.make_stream(number)) {}
  ~MutatedDevice() override { device_.end_stream(idle_); }

  void mutate(const Mutant& mutant) { mutant_ = mutant; }
  // The code's function that calls from now on.
  void enter(const std::string& function) {
    function_ = function;
    next_ = 0;
  }
  const std::vector<OrderingCall>& calls() const { return calls_; }

  // ---- calls that order
  void write_flags(DeviceStream stream, std::span<const FlagValue> flags) override {
    if (!left_out("write_flags", flags.size())) device_.write_flags(stream, changed(flags));
  }
  void wait_flags(DeviceStream stream, std::span<const FlagValue> flags) override {
    if (!left_out("wait_flags", flags.size())) device_.wait_flags(stream, changed(flags));
  }
  void record(DeviceStream stream, DeviceEvent event) override {
    device_.record(left_out("record") ? idle_ : stream, event);
  }
  void wait_event(DeviceStream stream, DeviceEvent event) override {
    if (!left_out("wait_event")) device_.wait_event(stream, event);
  }
  void synchronize(DeviceStream stream) override {
    if (!left_out("synchronize")) device_.synchronize(stream);
  }
  void synchronize(DeviceEvent event) override {
    if (!left_out("synchronize")) device_.synchronize(event);
  }
  bool query(DeviceEvent event) override {
    const bool out = left_out("query");
    const bool done = out || device_.query(event);
    if (!done) --next_;  // the same call comes again
    return done;
  }

 private:
  using Change = Mutant::Change;

  // Notes the call, and whether it is the one that is left out.
  bool left_out(const char* call, std::size_t flags = 0) {
    const std::size_t number = next_++;
    note(number, call, flags);
    meant_ = mutant_.function == function_ && mutant_.number == number &&
             (mutant_.call.empty() || mutant_.call == call);
    return meant_ && mutant_.change == Change::left_out;
  }
  void note(std::size_t number, const char* call, std::size_t flags) {
    for (OrderingCall& known : calls_)
      if (known.function == function_ && known.number == number && known.call == call) {
        known.flags = std::max(known.flags, flags);
        return;
      }
    calls_.push_back({function_, number, call, flags});
  }
  std::vector<FlagValue> changed(std::span<const FlagValue> flags) const {
    std::vector<FlagValue> left(flags.begin(), flags.end());
    if (meant_ && mutant_.change == Change::one_flag_left_out && mutant_.flag < left.size())
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(mutant_.flag));
    if (meant_ && mutant_.change == Change::one_exchange_early)
      for (FlagValue& flag : left) flag.value -= std::min<std::uint64_t>(flag.value, 2);
    return left;
  }

  DeviceStream idle_;
  Mutant mutant_;
  bool meant_ = false;
  std::string function_;
  std::size_t next_ = 0;
  std::vector<OrderingCall> calls_;
};

}  // namespace tonari::test
