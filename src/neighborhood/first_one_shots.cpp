// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/first_one_shots.hpp"

#include <functional>

#include "base/setting_table.hpp"
#include "engine/wait/agree.hpp"
#include "neighborhood/agree_on_call.hpp"
#include "one_shot/connect_streams.hpp"

namespace tonari {

bool wants_streams(const Settings& inherited) {
  if (inherited.static_buffers) return false;
  // A word that makes no sense is reported by the calls that obey it.
  const auto is = [](const Setting& row, const std::string& word, const char* wanted) {
    return in_environment(row).value_or(word) == wanted;
  };
  return is(setting("TONARI_ALGORITHM"), inherited.algorithm, "auto") &&
         is(setting("TONARI_CHANNEL"), inherited.channel, "auto") &&
         is(setting("TONARI_PROGRESS"), inherited.progress_thread ? "thread" : "calls", "calls");
}

namespace {

// Collective, together.
std::unique_ptr<OneShots> connected(tonari_neighborhood_s& near) {
  Context& context = *near.context;
  const FirstOneShots& first = near.first_one_shots;
  std::shared_ptr<Streams> streams = connect_streams(context);
  HopTable hops(context, streams, first.tune, first.wait);
  return std::make_unique<OneShots>(near.context, std::move(streams), std::move(hops), first.wait);
}

// Collective. The first call makes what it goes by.
void connect_at_once(const Call& call, Output output) {
  tonari_neighborhood_s& near = *call.near;
  LocalArguments mine;
  (void)agree_on_call(call, Use::one_shot, output, mine);
  near.first_one_shots.wait = {near.context->node()->crowded(), mine.settings.timeout};
  near.first_one_shots.tune = mine.settings.tune;
  std::unique_ptr<OneShots> made;
  run_collectively(near.context->comm(), [&] {
    made = connected(near);
    made->expect(call, output.name != nullptr);
  });
  near.context->take_tags(stream_tags);
  near.one_shots = std::move(made);
}

// Collective, with one agreement: each rank makes its part before.
void begin(const Call& call, Output output) {
  Context& context = *call.near->context;
  FirstOneShots made;
  LocalArguments mine;
  const auto make = [&] {
    made.wait = {context.node()->crowded(), mine.settings.timeout};
    made.tune = mine.settings.tune;
    made.left = context.settings().connect_after;
    made.calls = std::make_unique<OneShots>(call.near->context, streams_by_mpi(context), HopTable{},
                                            made.wait);
    made.calls->expect(call, output.name != nullptr);
  };
  // by reference: a copy would take memory, and who has none must not stay away
  (void)agree_on_call(call, Use::one_shot, output, mine, std::ref(make));
  context.take_tags(stream_tags);
  FirstOneShots& first = call.near->first_one_shots = std::move(made);
  Streams& streams = first.calls->streams();
  if (const auto error = error_of([&] { streams.tell_numbers(); })) {
    streams.leave();
    throw *error;
  }
}

// Collective. Where it fails, calls go on as before.
bool connect(tonari_neighborhood_s& near) {
  FirstOneShots& first = near.first_one_shots;
  first.left = -1;
  std::unique_ptr<OneShots> made;
  const std::optional<Error> error = error_of([&] {
    run_collectively(near.context->comm(), [&] {
      check_usable(first.calls->streams(), "neighborhood");
      made = connected(near);
    });
  });
  if (error) return false;
  near.context->take_tags(stream_tags);
  made->go_on_from(*first.calls);
  near.one_shots = std::move(made);
  first.calls.reset();  // calls that are not complete keep what they need
  return true;
}

}  // namespace

OneShots* first_one_shots(const Call& call, Output output) {
  tonari_neighborhood_s& near = *call.near;
  FirstOneShots& first = near.first_one_shots;
  if (!first.calls) {
    const Settings& settings = near.context->settings();
    if (!wants_streams(settings)) return nullptr;
    if (settings.connect_after > 0 && !near.context->shared().lacks_tags(stream_tags)) {
      begin(call, output);
    } else {
      connect_at_once(call, output);
      return near.one_shots.get();
    }
  } else if (first.left == 0 && connect(near)) {
    return near.one_shots.get();
  }
  if (first.left > 0) --first.left;
  return first.calls.get();
}

}  // namespace tonari
