// SPDX-License-Identifier: BSD-3-Clause
// Measures what messages cost on these ranks, as the library does at a first init, and writes it as
// a machine file (`tonari calibrate`). The library keeps it in its cache, which lies in a folder of
// this program's own here, so that nothing is known before.
#include <mpi.h>
#include <tonari/tonari.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "memory/whole_file.hpp"
#include "program.hpp"
#include "select/cache.hpp"
#include "timing.hpp"

namespace {

using bench::run_program;

constexpr const char* name = "tonari_calibrate";
constexpr int most_tries = 4;  // the library gives up where there is never time for all

void check(int status) {
  if (status != MPI_SUCCESS) tonari::fail(tonari::Errc::mpi, tonari_last_error());
}

// [collective] Makes the library ask its model about an exchange of all ranks.
void ask_the_model() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  check(tonari_neighborhood_create_adjacent(comm, 1, &before, MPI_UNWEIGHTED, 1, &next,
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, &near));
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "tonari_tune", "model");
  double out = 0, in = 0;
  tonari_request request = TONARI_REQUEST_NULL;
  check(tonari_alltoall_init(&out, 1, MPI_DOUBLE, &in, 1, MPI_DOUBLE, near, info, &request));
  check(tonari_request_free(&request));
  check(tonari_neighborhood_free(&near));
  MPI_Info_free(&info);
  MPI_Comm_free(&comm);
}

// Of the only entry that the library has made there.
std::optional<tonari::LogGP> found_in(const std::string& folder) {
  const std::string text =
      tonari::read_file((std::filesystem::path(folder) / "machines").string(), 64 * 1024)
          .value_or("");
  const std::size_t tab = text.rfind('\t');
  if (tab == std::string::npos) return std::nullopt;
  return tonari::loggp_from_text(text.substr(tab + 1, text.find('\n', tab) - tab - 1));
}

std::string make_folder() {
  std::string folder = (std::filesystem::temp_directory_path() / "tonari-calibrate-XXXXXX");
  if (!mkdtemp(folder.data()))
    tonari::fail(tonari::Errc::file, "cannot make a folder below ",
                 std::filesystem::temp_directory_path().string());
  return folder;
}

// Also where every ping-pong waits for a time slice, but for a few that were lucky.
bool disturbed(const bench::Quiet& quiet) {
  const auto slow = [](const bench::Spread& s) { return s.median > 4 * s.least; };
  return quiet.disturbed() || slow(quiet.before) || slow(quiet.after);
}

// How quiet the machine was, as a line that readers of machine files pass over.
std::string comment(const bench::Quiet& quiet) {
  char line[200];
  std::snprintf(line, sizeof line,
                "# pingpong_us=%.3f pingpong_p90_us=%.3f pingpong_after_us=%.3f "
                "pingpong_after_p90_us=%.3f disturbed=%d\n",
                quiet.before.median * 1e6, quiet.before.p90 * 1e6, quiet.after.median * 1e6,
                quiet.after.p90 * 1e6, disturbed(quiet) ? 1 : 0);
  return line;
}

int calibrate(int rank, const std::string& output) {
  bench::Quiet quiet;
  quiet.before = bench::ping_pong(MPI_COMM_WORLD);
  const std::string folder = rank == 0 ? make_folder() : "";
  if (rank == 0) setenv("TONARI_CACHE_DIR", folder.c_str(), 1);
  int done = 0;
  std::optional<tonari::LogGP> machine;
  for (int k = 0; k < most_tries && !done; ++k) {
    ask_the_model();
    if (rank == 0) machine = found_in(folder);
    done = machine.has_value();
    MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  quiet.after = bench::ping_pong(MPI_COMM_WORLD);
  if (rank == 0) std::filesystem::remove_all(folder);
  if (!done)
    tonari::fail(tonari::Errc::mpi,
                 "there was no time to measure all: other programs use these cores; try again "
                 "when they have ended");
  if (rank > 0) return 0;
  const std::string line = comment(quiet) + tonari::to_text(*machine) + "\n";
  if (output.empty()) return std::fputs(line.c_str(), stdout), 0;
  std::ofstream out(output);
  out << line << std::flush;
  if (!out) tonari::fail(tonari::Errc::file, "cannot write ", output);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string output;
  for (int k = 1; k + 1 < argc; ++k)
    if (std::string(argv[k]) == "--output") output = argv[k + 1];
  unsetenv("TONARI_MACHINE");
  setenv("TONARI_TUNE_SECONDS", "1", 0);  // by default an init takes 2 ms for this
  return run_program(name, argc, argv, [&](int rank) { return calibrate(rank, output); });
}
