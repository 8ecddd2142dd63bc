// SPDX-License-Identifier: BSD-3-Clause
#include "api/request.hpp"

#include <array>

#include "api/read_call.hpp"
#include "api/settings.hpp"
#include "channels/table.hpp"
#include "engine/agree.hpp"
#include "engine/build.hpp"
#include "engine/contenders.hpp"
#include "engine/forwarded_sizes.hpp"
#include "engine/selector.hpp"
#include "engine/wiring.hpp"

namespace tonari {
namespace {

// The arguments of this rank.
struct LocalArguments : ReadCall {
  Settings settings;
  std::array<bool, RequestCache::places> matches{};  // for each entry of the cache
  bool is_part = false;                              // of a request that the program gets
  ReadsBlocks reads = ReadsBlocks::in_buffer;
};

// Checks everything that this rank can check by itself.
void read(const tonari_neighborhood_s& near, const Call& call, Use use, MPI_Info info,
          Output output, LocalArguments& mine) {
  Context& context = *near.context;
  mine.settings = read_settings(info, context.settings());
  mine.is_part = !output.name;
  // nobody could ask where the blocks are
  if (use == Use::once || !output.name) mine.settings.recv_view = false;
  if (mine.reads == ReadsBlocks::where_they_arrive) mine.settings.recv_view = true;
  // a thread drives the outer request that contains this one
  if (use != Use::once && !output.name) mine.settings.progress_thread = false;
  if (const BoundCall& bound = near.bound[call.operation()])
    if (const auto broken = bound.difference(call, context.topology())) throw *broken;
  read_blocks(context, call, mine);
  if (use == Use::once)
    mine.matches =
        near.cache.idle_matches(call.collective, mine.settings.fingerprint(), mine.binding);
  // the library has checked those already
  if (std::ranges::find(mine.matches, true) == mine.matches.end())
    check_overlaps(context.topology(), call.collective, mine.binding);
}

bool non_contiguous(const Binding& binding) {
  const auto has_layout = [](const Block& block) { return block.layout != nullptr; };
  return std::ranges::any_of(binding.send, has_layout) ||
         std::ranges::any_of(binding.recv, has_layout);
}

constexpr char other_collective[] = "some ranks call an all-to-all where others call an allgather";

// The results of what ranks agree on before they prepare anything.
struct Agreed {
  std::optional<std::size_t> cached;  // the entry to use again
  std::array<bool, SizePrint::count> same_sizes;
  std::array<std::uint64_t, SizePrint::count> said_sizes;
  bool contiguous = false;
};

// One agreement covers everything: errors, what the program calls, sizes, and what can be used
// again. A rank that has agreed needs no memory to use an entry again.
Agreed agree_on_call(const tonari_neighborhood_s& near, const Call& call, Use use, MPI_Info info,
                     Output output, LocalArguments& mine) {
  constexpr std::size_t first_place = 8;
  const auto things = [&] {
    const auto [one_size, by_number] = mine.sizes.ballots();
    std::array<Alike, first_place + RequestCache::places> all{
        Alike{static_cast<std::uint64_t>(call.collective), other_collective},
        {mine.settings.fingerprint(), other_settings},
        {static_cast<std::uint64_t>(use),
         "some ranks make a persistent request where others make a one-shot call"},
        {one_size},
        {by_number},
        {non_contiguous(mine.binding)},
        {static_cast<std::uint64_t>(call.form()),
         mine.settings.static_buffers
             ? "ranks call different forms (regular, v, w) of the operation; with "
               "cdag_static_buffers it must be one form on all ranks"
             : nullptr},
        {static_cast<std::uint64_t>(mine.arguments.form)}};
    for (std::size_t k = 0; k < mine.matches.size(); ++k)
      all[first_place + k].ballot = mine.matches[k];
    return all;
  };
  const auto [same, said] = agree_on_arguments(
      near.context->comm(), info, output, [&] { read(near, call, use, info, output, mine); },
      things);
  // it can express the others: MPI's own collective must be the same on all ranks
  if (!same[7]) mine.arguments.form = Form::w;
  Agreed agreed{std::nullopt,
                {same[3], same[4]},
                {said[3], said[4]},
                same[5] && !non_contiguous(mine.binding)};
  for (std::size_t k = 0; k < RequestCache::places && !agreed.cached; ++k)
    if (mine.matches[k] && same[first_place + k]) agreed.cached = k;
  return agreed;
}

Problem problem_of(Context& context, Collective collective, const Agreed& agreed,
                   const LocalArguments& mine) {
  Problem problem{context.planners(),
                  context.topology().fingerprint,
                  context.topology().neighbors,
                  collective,
                  {},
                  agreed.contiguous,
                  context.shares_memory(),
                  context.reads_memory(),
                  context.several_nodes(),
                  all_channels()};
  if (ExactSizes* exact = context.exact_sizes()) {
    problem.sizes = exact->of(collective).sizes;
    return problem;
  }
  problem.sizes.bytes = agree_on_sizes(context, collective, mine.binding,
                                       mine.sizes.common(agreed.same_sizes, agreed.said_sizes));
  problem.sizes.average = average_size(context, problem.sizes.bytes, mine.binding);
  return problem;
}

void describe(Prepared& request, double start, const Choice& choice, const Problem& problem) {
  request.name(choice.candidate);
  if (!choice.candidate.planned) request.rounds = static_cast<int>(problem.neighbors);
  request.reason = choice.reason;
  request.measured = choice.measured, request.times = choice.times;
  request.predicted_native = choice.predicted_native;
  const std::string against =
      choice.candidate.unpaying.empty()
          ? ""
          : text(choice.candidate.algorithm(),
                 " is not expected to pay here: ", choice.candidate.unpaying, "\n");
  request.describe(start,
                   text(name(problem.collective), " with ", problem.neighbors, " neighbors, ",
                        problem.sizes.average, " bytes per block",
                        problem.sizes.bytes.empty() ? " (sizes differ between ranks)" : ""),
                   choice.candidate.label(), against + choice.details);
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
  choice = {fixed_rule(problem, settings), "fixed rule",
            text("native is not used: ", refusal, "\n", choice.details), 0};
}

// Collective. Finds the sizes of forwarded blocks, takes tags, and connects the channel.
Wiring wire_choice(Context& context, Choice& choice, const Problem& problem,
                   const LocalArguments& mine) {
  std::vector<Candidate> chosen{choice.candidate};
  exchange_forwarded_sizes(context, chosen, problem, mine.settings, mine.binding);
  choice.candidate = chosen.front();
  context.reserve_tags(choice.candidate.tags());
  return wire(context, choice.candidate, mine.settings, mine.binding, Purpose::request);
}

// What ranks prepared together; they keep it together once all of them have it.
struct Made {
  std::shared_ptr<Prepared> prepared;
  std::size_t tags = 0;
  BoundCall bound;  // the call, as promised
};

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
                                  mine.binding, context.first_tag(), std::move(wiring));
}

