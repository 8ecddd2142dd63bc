// SPDX-License-Identifier: BSD-3-Clause
#include "request/packed_plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/wait/agree.hpp"
#include "mpi/collective.hpp"

namespace tonari {
namespace {

constexpr std::int32_t own_tag = -1;  // of what a rank has for itself; plans have none below 0

class MessagesOfPlan {
 public:
  MessagesOfPlan(const Plan& plan, const PlanSteps& steps, const Binding& binding)
      : plan_(plan), steps_(steps), binding_(binding), origins_(plan) {}

  PackedMessages take() {
    for (OpId op = 0; op < plan_.size(); ++op)
      if (plan_[op].kind == Kind::recv) receive(op);
    for (const Operation& o : plan_.operations()) {
      if (o.kind == Kind::copy) copy(o);
      if (o.kind == Kind::send) send(o);
    }
    return std::move(all_);
  }

 private:
  Bytes bytes(Slice slice) const { return binding_.bytes(slice, plan_.scratch_like()); }
  const Block& block(Slice slice) const {
    return (slice.buffer == Buffer::send ? binding_.send : binding_.recv)[slice.block];
  }
  // What is only passed on has no place in the program's memory.
  PackedMessage passed(const Operation& o, Bytes bytes) const {
    PackedMessage message{o.peer, o.tag, nullptr, {}};
    message.layout.add(0, bytes);
    message.only_passed_on = true;
    return message;
  }
  PackedMessage numbered(const Operation& o, std::uint32_t slice, PackedMessage message) const {
    message.piece = static_cast<std::int32_t>(slice);
    message.step = steps_.of_tag[static_cast<std::size_t>(o.tag)];
    return message;
  }

  void receive(OpId op) {
    const Operation& o = plan_[op];
    for (std::uint32_t k = 0; k < o.slice_count; ++k) {
      const Slice slice = plan_.slices(op)[k];
      if (bytes(slice) == 0) continue;
      const bool stays = slice.buffer == Buffer::recv;
      PackedMessage message =
          stays ? packed_message(o.peer, o.tag, block(slice)) : passed(o, bytes(slice));
      place_[{op, k}] = static_cast<std::int32_t>(all_.in.size());
      all_.in.push_back(numbered(o, k, std::move(message)));
    }
  }

  void send(const Operation& o) {
    for (std::uint32_t k = 0; k < o.slice_count; ++k) {
      const Slice slice = plan_.slices(o)[k];
      if (bytes(slice) == 0) continue;
      const Origin origin = origins_.of(slice);
      PackedMessage message =
          origin.arrives() ? passed(o, bytes(slice))
                           : packed_message(o.peer, o.tag, block({Buffer::send, origin.slice}));
      if (origin.arrives()) message.from = place_.at({origin.recv, origin.slice});
      all_.out.push_back(numbered(o, k, std::move(message)));
    }
  }

  // Copies to scratch blocks are none: what reads those reads their origin.
  void copy(const Operation& o) {
    for (std::uint32_t k = 0; k < o.slice_count / 2; ++k) {
      const Slice target = plan_.copy_targets(o)[k];
      if (target.buffer != Buffer::recv || bytes(target) == 0) continue;
      const Origin origin = origins_.of(target);
      PackedMessage message = packed_message(plan_.rank(), own_tag, block(target));
      if (origin.arrives()) {
        message.from = place_.at({origin.recv, origin.slice});
      } else {
        all_.out.push_back(
            packed_message(plan_.rank(), own_tag, block({Buffer::send, origin.slice})));
        message.piece = all_.out.back().piece = own_++;
      }
      all_.in.push_back(std::move(message));
    }
  }

  const Plan& plan_;
  const PlanSteps& steps_;
  const Binding& binding_;
  Origins origins_;
  PackedMessages all_;
  std::map<std::pair<OpId, std::uint32_t>, std::int32_t> place_;  // in all_.in, of what arrives
  std::int32_t own_ = 0;
};

}  // namespace

PackedMessage packed_message(std::int32_t peer, std::int32_t tag, const Block& block) {
  PackedMessage message{peer, tag, block.address, {}, block.space};
  if (block.layout)
    message.layout = *block.layout;
  else
    message.layout.add(0, block.bytes);
  return message;
}

PackedMessages packed_messages(const Plan& plan, const PlanSteps& steps, const Binding& binding) {
  return MessagesOfPlan(plan, steps, binding).take();
}

std::int32_t PlanSteps::count() const {
  return of_tag.empty() ? 1 : *std::ranges::max_element(of_tag) + 1;
}

// Each round tells all ranks what one of them has found. Planners number messages so that what is
// passed on has a lower tag; then ranks find whole chains at once.
PlanSteps steps_of(const Context& context, std::size_t tags, std::span<const TagOrder> orders) {
  const int count = checked_cast<int>(tags, "number of tags");
  std::vector<int> steps(tags, 0), last(tags, -1);
  PlanSteps found{std::vector<std::int32_t>(tags, 0)};
  while (steps != last && std::ranges::none_of(steps, [&](int step) { return step >= count; })) {
    last = steps;
    for (const TagOrder& order : orders) {
      int& after = steps[static_cast<std::size_t>(order.after)];
      after = std::max(after, steps[static_cast<std::size_t>(order.before)] + 1);
    }
    stay_together(context.comm());
    reduce_all(steps.data(), count, MPI_INT, MPI_MAX, context.comm());
  }
  if (steps != last) fail(Errc::argument, "messages of one round of its plan wait for each other");
  std::ranges::copy(steps, found.of_tag.begin());
  return found;
}

}  // namespace tonari
