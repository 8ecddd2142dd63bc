// SPDX-License-Identifier: BSD-3-Clause
// tonari_bench_halo: ghost exchanges of a 3-d grid in every storage beside what programs do with
// MPI alone, in one process (Zhao 2021, section 7).
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "halo/entry.hpp"
#include "halo/rows.hpp"

namespace bench::halo {

namespace {

bool wanted(const Options& options, const Kind& kind) {
  return options.exchanges.empty() ||
         std::any_of(options.exchanges.begin(), options.exchanges.end(),
                     [&](const std::string& name) { return matches(kind, name); });
}

const Field& field_in(Run& run, Storage storage) {
  std::unique_ptr<Field>& field = run.fields[storage];
  if (!field) field = std::make_unique<Field>(run.torus, run.cube, storage, run.options);
  return *field;
}

std::unique_ptr<Exchange> make(const Run& run, const Kind& kind, const Field* field) {
  if (kind.use != Use::one) return make_tonari_use(*field, kind.use, run.options);
  if (kind.task != Task::all || kind.blocks) return make_tonari_other(*field, kind);
  if (is_ours(kind)) return make_tonari(*field, kind, run.options);
  if (kind.exchange == "pack") return make_pack(*field);
  if (kind.exchange == "datatypes") return make_datatypes(*field);
  return make_network(run.torus,
                      messages_of(run.cube, run.options, page_of(run.options), Sending::views),
                      kind.exchange == "network");
}

void make_entries(Run& run) {
  for (const Kind& kind : kinds()) {
    if (!wanted(run.options, kind)) continue;
    const auto storage = storage_of(kind);
    const Field* const field = storage ? &field_in(run, *storage) : nullptr;
    run.add({kind, field}, [&] { return make(run, kind, field); });
  }
}

void verify(Run& run, int generation) {
  run.verify([&](Exchange& exchange, int turn) { return exchange.verify(generation + 2 * turn); });
}

// What takes less than the clock can tell is done several times between two looks at it: by itself,
// so that nothing else waits for it.
void choose_repeats(Run& run) {
  constexpr double long_enough = 1e-5;
  for (Entry& entry : run.entries) {
    constexpr int tries = 8;
    MPI_Barrier(run.comm);
    const double start = now();
    for (int i = 0; i < tries; ++i) entry.exchange->run();
    const double once = most((now() - start) / tries, run.comm);
    entry.repeat = std::clamp(static_cast<int>(std::ceil(long_enough / once)), 1, 64);
  }
}

Spread divided(Spread s, double by) {
  for (double* each : {&s.median, &s.q1, &s.q3, &s.p90, &s.least, &s.most, &s.mean}) *each /= by;
  return s;
}

// Before it is timed everything is done once: it is to find the caches as it leaves them itself,
// not as those do that came before.
Effort effort_of(const Options& options, int look_every,
                 std::vector<std::function<void()>> before) {
  return {options.rounds, 1, 0, options.max_time / 2, look_every, std::move(before)};
}

void time_exchanges(Run& run) {
  choose_repeats(run);
  std::vector<std::function<void()>> runs, before;
  for (Entry& entry : run.entries) {
    before.emplace_back([&entry] { entry.exchange->run(); });
    runs.emplace_back([&entry] {
      for (int i = 0; i < entry.repeat; ++i) entry.exchange->run();
      entry.rounds.push_back(entry.exchange->phases());
    });
  }
  run.time_as_given(effort_of(run.options, 8, before), runs);
  for (Entry& entry : run.entries) entry.seconds = divided(entry.seconds, entry.repeat);
}

void make_steps(Run& run) {
  const Field& array = field_in(run, Storage::array);
  for (const auto& [storage, field] : run.fields)
    if (storage != Storage::fortran)
      run.computing[storage].steps = make_steps(*field, run.options.points);
  run.loops = std::make_unique<PlainLoops>(array, run.options.points);
  run.memory = std::make_unique<MemorySpeed>(cells_in(run.cube.own()));
}

// As many steps as fit between two exchanges give the same bits with every exchange and storage.
void verify_steps(Run& run) {
  constexpr int generation = 5;
  const Steps& on_array = *run.computing.at(Storage::array).steps;
  const bool good = run.loops->agrees_with(on_array);
  const unsigned long long expected =
      expected_result(on_array, *run.fields.at(Storage::array), generation);
  for (Entry& entry : run.entries) {
    if (!entry.kind.computes()) continue;
    const Steps& steps = *run.computing.at(entry.field->storage()).steps;
    const bool same = result_of(steps, *entry.exchange, *entry.field, on_array.per_exchange(),
                                generation) == expected;
    entry.verified = on_all(good && same, run.comm) && entry.verified;
  }
}

// Computing alone leaves old ghosts behind, which every cycle fills again at its end; mapped ghosts
// are never old. It writes what a neighbor may still read there, though: both only compute then,
// and nobody looks at the values.
void time_steps(Run& run) {
  std::vector<std::function<void()>> runs;
  std::vector<Spread*> results;
  // steps between two looks at the clock, the same for all
  const int together = run.computing.at(Storage::array).steps->per_exchange();
  const auto add = [&](Spread& into, int each, std::function<void()> what) {
    runs.emplace_back([what = std::move(what), each, together] {
      for (int done = 0; done < together; done += each) what();
    });
    results.push_back(&into);
  };
  add(run.plain, 1, [&run] { run.loops->plain(); });
  add(run.tiled, 1, [&run] { run.loops->tiled(); });
  add(run.copy, 1, [&run] { run.memory->run(); });
  for (auto& [storage, computing] : run.computing) {
    const Steps& steps = *computing.steps;
    add(computing.step, steps.per_exchange(), [&steps] { compute(steps, 0); });
    add(computing.own, 1, [&steps] { steps.own_cells(0); });
  }
  for (Entry& entry : run.entries) {
    if (!entry.kind.computes()) continue;
    const Steps& steps = *run.computing.at(entry.field->storage()).steps;
    add(entry.step, steps.per_exchange(), [&steps, &entry] { cycle(steps, *entry.exchange); });
  }
  const Timing timing = time_side_by_side(runs, effort_of(run.options, 1, runs), run.comm);
  run.step_rounds = timing.rounds;
  for (std::size_t i = 0; i < results.size(); ++i)
    *results[i] = divided(timing.seconds[i], together);
}

void compare_one(const Options& options, const Torus& torus, long long size, Outcome& outcome) {
  if (torus.rank() == 0)
    std::fprintf(stderr, "tonari_bench_halo: %lld cells along each dimension, %d ranks\n", size,
                 torus.ranks());
  Run run(options, torus, size);
  make_entries(run);
  verify(run, 0);
  for (Entry& entry : run.entries) run.count(entry);
  time_exchanges(run);
  verify(run, 10);
  if (options.points) {
    make_steps(run);
    verify_steps(run);
    time_steps(run);
  }
  add_rows(run, outcome);
}

Outcome compare(const Options& options, MPI_Comm comm) {
  const Torus torus(comm);
  Outcome outcome;
  for (const long long size : options.sizes) compare_one(options, torus, size, outcome);
  return outcome;
}

}  // namespace
}  // namespace bench::halo

int main(int argc, char** argv) {
  using namespace bench::halo;
  return bench::run_comparison("tonari_bench_halo", usage, argc, argv, parse_options, compare);
}