// Starts decide which of several is run. False if only one of them is possible.
bool build_several(Context& context, Choice& choice, const Problem& problem,
                   const LocalArguments& mine, Made& made) {
  Contenders built;
  std::optional<Error> no_memory;
  stay_together(context.comm());
  try {
    run_collectively(context.comm(), [&] {
      built =
          build_contenders(context, choice, problem, mine.settings, mine.arguments, mine.binding);
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
  made.prepared->undecided = true;
  made.prepared->exchange = std::move(built.exchange);
  return true;
}

Made make(const tonari_neighborhood_s& near, const Call& call, double start, Choice choice,
          const Problem& problem, LocalArguments& mine) {
  Context& context = *near.context;
  Made made{std::make_shared<Prepared>(near.context), 0, {}};
  Prepared& prepared = *made.prepared;
  prepared.is_part = mine.is_part;
  prepared.operation = call.name();
  if (choice.rivals.empty() || !build_several(context, choice, problem, mine, made))
    build_one(context, choice, problem, mine, made);
  if (mine.settings.progress_thread) prepared.drive_by_thread();
  describe(prepared, start, choice, problem);
  prepared.arrivals = arrivals(context.topology(), mine.binding);
  if (mine.settings.static_buffers && !near.bound[call.operation()])
    made.bound = BoundCall(call, context.topology(), std::move(mine.binding), made.prepared);
  return made;
}

// Starts may replace them.
void free_buffers(Prepared& prepared, Collective collective, LocalArguments& mine) {
  if (mine.settings.static_buffers)
    prepared.fixed = "the neighborhood was promised that they stay (cdag_static_buffers)";
  else if (mine.settings.recv_view)
    prepared.fixed = "its receive blocks stay where they arrive (tonari_recv_view)";
  if (mine.settings.static_buffers || mine.settings.recv_view) return;
  StartBuffer send{send_space, "sendbuf", mine.arguments.sendbuf},
      recv{recv_space, "recvbuf", mine.arguments.recvbuf};
  for (const Block& block : mine.binding.send) send.touch(block);
  for (const Block& block : mine.binding.recv) recv.touch(block);
  prepared.buffers.emplace(
      "start_with", std::vector{std::move(send), std::move(recv)},
      [context = prepared.context, collective, binding = std::move(mine.binding)](Shifts shifts) {
        check_overlaps(context->topology(), collective, moved(binding, shifts));
      });
}

// All calls of the operation use it again if they were promised to be this one; otherwise calls
// with the same arguments do. All ranks keep it or none, because it decides who asks the others.
void keep(tonari_neighborhood_s& near, const Call& call, Use use, LocalArguments& mine,
          Made& made) {
  near.context->take_tags(made.tags);
  if (made.bound)
    near.bound[call.operation()] = std::move(made.bound);
  else if (use == Use::once && !mine.settings.static_buffers)
    near.cache.put({call.collective, mine.settings.fingerprint(), std::move(mine.binding)},
                   made.prepared);
}

// Requests that nobody describes, that a thread drives, or that other calls share are chosen at
// init.
bool tunes_at_init(const Settings& settings, Use use, const Output& output) {
  if (use == Use::once) return false;  // nor at any other time
  return settings.progress_thread || settings.static_buffers || (use != Use::part && !output.name);
}

}  // namespace

void agree_on_ends(Context& context, const ReadCall& call) {
  const Collective collective = call.arguments.collective;
  const auto [one_size, by_number] = call.sizes.ballots();
  const std::array things{Alike{static_cast<std::uint64_t>(collective), other_collective},
                          Alike{one_size}, Alike{by_number}};
  const auto [same, said] = agree_on_arguments(context.comm(), MPI_INFO_NULL, std::nullopt, things);
  run_collectively(context.comm(), [&] {
    if (!context.exact_sizes())
      agree_on_sizes(context, collective, call.binding,
                     call.sizes.common({same[1], same[2]}, {said[1], said[2]}));
  });
}

bool wants_streams(const Settings& inherited) {
  if (inherited.static_buffers) return false;
  // A word that makes no sense is reported by the calls that obey it.
  const auto is = [](SettingId id, const std::string& word, const char* wanted) {
    return in_environment(setting(id)).value_or(word) == wanted;
  };
  return is(SettingId::algorithm, inherited.algorithm, "auto") &&
         is(SettingId::channel, inherited.channel, "auto") &&
         is(SettingId::progress, inherited.progress_thread ? "thread" : "calls", "calls");
}

void connect_streams(tonari_neighborhood near, const Call& call, Output output) {
  LocalArguments mine;
  (void)agree_on_call(*near, call, Use::once, MPI_INFO_NULL, output, mine);
  Context& context = *near->context;
  std::unique_ptr<OneShots> made;
  run_collectively(context.comm(), [&] {
    std::shared_ptr<Streams> streams = connect_streams(context);
    const WaitPolicy wait{context.node()->crowded(), mine.settings.timeout};
    HopTable hops(context, streams, mine.settings.tune, wait);
    made = std::make_unique<OneShots>(near->context, std::move(streams), std::move(hops), wait);
    made->expect(call, output.name != nullptr);
  });
  context.take_tags(stream_tags);
  near->one_shots = std::move(made);
}

std::shared_ptr<Prepared> prepare(tonari_neighborhood near, const Call& call, Use use,
                                  MPI_Info info, Output output, ReadsBlocks reads,
                                  std::size_t contenders) {
  const double start = MPI_Wtime();
  LocalArguments mine;
  mine.reads = reads;
  const Agreed agreed = agree_on_call(*near, call, use, info, output, mine);
  if (agreed.cached) return near->cache.take(*agreed.cached);
  mine.settings.contenders = contenders;
  if (tunes_at_init(mine.settings, use, output)) mine.settings.tune = at_init(mine.settings.tune);
  Made made;
  run_collectively(near->context->comm(), [&] {
    const Problem problem = problem_of(*near->context, call.collective, agreed, mine);
    mine.binding.uniform = problem.sizes.bytes;
    const Choice choice =
        use == Use::once
            ? near->choices.of(*near->context, problem, mine.settings)
            : choose(*near->context, problem, mine.settings, mine.arguments, mine.binding);
    made = make(*near, call, start, choice, problem, mine);
    if (use == Use::persistent && output.name) free_buffers(*made.prepared, call.collective, mine);
  });
  keep(*near, call, use, mine, made);
  return std::move(made.prepared);
}

tonari_request request_of(std::shared_ptr<Prepared> prepared) {
  std::unique_ptr<tonari_request_s> handle = std::move(prepared->spare);
  handle->prepared = std::move(prepared);
  return handle.release();
}

}  // namespace tonari
