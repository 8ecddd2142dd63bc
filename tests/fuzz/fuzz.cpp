// SPDX-License-Identifier: BSD-3-Clause
// A differential fuzzer of all exchanges: random ones in flight together, and what they deliver
// compared with what every rank works out for itself. A case is drawn from its seed alone, and the
// next one has the next seed. The first case that goes wrong ends all ranks with one sentence,
// which says how to run it again.
//
//   mpiexec -n 3 tonari_fuzz --seconds 3600     cases for an hour, from a random seed on
//                            --seconds 9 --least 50   at least so many, however long they take
//                            --seed 7 --cases 1 that one case
//                            --seed day         from a seed that is another one each day
//   --kind operation|inplace|vector|grid|blocks|sparse|group   exchanges of one kind only
//   --patience n                                seconds after which a case counts as hung
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "fuzz/case.hpp"
#include "fuzz/watchdog.hpp"

namespace tonari::fuzz {
namespace {

struct Options {
  std::uint32_t seed = std::random_device()();
  std::uint32_t cases = 0xFFFFFFFFu, least = 0;
  double seconds = 0, patience = 60;
  std::string kind;
};

bool read_number(const std::string& text, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// Days are so far apart that no case comes again on the next one.
std::uint32_t seed_of_the_day() {
  using std::chrono::floor, std::chrono::days, std::chrono::system_clock;
  const auto today = floor<days>(system_clock::now()).time_since_epoch().count();
  return static_cast<std::uint32_t>(today) * 100'000u;
}

// What is wrong, or empty.
std::string read_options(int argc, char** argv, Options& o) {
  bool bounded = false;
  for (int k = 1; k < argc; ++k) {
    const std::string name = argv[k], value = k + 1 < argc ? argv[++k] : "";
    std::uint32_t number = name == "--seed" && value == "day" ? seed_of_the_day() : 0;
    if (name != "--kind" && number == 0 && !read_number(value, number))
      return name + " needs a number, not '" + value + "'";
    if (name == "--seed")
      o.seed = number;
    else if (name == "--cases")
      o.cases = number, bounded = true;
    else if (name == "--seconds")
      o.seconds = number, bounded = true;
    else if (name == "--least")
      o.least = number;
    else if (name == "--patience")
      o.patience = number;
    else if (name == "--kind")
      o.kind = value;
    else
      return "there is no option " + name;
  }
  if (o.seconds == 0) o.least = o.cases;
  return bounded ? "" : "say how many --cases or --seconds";
}

// Communicators last for all cases: what they cost is not what is to be tested. Some cases have one
// of their own.
class Places {
 public:
  Places() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    static const char* const nodes[] = {"", "2", "1,3", "1"};
    for (int k = 0; k < 4; ++k) kept_.push_back(make(k % 2 ? size_ - rank_ : 0, nodes[k]));
  }
  const Place& draw(std::uint32_t seed) {
    Random random(seed ^ 0xA5A5A5A5u);
    const auto drawn = pick(random, 0, 19);
    if (drawn > 0) return kept_[static_cast<std::size_t>(drawn < 10 ? 0 : drawn % 4)];
    fresh_ = make(pick(random, 0, 1) ? -rank_ : 0, "");
    return fresh_;
  }
  void done() {
    if (fresh_.comm != MPI_COMM_NULL) MPI_Comm_free(&fresh_.comm);
  }
  ~Places() {
    for (Place& place : kept_) MPI_Comm_free(&place.comm);
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  Place make(int key, const char* nodes) const {
    Place place{MPI_COMM_NULL, nodes};
    MPI_Comm_split(MPI_COMM_WORLD, 0, key, &place.comm);
    MPI_Comm_rank(place.comm, &place.rank);
    MPI_Comm_size(place.comm, &place.ranks);
    return place;
  }
  int rank_ = 0, size_ = 1;
  std::vector<Place> kept_;
  Place fresh_;
};

class Fuzzer {
 public:
  explicit Fuzzer(const Options& options) : o_(options), watchdog_(o_.patience, places_.rank()) {
    MPI_Bcast(&o_.seed, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  }
  int run() {
    say("cases", "follow");
    std::uint32_t done = 0;
    bool failed = false;
    for (bool more = o_.cases > 0; more && !failed; more = go_on(++done))
      failed = run_one(o_.seed + done);
    const bool too_few = done < std::min(o_.least, o_.cases);
    if (!failed)
      say(std::to_string(done) + " cases", too_few ? "too few of them" : "nothing wrong");
    return failed || too_few;
  }

 private:
  // Also before the first case, for those who look into what hangs.
  void say(const std::string& cases, const char* of_them) const {
    if (places_.rank() != 0) return;
    std::printf("tonari_fuzz: %s from seed %u on %d ranks, %s\n", cases.c_str(), o_.seed,
                places_.size(), of_them);
    std::fflush(stdout);
  }
  std::string again(std::uint32_t seed) const {
    return "tonari_fuzz: case " + std::to_string(seed) + " (again: mpiexec -n " +
           std::to_string(places_.size()) + " tonari_fuzz --cases 1 --seed " +
           std::to_string(seed) + (o_.kind.empty() ? "" : " --kind " + o_.kind) + ") on rank " +
           std::to_string(places_.rank());
  }
  bool go_on(std::uint32_t done) const {
    const bool in_time = o_.seconds == 0 || elapsed() < o_.seconds;
    int more = done < o_.cases && (in_time || done < o_.least);
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return more;
  }
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

  // Whether data were wrong, on any rank. What else goes wrong ends the process.
  bool run_one(std::uint32_t seed) {
    const std::string name = again(seed);
    watchdog_.watch(name);
    std::string wrong, told;
    try {
      Case one(seed, places_.draw(seed), o_.kind);
      told = one.told();
      watchdog_.watch(name + ", of " + told + ",");
      wrong = one.run();
    } catch (const std::exception& e) {
      end_with(name + (told.empty() ? "" : ", of " + told) + ": " + e.what(), places_.rank());
    }
    int first = wrong.empty() ? places_.size() : places_.rank();
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    places_.done();
    if (first == places_.rank())
      std::fprintf(stderr, "%s, of %s: %s\n", name.c_str(), told.c_str(), wrong.c_str());
    return first < places_.size();
  }

  Options o_;
  Places places_;
  Watchdog watchdog_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

int fuzz(int argc, char** argv) {
  Options options;
  if (const std::string wrong = read_options(argc, argv, options); !wrong.empty()) {
    std::fprintf(stderr, "tonari_fuzz: %s\n", wrong.c_str());
    return 2;
  }
  return Fuzzer(options).run();
}

}  // namespace
}  // namespace tonari::fuzz

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const int status = tonari::fuzz::fuzz(argc, argv);
  MPI_Finalize();
  return status;
}
