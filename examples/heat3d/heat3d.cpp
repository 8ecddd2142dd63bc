// SPDX-License-Identifier: BSD-3-Clause
// The 3-d heat equation on any number of ranks, computed twice side by side: once with tonari's
// halo exchange, once with native MPI's. Both are compared with the exact decay of the initial
// modes and with each other, bit by bit, and the two exchanges are timed in turn.
//
//     mpiexec -n 8 heat3d [--points 24] [--steps 400] [--slices FILE]
//
// Prints JSON, one object per line: {"step": ..} on the way, the report at the end. FILE gets the
// field's middle plane at the start, after an eighth of the steps and at the end, as doubles.
// demo.py makes a table and a picture of it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "exchange.hpp"
#include "heat.hpp"
#include "report.hpp"

namespace {

struct Options {
  int points = 24, steps = 400;
  std::string slices;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw std::invalid_argument(name + " needs a value");
    if (name == "--points")
      options.points = std::atoi(argv[i + 1]);
    else if (name == "--steps")
      options.steps = std::atoi(argv[i + 1]);
    else if (name == "--slices")
      options.slices = argv[i + 1];
    else
      throw std::invalid_argument("unknown option " + name +
                                  "; there are --points, --steps and --slices");
  }
  if (options.points < 1 || options.steps < 8)
    throw std::invalid_argument("--points must be at least 1 and --steps at least 8");
  return options;
}

template <class Exchange>
double timed(const Domain& domain, Exchange& exchange, int which) {
  MPI_Barrier(domain.cart);
  const double start = MPI_Wtime();
  exchange(which);
  return MPI_Wtime() - start;
}

// Two copies of the field in each computation: the one that is read, and the one that is written
// and read in the next step.
class Run {
 public:
  Run(const Domain& domain, const Options& options)
      : domain_(domain),
        options_(options),
        halo_(domain),
        with_native_{exact_field(domain, 0), exact_field(domain, 0)},
        with_tonari_(with_native_),
        native_(domain, halo_, with_native_),
        tonari_(domain, halo_, with_tonari_) {
    if (domain.root() && !options.slices.empty()) slices_.open(options.slices, std::ios::binary);
  }

  Report run() {
    for (int step = 0; step < options_.steps; ++step) {
      observe(step);
      exchange(step);
      for (auto* fields : {&with_native_, &with_tonari_})
        advance(domain_, (*fields)[step % 2], (*fields)[1 - step % 2]);
    }
    observe(options_.steps);
    return report();
  }

 private:
  // The two in turn, so that whatever else the machine does hits both alike.
  void exchange(int step) {
    const int which = step % 2;
    if (which == 0) native_times_.push_back(timed(domain_, native_, which));
    tonari_times_.push_back(timed(domain_, tonari_, which));
    if (which == 1) native_times_.push_back(timed(domain_, native_, which));
  }

  void observe(int step) {
    const int interval = std::max(1, options_.steps / 20);
    const int early = options_.steps / 8;  // when the fast modes are gone and the others are not
    const Field& u = with_tonari_[step % 2];
    if (step % interval == 0 || step == options_.steps) {
      samples_.push_back({step, mode_content(domain_, u)});
      if (domain_.root()) std::printf("{\"step\": %d, \"of\": %d}\n", step, options_.steps);
      std::fflush(stdout);
    }
    if (step == 0 || step == early || step == options_.steps) {
      const std::vector<double> slice = middle_slice(domain_, u);
      slice_steps_.push_back(step);
      if (slices_.is_open())
        slices_.write(reinterpret_cast<const char*>(slice.data()),
                      static_cast<std::streamsize>(sizeof(double) * slice.size()));
    }
  }

  Report report() {
    const int now = options_.steps % 2;
    const Field exact = exact_field(domain_, options_.steps);
    Report report{};
    report.domain = &domain_;
    report.steps = options_.steps;
    report.native = slowest(domain_, native_times_);
    report.tonari = slowest(domain_, tonari_times_);
    report.setup_seconds = slowest(domain_, {tonari_.setup_seconds()})[0];
    report.plan = tonari_.request().info();
    report.description = tonari_.request().describe();
    report.error_native = max_difference(domain_, with_native_[now], exact);
    report.error_tonari = max_difference(domain_, with_tonari_[now], exact);
    // the field is of order 1; every step rounds
    report.error_limit = 1e-13 + 1e-15 * options_.steps;
    report.fields_equal = bitwise_equal(domain_, with_native_[now], with_tonari_[now]);
    report.samples = samples_;
    report.slice_steps = slice_steps_;
    return report;
  }

  const Domain& domain_;
  const Options& options_;
  Halo halo_;
  std::array<Field, 2> with_native_, with_tonari_;
  NativeExchange native_;
  TonariExchange tonari_;
  Times native_times_, tonari_times_;
  std::vector<Sample> samples_;
  std::vector<int> slice_steps_;
  std::ofstream slices_;
};

bool heat(int argc, char** argv) {
  const Options options = parse(argc, argv);
  Domain domain = make_domain(options.points);
  bool passed = false;
  {
    Run run(domain, options);
    const Report report = run.run();
    passed = report.passed();
    if (domain.root()) std::printf("%s\n", json(report).c_str());
  }
  MPI_Comm_free(&domain.cart);
  return passed;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool passed = false;
  try {
    passed = heat(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heat3d: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
