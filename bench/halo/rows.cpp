// SPDX-License-Identifier: BSD-3-Clause
#include "halo/rows.hpp"

#include <algorithm>

namespace bench::halo {

namespace {

constexpr double us = 1e6;

// Of each part the median over rounds, and of that the slowest rank's.
Phases typical(const Entry& entry, MPI_Comm comm) {
  const auto part = [&](double Phases::* member) {
    std::vector<double> values;
    for (const Phases& each : entry.rounds) values.push_back(each.*member);
    return most(spread(std::move(values)).median, comm);
  };
  return {part(&Phases::pack), part(&Phases::call), part(&Phases::wait)};
}

double median_of(const Run& run, const char* exchange) {
  return run.median([&](const Entry& each) {
    return !each.exchange->ours() && each.kind.exchange == exchange && each.verified;
  });
}

void describe(Row& row, const Run& run, const Entry& entry) {
  const auto& dims = run.torus.dims();
  row.text("storage", entry.kind.storage).text("exchange", entry.kind.exchange);
  row.whole("size", run.cube.size).whole("ghost", run.cube.ghost);
  row.whole("brick", run.options.brick).whole("page", page_of(run.options));
  row.text("stencil", run.options.points ? std::to_string(run.options.points) : "none");
  const std::string x = std::to_string(dims[0]) + "x" + std::to_string(dims[1]);
  row.whole("ranks", run.torus.ranks()).text("dims", x + "x" + std::to_string(dims[2])).mpi();
}

// The slowest rank of every round.
void add_times(Row& row, const Run& run, const Entry& entry) {
  const Spread& s = entry.seconds;
  row.quartiles(s).number("avg_us", s.mean * us).number("max_us", s.most * us);
  const Phases parts = typical(entry, run.comm);
  entry.exchange->ours() ? row.null("pack_us") : row.number("pack_us", parts.pack * us);
  row.number("call_us", parts.call * us).number("wait_us", parts.wait * us);
  row.number("init_us", entry.init_seconds * us).whole("rounds", run.timing.rounds);
  row.whole("batch", entry.repeat);
}

void add_ratios(Row& row, const Run& run, const Entry& entry) {
  const double mine = entry.verified ? entry.seconds.median : 0;
  row.ratio("ratio_datatypes", median_of(run, "datatypes"), mine)
      .ratio("ratio_pack", median_of(run, "pack"), mine)
      .ratio("of_network", mine, median_of(run, "network"))
      .ratio("of_network_remote", mine, median_of(run, "network-remote"));
}

// What is counted at the MPI, and what a rank copies from one of its sides to another.
void add_messages(Row& row, const Run& run, const Entry& entry) {
  const Exchange& exchange = *entry.exchange;
  const Sent& sent = entry.sent;
  const long by_mpi = sent.others + sent.self;
  row.whole("bytes", most(exchange.declared_bytes().value_or(sent.bytes) + exchange.copied_bytes(),
                          run.comm));
  const std::pair<const char*, long long> counted[]{
      {"messages", by_mpi + exchange.copied_messages()},
      {"messages_mpi", by_mpi},
      {"messages_remote", sent.others},
      {"bytes_mpi", sent.bytes}};
  for (const auto& [key, mine] : counted) {
    const long long all = most(mine, run.comm);
    exchange.inside_mpi() ? row.null(key) : row.whole(key, all);
  }
}

void add_padding(Row& row, const Run& run, const Entry& entry) {
  row.number("padding_percent",
             entry.kind.storage == "mapped" ? entry.field->info().padding_percent : 0);
  for (const long long page : {4096LL, 16384LL, 65536LL, 2097152LL})
    row.number(("padding_percent_" + std::to_string(page)).c_str(),
               padding_percent(run.cube, run.options, page));
}

const char* const of_steps[] = {"compute_us",         "step_us",     "step_q1_us", "step_q3_us",
                                "steps_per_exchange", "step_rounds", "kernel_us"};
const char* const of_loops[] = {"kernel_plain_us", "kernel_tiled_us", "copy_us"};

void add_steps(Row& row, const Run& run, const Entry& entry) {
  if (!run.options.points || !entry.kind.computes()) {
    for (const char* key : of_steps) row.null(key);
  } else {
    const Computing& computing = run.computing.at(entry.field->storage());
    row.number("compute_us", computing.step.median * us)
        .number("step_us", entry.step.median * us)
        .number("step_q1_us", entry.step.q1 * us);
    row.number("step_q3_us", entry.step.q3 * us)
        .whole("steps_per_exchange", computing.steps->per_exchange())
        .whole("step_rounds", run.step_rounds);
    row.number("kernel_us", computing.own.median * us);
  }
  if (!run.options.points) {
    for (const char* key : of_loops) row.null(key);
  } else {
    row.number("kernel_plain_us", run.plain.median * us)
        .number("kernel_tiled_us", run.tiled.median * us)
        .number("copy_us", run.copy.median * us);
  }
}

// How near own cells come to the time in which memory can be read and written once.
void add_roofline(Row& row, const Run& run, const Entry& entry) {
  const std::string level = run.options.points ? run.memory->level(run.torus.ranks()) : "";
  if (level.empty())
    row.null("roofline_of");
  else
    row.text("roofline_of", level);
  if (level.empty() || level == "l2" || !entry.kind.computes())
    row.null("roofline_percent");
  else
    row.number("roofline_percent",
               100 * run.copy.median / run.computing.at(entry.field->storage()).own.median);
}

}  // namespace

void add_rows(const Run& run, Outcome& outcome) {
  run.report(outcome, [&](const Entry& entry) {
    Row row;
    describe(row, run, entry);
    add_times(row, run, entry);
    add_ratios(row, run, entry);
    add_messages(row, run, entry);
    add_padding(row, run, entry);
    add_steps(row, run, entry);
    add_roofline(row, run, entry);
    row.flag("verified", entry.verified).text("chosen", entry.exchange->chosen());
    row.text("description", entry.exchange->description());
    run.add_quiet(row);
    return row;
  });
}

}  // namespace bench::halo
