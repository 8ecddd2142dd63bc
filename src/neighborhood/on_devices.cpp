// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/on_devices.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/tune/contest.hpp"
#include "engine/wait/no_messages.hpp"
#include "neighborhood/device_copies.hpp"
#include "neighborhood/device_ways.hpp"
#include "request/first_reason.hpp"
#include "select/cache.hpp"

namespace tonari {
namespace {

bool asks_for_handles(const Settings& settings) { return settings.channel == device_handles; }

// The same on all ranks.
std::string why_not_tried(const Settings& settings) {
  if (settings.algorithm == "native" || settings.algorithm == "irecv")
    return text("algorithm '", settings.algorithm, "' runs on the host");
  if (!settings.any_channel()) return text("channel '", settings.channel, "' is one of the host");
  return "";
}

// ---- the first that is possible

// Returns an empty string, or why there is none.
std::string take_first(DeviceWays& ways, const Settings& settings, bool several_nodes,
                       const std::string& unmeasured, Made& made) {
  const bool forced = asks_for_handles(settings), named = settings.algorithm != "auto";
  const Evidence found{forced || named ? "forced" : "fixed rule"};
  std::string others;
  for (const DeviceWay way : device_ways) {
    if (way == DeviceWay::staged || (forced && way != DeviceWay::handles)) break;
    if (way == DeviceWay::pieces && !several_nodes) {
      ways.leave_out(way, "on one node the host copies each block once, and the MPI twice");
      continue;
    }
    if (const auto refusal = ways.make(way)) {
      others += text(way == DeviceWay::handles ? "not by handles" : "not by the MPI", ", because ",
                     refusal->what(), "\n");
      if (forced) return refusal->what();
      continue;
    }
    if (way == DeviceWay::pieces) others.clear();  // its line says it
    made = ways.take(way, found, forced ? "" : others + unmeasured);
    return "";
  }
  return ways.why();
}

// ---- the fastest

// All ways that are possible exchange copies of the blocks in turns.
class WayContest {
 public:
  WayContest(Context& context, DeviceWays& ways, LocalArguments& mine)
      : context_(context), ways_(ways), mine_(mine) {}

  // Collective. None where nothing can be measured, for which there is a reason then.
  std::optional<Made> run(const Problem& problem) {
    const Decision decision = decide(context_, mine_.settings.tune, alternatives(problem));
    if (lacking_) return std::nullopt;
    const DeviceWay winner = device_ways[decision.winner];
    if (copies_) move(winner, copies_->none());
    return ways_.take(winner, decision, decision.details);
  }
  const std::optional<Error>& lacking() const { return lacking_; }

 private:
  Alternatives alternatives(const Problem& problem) {
    Alternatives all;
    for (const DeviceWay way : device_ways) all.names.emplace_back(name(way));
    all.prepare = [this] { make_copies(); };
    all.make = [this](std::size_t k) {
      if (!lacking_) make(device_ways[k]);  // otherwise the first that is possible is taken
    };
    all.timed = [this](std::size_t k) -> Exchange& {
      Exchange& exchange = *ways_.made(device_ways[k]).exchange;
      return exchange.nothing() ? none_ : exchange;
    };
    all.question = text("devices|", problem_key(problem, mine_.settings));
    return all;
  }
  // Collective. What a device refuses for one way need not be so for the others.
  void make(DeviceWay way) {
    try {
      if (const auto refusal = ways_.make(way)) fail(Errc::algorithm, refusal->what());
      if (copies_) move(way, copies_->shifts());
    } catch (const Error& error) {
      if (error.code() != Errc::argument) throw;
      throw Error(Errc::algorithm, error.what());
    }
  }
  // Collective. Throws Errc::memory on all ranks where some cannot have copies.
  void make_copies() {
    const std::optional<Error> here = error_of([&] {
      if (mine_.staging)
        copies_.emplace(present_device(cache_directory()),
                        std::max(mine_.staging->devices.send, mine_.staging->devices.recv),
                        mine_.given());
    });
    lacking_ = first_reason(context_.comm(), here);
    if (lacking_) throw Error(Errc::memory, lacking_->what());
  }
  void move(DeviceWay way, Shifts shifts) {
    if (StreamOrdered* const ordered = ways_.made(way).by_stream) ordered->move_blocks(shifts);
  }

  Context& context_;
  DeviceWays& ways_;
  LocalArguments& mine_;
  std::optional<DeviceCopies> copies_;
  std::optional<Error> lacking_;  // the same on all ranks
  NoMessages none_;
};

}  // namespace

std::string make_on_devices(const Call& call, double start, const Problem& problem,
                            LocalArguments& mine, Made& made) {
  const Settings& settings = mine.settings;
  DeviceWays ways(call, start, problem, mine);
  std::string why = why_not_tried(settings);
  if (why.empty()) {
    std::string unmeasured = "no other way was tried, because nothing is measured\n";
    if (measures(settings.tune) && !asks_for_handles(settings)) {
      WayContest contest(*call.near->context, ways, mine);
      if (auto fastest = contest.run(problem)) {
        made = std::move(*fastest);
        return "";
      }
      unmeasured = text("no other way was tried, because nothing can be measured: ",
                        contest.lacking()->what(), "\n");
    }
    why = take_first(ways, settings, call.near->context->several_nodes(), unmeasured, made);
    if (why.empty()) return "";
  }
  if (asks_for_handles(settings))
    fail(Errc::argument, "tonari_channel (TONARI_CHANNEL) is '", device_handles,
         "', which cannot be used: ", why);
  return why;
}

}  // namespace tonari
