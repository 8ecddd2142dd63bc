// SPDX-License-Identifier: BSD-3-Clause
#include "vector/streamed_one_shots.hpp"

#include <algorithm>
#include <optional>

#include "engine/wait/agree.hpp"
#include "engine/wait/named_rank.hpp"
#include "one_shot/connect_streams.hpp"

namespace tonari {

StreamedOneShots::StreamedOneShots(SharedVector& vector, Direction direction, WaitPolicy wait)
    : vector_(vector) {
  make_room_in_flight();
  for (std::size_t s = 0; s < vector.steps(direction); ++s) {
    Context& context = *vector.near(direction, s)->context;
    run_collectively(context.comm(), [&] {
      streams_.push_back(connect_streams(context));
      steps_.push_back(std::make_shared<Prepared>(vector.shared_context()));
      // A rank that only sends has what it needs; and hops would tell it over and over.
      steps_.back()->exchange =
          std::make_unique<DirectExchange>(streams_.back(), wait, DirectExchange::Notices::none);
    });
    context.take_tags(stream_tags);
  }
}

VectorOneShotCall& StreamedOneShots::find(const VectorCall& call) {
  if (VectorOneShotCall* const known =
          recent_.find([&](VectorOneShotCall& each) { return each.same(call); }))
    return *known;
  return recent_.add(std::make_unique<VectorOneShotCall>(
      vector_, call, read_values(vector_.pattern(), call), steps_, streams_));
}

const Exchange& StreamedOneShots::run(const VectorCall& call) {
  for (const auto& streams : streams_) check_usable(*streams, "vector");
  VectorOneShotCall* found = nullptr;
  std::optional<Error> wrong = error_of([&] {
    throw_refusal();
    found = &find(call);
    found->bind(vector_.pattern(), call);
  });
  std::size_t next = 0;
  if (!wrong) {
    wrong = error_of([&] {
      found->exchange().start();
      wait_and_drive(found->exchange());
    });
    if (!wrong) return found->exchange();
    next = found->exchange().running() + 1;
    if (next <= steps_.size()) direct(next - 1).give_up();
  }
  if (vector_.context().ranks() > 1) wrong = with_rank(vector_.context().rank(), *wrong);
  refuse(next, *wrong);
  // what ends one hop ends all
  if (std::ranges::any_of(streams_, [](const auto& streams) { return streams->left(); }))
    for (const auto& streams : streams_) streams->leave();
  throw *wrong;
}

// In the hops to come neighbors wait for values that this rank does not have.
void StreamedOneShots::refuse(std::size_t first, const Error& why) {
  for (std::size_t s = first; s < steps_.size(); ++s) {
    direct(s).refuse(why);
    (void)error_of([&] { run_to_end(direct(s)); });
  }
}

}  // namespace tonari
