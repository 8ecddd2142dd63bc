#include "halo/rows.hpp"

#include <algorithm>

namespace bench::halo {

namespace {

constexpr double us = 1e6;

template <class T>
T most(T mine, MPI_Datatype type, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, type, MPI_MAX, comm);
  return mine;
}

// Of each part the median over rounds, and of that the slowest rank's.
Phases typical(const Entry& entry, MPI_Comm comm) {
  const auto part = [&](double Phases::* member) {
    std::vector<double> values;
    for (const Phases& each : entry.rounds) values.push_back(each.*member);
    return most(spread(std::move(values)).median, MPI_DOUBLE, comm);
  };
  return {part(&Phases::pack), part(&Phases::call), part(&Phases::wait)};
}

double median_of(const Run& run, const char* exchange) {
  for (const Entry& each : run.entries)
    if (!is_ours(each.kind) && each.kind.exchange == exchange && each.verified)
      return each.seconds.median;
  return 0;
}

void describe(Row& row, const Run& run, const Entry& entry) {
  const auto& dims = run.torus.dims();
  row.text("storage", entry.kind.storage)
      .text("exchange", entry.kind.exchange)
      .whole("size", run.cube.size);
  row.whole("ghost", run.cube.ghost)
      .whole("brick", run.options.brick)
      .whole("page", page_of(run.options));
  row.text("stencil", run.options.points ? std::to_string(run.options.points) : "none");
  row.whole("ranks", run.torus.ranks())
      .text("dims", std::to_string(dims[0]) + "x" + std::to_string(dims[1]) + "x" +
                        std::to_string(dims[2]));
  row.text("mpi", mpi_name()).text("mpi_version", mpi_version());
}

// The slowest rank of every round.
void add_times(Row& row, const Run& run, const Entry& entry) {
  const Spread& s = entry.seconds;
  row.number("median_us", s.median * us).number("q1_us", s.q1 * us).number("q3_us", s.q3 * us);
  row.number("min_us", s.least * us).number("avg_us", s.mean * us).number("max_us", s.most * us);
  const Phases parts = typical(entry, run.torus.comm());
  is_ours(entry.kind) ? row.null("pack_us") : row.number("pack_us", parts.pack * us);
  row.number("call_us", parts.call * us).number("wait_us", parts.wait * us);
  row.number("init_us", most(entry.init_seconds, MPI_DOUBLE, run.torus.comm()) * us)
      .whole("rounds", run.rounds)
      .whole("batch", entry.repeat);
}

void add_ratios(Row& row, const Run& run, const Entry& entry) {
  const auto ratio = [&](const char* key, double above, double below) {
    above > 0 && below > 0 ? row.number(key, above / below) : row.null(key);
  };
  const double mine = entry.verified ? entry.seconds.median : 0;
  ratio("ratio_datatypes", median_of(run, "datatypes"), mine);
  ratio("ratio_pack", median_of(run, "pack"), mine);
  ratio("of_network", mine, median_of(run, "network"));
  ratio("of_network_remote", mine, median_of(run, "network-remote"));
}

// What is counted at the MPI, and what a rank copies from one of its sides to another.
void add_messages(Row& row, const Run& run, const Entry& entry) {
  const MPI_Comm comm = run.torus.comm();
  const Exchange& exchange = *entry.exchange;
  const long by_mpi = entry.sent.others + entry.sent.self;
  const long all = most(by_mpi + exchange.copied_messages(), MPI_LONG, comm);
  const long mpi = most(by_mpi, MPI_LONG, comm), others = most(entry.sent.others, MPI_LONG, comm);
  const long long bytes =
      most(exchange.declared_bytes().value_or(entry.sent.bytes) + exchange.copied_bytes(),
           MPI_LONG_LONG, comm);
  const long long mpi_bytes = most(entry.sent.bytes, MPI_LONG_LONG, comm);
  row.whole("bytes", bytes);
  if (exchange.seen_at_mpi())
    row.whole("messages", all)
        .whole("messages_mpi", mpi)
        .whole("messages_remote", others)
        .whole("bytes_mpi", mpi_bytes);
  else
    row.null("messages").null("messages_mpi").null("messages_remote").null("bytes_mpi");
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
  if (!run.options.points || !entry.field) {
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
  if (level.empty() || level == "l2" || !entry.field)
    row.null("roofline_percent");
  else
    row.number("roofline_percent",
               100 * run.copy.median / run.computing.at(entry.field->storage()).own.median);
}

}  // namespace

void add_rows(const Run& run, Outcome& outcome) {
  for (const Entry& entry : run.entries) {
    outcome.tonari_correct = outcome.tonari_correct && (entry.verified || !is_ours(entry.kind));
    Row row;
    describe(row, run, entry);
    add_times(row, run, entry);
    add_ratios(row, run, entry);
    add_messages(row, run, entry);
    add_padding(row, run, entry);
    add_steps(row, run, entry);
    add_roofline(row, run, entry);
    row.flag("verified", entry.verified)
        .text("chosen", entry.exchange->chosen())
        .text("description", entry.exchange->description());
    row.number("pingpong_us", run.quiet.before.median * us)
        .flag("disturbed", run.quiet.disturbed());
    outcome.rows.push_back(std::move(row));
  }
}

}  // namespace bench::halo
