#include "spmv/options.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "spmv/contest.hpp"
#include "words.hpp"

namespace bench::spmv {
using tonari::Errc;

const char* const usage =
    "tonari_bench_spmv --matrix DIR [options], started by mpiexec: exchanges of vectors for sparse "
    "matrix-vector products, and whole products, side by side\n"
    "  --matrix DIR       what `tonari partition` has written, for as many ranks as there are\n"
    "  --kinds K,...      forward, reverse: exchanges; rows, columns: products (all)\n"
    "  --candidates A,... irecv, irecv-persistent, native, native-nonblocking, native-persistent; "
    "tonari's auto and its algorithms for graphs;\n"
    "                     vector/ROUTE: direct, topology:2, node, auto (all that apply)\n"
    "  --rounds N         timed rounds (200)      --max-time S  but no longer than so many seconds "
    "per kind (20)\n"
    "  --tuning MODE      tonari_tune of all that tonari makes (Open MPI's launcher takes --tune "
    "for itself): auto (default), off, model, measure\n"
    "  --count            verify and count messages only\n"
    "  --output FILE      where the JSON goes (standard output)\n";

namespace {

std::vector<std::string> known(const std::string& list, const std::vector<std::string>& all,
                               const char* what) {
  std::vector<std::string> names = split(list, ',');
  std::string choice;
  for (const std::string& each : all) choice += (choice.empty() ? "" : ", ") + each;
  for (const std::string& name : names)
    if (std::find(all.begin(), all.end(), name) == all.end())
      tonari::fail(Errc::argument, "unknown ", what, " '", name, "'; there are ", choice);
  if (names.empty())
    tonari::fail(Errc::argument, "the list of ", what, "s is empty; there are ", choice);
  return names;
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  options.kinds = all_kinds();
  read_options(
      argc, argv,
      {{"matrix", [&](const std::string& word) { options.matrix = word; }},
       {"kinds",
        [&](const std::string& list) { options.kinds = known(list, all_kinds(), "kind"); }},
       {"candidates",
        [&](const std::string& list) {
          options.candidates = known(list, all_candidates(), "candidate");
        }},
       {"tuning", [&](const std::string& word) { options.tune = word; }},
       flag("count", options.count)},
      options);
  if (!options.help && options.matrix.empty())
    tonari::fail(Errc::argument,
                 "--matrix is missing: a folder that `tonari partition` has written");
  return options;
}

}  // namespace bench::spmv
