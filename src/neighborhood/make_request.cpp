// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/make_request.hpp"

#include <algorithm>

#include "channels/table.hpp"
#include "engine/run/build.hpp"
#include "engine/run/forwarded_sizes.hpp"
#include "engine/run/wiring.hpp"
#include "engine/tune/candidate_race.hpp"
#include "planners/graphs/scheduled.hpp"
#include "request/staged_exchange.hpp"

namespace tonari {
namespace {

void describe(Prepared& request, double start, const Choice& choice, const Problem& problem,
              const Settings& settings) {
  request.chosen.name(choice.candidate);
  if (!choice.candidate.planned) request.chosen.rounds = static_cast<int>(problem.neighbors);
  request.chosen.follow(choice);
  const std::string against =
      choice.candidate.unpaying.empty()
          ? ""
          : text(choice.candidate.algorithm(),
                 " is not expected to pay here: ", choice.candidate.unpaying, "\n");
  request.describe(start, what_of(problem), choice.candidate.label(),
                   followed_file(settings) + against + choice.details);
}

// If memory cannot be shared or a window cannot be made, that is no error: the messages go by MPI.
void note_refusal(Choice& choice, const std::string& refusal) {
  if (refusal.empty()) return;
  const std::string wanted = choice.candidate.channel.name();
  choice.candidate.channel = {{all_channels().front()}};
  choice.details = text("channel ", wanted, " is not used: ", refusal, "\n", choice.details);
}

// Used where no communicator is left for MPI's own collective, unless the program asked for just
// that.
void replace_native(Choice& choice, const std::string& refusal, const Problem& problem,
                    const Settings& settings) {
  if (settings.algorithm == "native")
    fail(Errc::mpi, "algorithm 'native' cannot be used: ", refusal);
  choice = {{"fixed rule"},
            fixed_rule(problem, settings),
            text("native is not used: ", refusal, "\n", choice.details)};
}

// Collective. Finds the sizes of forwarded blocks, takes tags, and connects the channel.
Wiring wire_choice(Context& context, Choice& choice, const Problem& problem,
                   const LocalArguments& mine) {
  std::vector<Candidate> chosen{choice.candidate};
  exchange_forwarded_sizes(context, chosen, problem, mine.settings, mine.arguments.binding);
  choice.candidate = chosen.front();
  context.reserve_tags(choice.candidate.tags());
  return wire(context, choice.candidate, mine.settings, mine.arguments.binding, Purpose::request);
}

void build_one(Context& context, Choice& choice, const Problem& problem, const LocalArguments& mine,
               Made& made) {
  Wiring wiring = wire_choice(context, choice, problem, mine);
  if (!choice.candidate.planned && !wiring.refusal.empty()) {
    replace_native(choice, wiring.refusal, problem, mine.settings);
    wiring = wire_choice(context, choice, problem, mine);
  }
  note_refusal(choice, wiring.refusal);
  if (const std::string reason = not_applicable(choice.candidate.channel, problem, mine.settings);
      !reason.empty())
    choice.details = reason + "\n" + choice.details;
  made.tags = choice.candidate.tags();
  made.prepared->exchange = build(context, choice.candidate, mine.settings, mine.arguments,
                                  context.first_tag(), std::move(wiring));
}

// Starts decide which of several is run. False if only one of them is possible.
bool build_several(Context& context, Choice& choice, const Problem& problem,
                   const LocalArguments& mine, Made& made) {
  CandidateRace built;
  std::optional<Error> no_memory;
  stay_together(context.comm());
  try {
    run_collectively(context.comm(), [&] {
      built = build_candidate_race(context, choice, problem, mine.settings, mine.arguments);
    });
  } catch (const Error& error) {
    if (error.code() != Errc::memory) throw;
    built.exchange.reset();  // other ranks have one
    no_memory = error;
  }
  if (!built.exchange) {
    if (choice.reason == "online") choice.reason = "model";
    // All ranks are here: none may leave with an error, for want of memory to tell why.
    (void)error_of([&] {
      choice.details = text("starts do not choose, one of the candidates has to do: ",
                            no_memory ? no_memory->what() : built.refusal.c_str(), "\n");
    });
    return false;
  }
  choice.reason = "online";
  made.tags = built.tags;
  made.prepared->tuning.emplace(built.exchange.get(), std::move(built.candidates));
  made.prepared->chosen.undecided = true;
  made.prepared->exchange = std::move(built.exchange);
  return true;
}

// Blocks in memory of a device are exchanged elsewhere.
void stage(Prepared& prepared, const Staging& staging, Choice& choice) {
  auto staged = std::make_unique<StagedExchange>(
      std::shared_ptr<Exchange>(std::move(prepared.exchange)), staging.sides);
  prepared.by_stream = staged.get();
  prepared.exchange = std::move(staged);
  prepared.recording.staged = true;
  prepared.recording.no_faster = staging.why;
  choice.details = staging.sides.describe(staging.why) + choice.details;
}

bool host_sends(LocalArguments& mine) {
  const auto has_bytes = [](const Block& block) { return block.bytes > 0; };
  return mine.on_gpu.send.empty() && std::ranges::any_of(mine.given().send, has_bytes);
}

}  // namespace

std::string followed_file(const Settings& settings) {
  return settings.algorithm == scheduled_name
             ? text("the schedule of the file ", settings.schedule, " (tonari_schedule)\n")
             : "";
}

std::string what_of(const Problem& problem) {
  return text(name(problem.collective), " with ", problem.neighbors, " neighbors, ",
              problem.sizes.average, " bytes per block",
              problem.sizes.bytes.empty() ? " (sizes differ between ranks)" : "");
}

Made begin_request(const Call& call, const LocalArguments& mine) {
  Made made{std::make_shared<Prepared>(call.near->context), 0, {}};
  if (mine.is_part) made.prepared->be_part();
  made.prepared->recording.operation = call.name();
  return made;
}

void end_request(Made& made, const Call& call, LocalArguments& mine) {
  const tonari_neighborhood_s& near = *call.near;
  const LocalTopology& topology = near.context->topology();
  made.prepared->host_sends = host_sends(mine);
  made.prepared->arrivals = arrivals(topology, mine.given());
  if (mine.settings.static_buffers && !near.bound[call.operation()])
    made.bound =
        std::make_unique<const BoundCall>(call, topology, std::move(mine.given()), made.prepared);
}

Made make_without_end(const Call& call, double start, Choice choice, const Problem& problem,
                      const LocalArguments& mine) {
  Context& context = *call.near->context;
  Made made = begin_request(call, mine);
  Prepared& prepared = *made.prepared;
  if (choice.rivals.empty() || !build_several(context, choice, problem, mine, made))
    build_one(context, choice, problem, mine, made);
  if (mine.staging) stage(prepared, *mine.staging, choice);
  if (mine.settings.progress_thread) prepared.drive_by_thread();
  describe(prepared, start, choice, problem, mine.settings);
  return made;
}

Made make_request(const Call& call, double start, Choice choice, const Problem& problem,
                  LocalArguments& mine) {
  Made made = make_without_end(call, start, std::move(choice), problem, mine);
  end_request(made, call, mine);
  return made;
}

}  // namespace tonari
