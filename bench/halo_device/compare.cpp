// SPDX-License-Identifier: BSD-3-Clause
// tonari_bench_halo_device: ghost exchanges of a cube in memory of a GPU, and stencils on it, in
// one process (Zhao 2021, section 7.2). Ways go into a stream one behind the other, and the host
// waits for the last of a batch, as programs do.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "collect.hpp"
#include "halo_device/device_steps.hpp"
#include "halo_device/options.hpp"
#include "halo_device/ways.hpp"
#include "program.hpp"
#include "timing.hpp"

namespace bench::halo {

namespace {

struct Timed {
  DeviceKind kind;
  std::function<void(tonari::DeviceStream)> put;
  bool verified = true;
  int batch = 1;
  double padding_of_messages = 0, padding_of_memory = 0;
  Spread seconds{};
};

// What one size has. Fields before what refers to them.
class DeviceRun {
 public:
  DeviceRun(const DeviceOptions& options, Place& place, long long size, MPI_Comm comm)
      : options_(options),
        place_(place),
        shape_{size, options.ghost},
        comm_(comm),
        held_(place.device()) {
    stream_ = held_.stream(0);
  }

  void compare(Outcome& outcome) {
    add(make_floors(place_, shape_), nullptr);
    for (const DeviceStorage storage : {DeviceStorage::array, DeviceStorage::brick,
                                        DeviceStorage::mapped, DeviceStorage::aliased})
      exchanges(storage);
    time();
    report(outcome);
    timed_.clear(), ways_.clear(), cubes_.clear();
    for (const std::string& points : options_.stencils)
      if (points != "none") stencils(points == "7" ? 7 : 125, outcome);
  }

 private:
  DeviceCube& cube(DeviceStorage storage) {
    return *cubes_.emplace_back(std::make_unique<DeviceCube>(place_, shape_, storage));
  }

  void exchanges(DeviceStorage storage) {
    DeviceCube& where = cube(storage);
    add(make_ways(place_, where, comm_), &where);
  }

  void add(std::vector<NamedWay> made, DeviceCube* where) {
    for (NamedWay& each : made) {
      DeviceWay* const way = ways_.emplace_back(std::move(each.way)).get();
      Timed timed{each.kind, [way](tonari::DeviceStream stream) { way->put(stream); }};
      if (each.kind.fills) timed.verified = where->verify([&] { run(timed, 1); });
      if (where) timed.padding_of_messages = where->padding_of_messages();
      if (where) timed.padding_of_memory = where->padding_of_memory();
      timed_.push_back(std::move(timed));
    }
  }

  void run(const Timed& timed, int times) {
    for (int k = 0; k < times; ++k) timed.put(stream_);
    place_.device().synchronize(stream_);
  }

  // So many at once that a wait of the host does not count.
  int batch_of(const Timed& timed) {
    constexpr double long_enough = 1e-3;
    constexpr int tries = 8, most = 256;
    run(timed, 1);
    const double start = now();
    run(timed, tries);
    const double once = (now() - start) / tries;
    return place_.simulated() ? 1 : std::clamp(static_cast<int>(long_enough / once), 1, most);
  }

  void time() {
    std::vector<std::function<void()>> runs;
    for (Timed& each : timed_) {
      each.batch = batch_of(each);
      runs.emplace_back([this, &each] { run(each, each.batch); });
    }
    const Effort effort{options_.rounds, 1, 0, options_.max_time / 2, 8, {}, 1};
    const Timing timing = time_side_by_side(runs, effort, comm_);
    rounds_ = timing.rounds;
    for (std::size_t k = 0; k < timed_.size(); ++k) {
      Spread& s = timed_[k].seconds = timing.seconds[k];
      for (double* each : {&s.median, &s.q1, &s.q3, &s.p90, &s.least, &s.most, &s.mean})
        *each /= timed_[k].batch;
    }
  }

