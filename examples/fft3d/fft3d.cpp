// SPDX-License-Identifier: BSD-3-Clause
// The transform of a 3-d grid that fits into memory once: in slabs, in place, the slabs exchanged
// by tonari's in-place all-to-all. Beside it the same with MPI's own MPI_IN_PLACE, and FFTW's MPI
// transform; all are checked, and the memory each takes besides the grid is measured.
//
//   mpiexec -n 4 fft3d [--n N | --size N0xN1xN2] [--repeat R] [--memory BYTES] [--measure]
//
// Prints a table; exit status 0 only if all differences are at most of rounding. Not supported: n0
// and n1 that the number of ranks does not divide.
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "memory.hpp"

namespace {

struct Options {
  std::size_t n0 = 64, n1 = 64, n2 = 64;
  int repeat = 5;
  std::string memory;              // bytes for blocks on their way; empty: tonari's default
  unsigned flags = FFTW_ESTIMATE;  // or FFTW_MEASURE, for the serial transforms of all
};

// The same on all ranks, so one of them says it.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void parse_size(const std::string& text, Options& options) {
  char rest = 0;
  if (std::sscanf(text.c_str(), "%zux%zux%zu%c", &options.n0, &options.n1, &options.n2, &rest) != 3)
    throw UsageError("--size wants three numbers, as in 64x48x32");
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&] {
      return i + 1 < argc ? std::string(argv[++i]) : throw UsageError(name + " wants a value");
    };
    if (name == "--n")
      options.n0 = options.n1 = options.n2 = std::strtoul(value().c_str(), nullptr, 10);
    else if (name == "--size")
      parse_size(value(), options);
    else if (name == "--repeat")
      options.repeat = std::atoi(value().c_str());
    else if (name == "--memory")
      options.memory = value();
    else if (name == "--measure")
      options.flags = FFTW_MEASURE;
    else
      throw UsageError("unknown option " + name);
  }
  constexpr std::size_t too_many = 1 << 15;
  if (options.n0 == 0 || options.n1 == 0 || options.n2 == 0 ||
      std::max({options.n0, options.n1, options.n2}) > too_many || options.repeat < 1)
    throw UsageError("extents are from 1 to 32768, --repeat at least 1");
  return options;
}

Slab make_slab(const Options& options, MPI_Comm comm) {
  Slab slab{comm, 0, 0, options.n0, options.n1, options.n2};
  MPI_Comm_size(comm, &slab.ranks);
  MPI_Comm_rank(comm, &slab.rank);
  const auto p = static_cast<std::size_t>(slab.ranks);
  if (slab.n0 % p != 0 || slab.n1 % p != 0)
    throw UsageError("the first two extents must be multiples of the number of ranks, " +
                     std::to_string(p));
  return slab;
}

// Rounding errors of a transform grow with the logarithm of its length.
double limit(const Slab& slab) { return 1e-15 * (1 + std::log2(slab.points())); }

struct Result {
  std::string name;
  double seconds, exchange_seconds;  // of the slowest rank, medians
  std::optional<long> extra_kib;     // of the rank that takes most
  double waves, there_and_back;
  std::optional<double> difference;  // from the reference, if there is one

  bool within(double limit) const {
    return waves <= limit && there_and_back <= limit && (!difference || *difference <= limit);
  }
};

double median_of_slowest(const Slab& slab, std::vector<double> times) {
  MPI_Allreduce(MPI_IN_PLACE, times.data(), static_cast<int>(times.size()), MPI_DOUBLE, MPI_MAX,
                slab.comm);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

std::optional<long> most(const Slab& slab, std::optional<long> kib) {
  long mine = kib.value_or(LONG_MAX), all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_MAX, slab.comm);
  return all == LONG_MAX ? std::nullopt : std::optional(all);
}

void check(const Slab& slab, Fft& fft, Complex* grid, Result& result) {
  fill_waves(slab, grid);
  fft.forward();
  result.waves = waves_difference(slab, grid, fft.spectrum());
  fill_noise(slab, grid);
  fft.forward();
  fft.backward();
  result.there_and_back = noise_difference(slab, grid, 1 / slab.points());
}

// Leaves the transform of the noise in the grid.
void time(const Slab& slab, int repeat, Fft& fft, Complex* grid, Result& result) {
  std::vector<double> times, exchanges;
  for (int i = 0; i < repeat; ++i) {
    fill_noise(slab, grid);
    MPI_Barrier(slab.comm);
    const double start = MPI_Wtime();
    fft.forward();
    times.push_back(MPI_Wtime() - start);
    exchanges.push_back(fft.exchange_seconds());
  }
  result.seconds = median_of_slowest(slab, times);
  result.exchange_seconds = median_of_slowest(slab, exchanges);
}

