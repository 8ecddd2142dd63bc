// SPDX-License-Identifier: BSD-3-Clause
// What an MPI gets wrong in neighborhood collectives and all-to-alls: every form of every operation
// on many topologies, with payloads that differ by rank, block and element. Plain MPI: it is
// compiled by any MPI's wrapper, and runs with any number of ranks, alone or behind a library that
// stands in front of the MPI.
//
//   mpicxx -std=c++20 tests/conformance/*.cpp -o tonari_conformance
//   mpiexec -n 5 ./tonari_conformance [options]
//
//   --short           half of the topologies, and fewer kinds of data
//   --only TEXT       trials whose name, as --list prints it, has this in it; may be repeated
//   --after N         begins behind this trial and all others of its call and topology
//   --patience N      seconds that an exchange may take (10)
//   --json FILE       appends a line before and after each trial
//   --list            prints the trials
//
// Exit status: 0 if all is right, 1 if something is wrong, 2 for wrong options; 3 if an exchange
// did not end, and 4 if the process crashed: the job ends there.
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "report.hpp"
#include "trial.hpp"
#include "watch.hpp"

namespace {

using namespace conformance;

struct Options {
  bool brief = false, list = false, understood = true;
  int after = -1, patience = 10;
  std::string json;
  std::vector<std::string> only;

  bool wants(const Trial& trial) const {
    for (const std::string& text : only)
      if (trial.name().find(text) != std::string::npos) return true;
    return only.empty();
  }
};

Options read(int argc, char** argv) {
  Options o;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    const bool more = k + 1 < argc;
    if (word == "--short")
      o.brief = true;
    else if (word == "--list")
      o.list = true;
    else if (word == "--only" && more)
      o.only.push_back(argv[++k]);
    else if (word == "--after" && more)
      o.after = std::atoi(argv[++k]);
    else if (word == "--patience" && more)
      o.patience = std::max(std::atoi(argv[++k]), 1);
    else if (word == "--json" && more)
      o.json = argv[++k];
    else
      o.understood = false;
  }
  return o;
}

std::string this_mpi() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string line(text, std::strcspn(text, "\n,"));
  for (char& c : line) c = c == '\t' ? ' ' : c;
  return line;
}

// A communicator for some trials. One on which something was wrong is never freed: what is left in
// it would spoil others to which the MPI gives its number.
class Place {
 public:
  Place(const Topology& topology) : topology_(topology) {}
  ~Place() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }

  Verdict run(const Call& call, Data data, int patience) {
    if (!made_) make();
    if (!edges_->error.empty()) return {edges_->error, false};
    return comm_ == MPI_COMM_NULL ? Verdict{} : try_call(call, data, *edges_, comm_, patience);
  }
  void leave() {
    made_ = false;
    comm_ = MPI_COMM_NULL;
    edges_ = new Edges;  // what never ends still uses the old ones
  }

 private:
  void make() {
    *edges_ = {};
    comm_ = topology_.make(MPI_COMM_WORLD, *edges_);
    made_ = true;
    if (comm_ != MPI_COMM_NULL) MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }

  const Topology& topology_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  Edges* edges_ = new Edges;
  bool made_ = false;
};

// All trials on all ranks, and what they find.
class Suite {
 public:
  Suite(const Options& options, MPI_Comm control) : options_(options), control_(control) {
    MPI_Comm_rank(control, &rank_), MPI_Comm_size(control, &ranks_);
  }

  int run() {
    Report report(rank_ == 0 && !options_.list, options_.json);
    report.heading(this_mpi(), ranks_);
    for (const Topology& topology : all_topologies())
      for (const Call& call : all_calls())
        if (topology.neighbors == call.neighbors && (topology.short_form || !options_.brief))
          try_all_data(topology, call, report);
    if (matching_ == 0) return nothing_matches();
    if (!options_.list) report.all_ended();
    return report.wrong() > 0;
  }
  bool something_pending() const { return pending_; }

 private:
  int nothing_matches() const {
    if (rank_ == 0)
      std::fprintf(stderr,
                   "tonari_conformance: no trial's name contains what --only asks for; "
                   "--list shows all names\n");
    return 2;
  }

  bool takes(Data data, const Call& call) const {
    if (options_.brief && (data == Data::bottom || data == Data::empty)) return false;
    return data != Data::in_place || !call.neighbors;
  }

  void try_all_data(const Topology& topology, const Call& call, Report& report) {
    Place place(topology);
    std::vector<Data> kinds;
    std::ranges::copy_if(all_data, std::back_inserter(kinds),
                         [&](Data data) { return takes(data, call); });
    const bool passed = number_ <= options_.after;
    for (const Data data : kinds) {
      const Trial trial{number_++, call.name(), topology.name, name_of(data)};
      if (!options_.wants(trial)) continue;
      ++matching_;
      if (passed) continue;
      if (options_.list)
        show(trial);
      else
        try_one(place, call, data, trial, report);
    }
    report.show();
  }

  void show(const Trial& trial) const {
    if (rank_ == 0) std::printf("%d: %s\n", trial.number, trial.name().c_str());
  }

  void try_one(Place& place, const Call& call, Data data, const Trial& trial, Report& report) {
    report.begins(trial);
    watch("rank " + std::to_string(rank_) + ", " + trial.name(), options_.patience);
    const Verdict mine = place.run(call, data, options_.patience);
    const std::string first = first_of_all(mine);
    if (!first.empty()) place.leave();
    report.ended(trial, first);
  }

  // What the lowest rank that finds something says.
  std::string first_of_all(const Verdict& mine) {
    const int me[2] = {mine.wrong.empty() ? ranks_ : rank_, -static_cast<int>(mine.pending)};
    int all[2];
    MPI_Allreduce(me, all, 2, MPI_INT, MPI_MIN, control_);
    pending_ |= all[1] != 0;
    if (all[0] == ranks_) return {};
    char text[500] = "";
    std::snprintf(text, sizeof text, "%s", mine.wrong.c_str());
    MPI_Bcast(text, sizeof text, MPI_CHAR, all[0], control_);
    return text;
  }

  const Options& options_;
  MPI_Comm control_;
  int rank_ = 0, ranks_ = 0, number_ = 0, matching_ = 0;
  bool pending_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Options options = read(argc, argv);
  int rank = 0, status = 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!options.understood && rank == 0)
    std::fprintf(stderr,
                 "tonari_conformance: the options are --short, --only TEXT, --after N, "
                 "--patience N, --json FILE and --list\n");
  if (options.understood) {
    MPI_Comm control = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &control);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // Open MPI calls that of requests
    Suite suite(options, control);
    status = suite.run();
    watch("rank " + std::to_string(rank) + ", the end", options.patience);
    if (suite.something_pending()) {  // MPI_Finalize might wait for it
      MPI_Barrier(control);           // a launcher ends the others when one rank has left
      std::exit(status);
    }
    MPI_Comm_free(&control);
  }
  MPI_Finalize();
  return status;
}