  void stencils(int points, Outcome& outcome) {
    std::vector<std::unique_ptr<DeviceSteps>> steps;
    for (const DeviceStorage storage : {DeviceStorage::array, DeviceStorage::brick}) {
      DeviceCube &in = cube(storage), &out = cube(storage);
      DeviceSteps& made =
          *steps.emplace_back(std::make_unique<DeviceSteps>(place_, points, in, out));
      Timed copy{{name(storage), "copy-all", 1, 1, static_cast<long long>(in.bytes()), false, false,
                  "the driver copies the cube"},
                 [this, &in, &out](tonari::DeviceStream stream) {
                   place_.copy(stream, out.base(), in.base(), in.bytes());
                 }};
      Timed timed{{name(storage), made.name(), 1, 1, 16 * shape_.size * shape_.size * shape_.size,
                   false, true, "own cells of one copy from those of the other one"},
                  [&made](tonari::DeviceStream stream) { made.put(stream); }};
      timed.verified = made.verify();
      timed_.push_back(std::move(copy)), timed_.push_back(std::move(timed));
    }
    time();
    report(outcome);
    timed_.clear(), cubes_.clear();
  }

  double median_of(const char* exchange) const {
    const auto found = std::ranges::find_if(
        timed_, [&](const Timed& each) { return each.kind.exchange == exchange && each.verified; });
    return found == timed_.end() ? 0 : found->seconds.median;
  }

  void report(Outcome& outcome) const {
    for (const Timed& each : timed_) {
      if (each.kind.ours && !each.verified) outcome.tonari_correct = false;
      outcome.rows.push_back(row_of(each));
    }
  }

  Row row_of(const Timed& each) const {
    const auto& [storage, exchange, launches, pieces, bytes, fills, ours, what] = each.kind;
    const double mine = each.verified ? each.seconds.median : 0;
    Row row;
    row.text("device", place_.name()).flag("simulated", place_.simulated());
    row.text("storage", storage).text("exchange", exchange).whole("size", shape_.size);
    row.whole("ghost", shape_.ghost).whole("launches", launches).whole("pieces", pieces);
    row.whole("bytes", bytes).mpi().quartiles(each.seconds);
    row.whole("rounds", rounds_).whole("batch", each.batch);
    row.number("padding_percent", each.padding_of_messages);
    row.number("memory_padding_percent", each.padding_of_memory);
    row.ratio("of_copy", mine, median_of("copy")).ratio("of_copy_all", mine, median_of("copy-all"));
    row.ratio("ratio_gathers", median_of("gathers"), mine);
    row.ratio("ratio_launches", median_of("launches"), mine);
    row.ratio("ratio_datatypes", median_of("datatypes"), mine);
    return std::move(row.flag("verified", each.verified).text("description", what));
  }

  const DeviceOptions& options_;
  Place& place_;
  CubeShape shape_;
  MPI_Comm comm_;
  tonari::HeldOnDevice held_;
  tonari::DeviceStream stream_;
  std::vector<std::unique_ptr<DeviceCube>> cubes_;
  std::vector<std::unique_ptr<DeviceWay>> ways_;
  std::vector<Timed> timed_;
  int rounds_ = 0;
};

Outcome compare(const DeviceOptions& options, MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  if (ranks != 1)
    tonari::fail(tonari::Errc::argument,
                 "the benchmark of devices has one rank, which is its own neighbor, and ", ranks,
                 " were started; start one");
  const std::unique_ptr<Place> place = make_place(options.device);
  Outcome outcome;
  for (const long long size : options.sizes) {
    std::fprintf(stderr, "tonari_bench_halo_device: %lld cells along each dimension, %s\n", size,
                 place->name().c_str());
    DeviceRun(options, *place, size, comm).compare(outcome);
  }
  return outcome;
}

}  // namespace
}  // namespace bench::halo

int main(int argc, char** argv) {
  using namespace bench::halo;
  return bench::run_comparison("tonari_bench_halo_device", device_usage, argc, argv,
                               parse_device_options, compare);
}