// What plans and requests hold counts as extra memory; what only planning needs does not.
template <class Make>
Result run(const Slab& slab, const Options& options, Complex* grid,
           std::optional<Spectrum> reference, Make make) {
  Result result{};
  PeakMemory memory;
  const std::unique_ptr<Fft> fft = make();
  memory.reset();
  result.name = fft->name();
  check(slab, *fft, grid, result);
  time(slab, options.repeat, *fft, grid, result);
  result.extra_kib = most(slab, memory.extra_kib());
  if (reference) result.difference = difference(slab, {grid, fft->spectrum()}, *reference);
  return result;
}

// What others leave behind: FFTW's transform, with which the rest is compared.
struct Reference {
  Grid grid{nullptr, fftw_free};
  std::optional<Spectrum> spectrum;
  std::optional<Result> result;
  std::string what =
      "plane waves alone: FFTW's MPI part is not there for this MPI, and the grid is too large for "
      "one process";
};

Reference make_reference(const Slab& slab, const Options& options) {
  constexpr double small = 1 << 20;
  Reference reference;
  if (const std::size_t numbers = fftw_mpi_numbers(slab)) {
    reference.grid = allocate(numbers);
    Strides at{};
    reference.result = run(slab, options, reference.grid.get(), std::nullopt, [&] {
      auto fft = fftw_mpi(slab, reference.grid.get(), options.flags);
      at = fft->spectrum();
      return fft;
    });
    reference.spectrum = {reference.grid.get(), at};
    reference.what = "FFTW's MPI transform";
  } else if (slab.points() <= small) {
    reference.grid = serial_transform(slab);
    reference.spectrum = part_of_rank(slab, reference.grid);
    reference.what = "FFTW's serial transform (its MPI part is not there for this MPI)";
  }
  return reference;
}

std::vector<Result> run_all(const Slab& slab, const Options& options, const Reference& reference) {
  std::vector<Result> results;
  const Grid grid = allocate(slab.volume());
  fill_noise(slab, grid.get());  // all its pages are there before memory is measured
  results.push_back(run(slab, options, grid.get(), reference.spectrum, [&] {
    return std::make_unique<SlabFft>(
        slab, grid.get(), std::make_unique<TonariExchange>(slab, grid.get(), options.memory),
        options.flags);
  }));
  results.push_back(run(slab, options, grid.get(), reference.spectrum, [&] {
    return std::make_unique<SlabFft>(
        slab, grid.get(), std::make_unique<NativeExchange>(slab, grid.get()), options.flags);
  }));
  if (reference.result) results.push_back(*reference.result);
  return results;
}

std::string cell(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return std::isnan(value) ? "-" : text;
}

void print(const Slab& slab, const Reference& reference, const std::vector<Result>& results) {
  std::printf("%zu x %zu x %zu complex numbers on %d rank%s, %.0f KiB each; compared with %s\n",
              slab.n0, slab.n1, slab.n2, slab.ranks, slab.ranks == 1 ? "" : "s",
              static_cast<double>(slab.volume() * sizeof(Complex)) / 1024, reference.what.c_str());
  std::printf("%-46s %10s %11s %10s %10s %14s %11s\n", "", "forward ms", "exchange ms", "extra KiB",
              "difference", "there and back", "plane waves");
  for (const Result& r : results)
    std::printf("%-46s %10s %11s %10s %10s %14.1e %11.1e\n", r.name.c_str(),
                cell("%.3f", r.seconds * 1e3).c_str(),
                cell("%.3f", r.exchange_seconds * 1e3).c_str(),
                r.extra_kib ? std::to_string(*r.extra_kib).c_str() : "-",
                cell("%.1e", r.difference.value_or(NAN)).c_str(), r.there_and_back, r.waves);
}

// All of it on a small grid: what MPI and FFTW set up once, for first messages and first plans, is
// nobody's extra memory.
void rehearse(Slab slab, Options options) {
  slab.n0 = slab.n1 = 2 * static_cast<std::size_t>(slab.ranks);
  slab.n2 = 1024;
  options.repeat = 1;
  run_all(slab, options, make_reference(slab, options));
}

bool fft3d(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const Slab slab = make_slab(options, MPI_COMM_WORLD);
  rehearse(slab, options);
  const Reference reference = make_reference(slab, options);
  const std::vector<Result> results = run_all(slab, options, reference);
  if (slab.root()) print(slab, reference, results);
  const auto right = [&](const Result& r) { return r.within(limit(slab)); };
  const bool passed = std::all_of(results.begin(), results.end(), right);
  if (slab.root() && !passed) std::printf("FAILED: a difference is above %.1e\n", limit(slab));
  return passed;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool passed = false;
  try {
    passed = fft3d(argc, argv);
  } catch (const UsageError& error) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::fprintf(stderr, "fft3d: %s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fft3d: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
