// SPDX-License-Identifier: BSD-3-Clause
#include "spmv/options.hpp"

#include "base/error.hpp"
#include "spmv/contest.hpp"

namespace bench::spmv {
using tonari::Errc;

const char* const usage =
    "tonari_bench_spmv --matrix DIR [options], started by mpiexec: exchanges of vectors for sparse "
    "matrix-vector products, and whole products, side by side\n"
    "  --matrix DIR       what `tonari partition` has written, for as many ranks as there are\n"
    "  --kinds K,...      forward, fields, reverse: exchanges; rows, columns: products (all)\n"
    "  --candidates A,... irecv, irecv-persistent, native, native-nonblocking, native-persistent; "
    "tonari's auto and its algorithms for graphs;\n"
    "                     vector/ROUTE: direct, store-and-forward/2, balanced, message-sharing, "
    "node, auto; of fields also requests, group;\n"
    "                     of forward and reverse also one-shot, start-with, two-requests (all that "
    "apply)\n"
    "  --rounds N         timed rounds (200)      --max-time S  but no longer than so many seconds "
    "per kind (20)\n"
    "  --tuning MODE      tonari_tune of all that tonari makes (Open MPI's launcher takes --tune "
    "for itself): auto (default), off, model, measure\n"
    "  --count            verify and count messages only\n"
    "  --output FILE      where the JSON goes (standard output)\n";

Options parse_options(int argc, char** argv) {
  Options options;
  options.kinds = all_kinds();
  read_options(argc, argv,
               {word("matrix", options.matrix), names("kinds", options.kinds, all_kinds(), "kind"),
                names("candidates", options.candidates, all_candidates(), "candidate"),
                word("tuning", options.tune), flag("count", options.count)},
               options);
  if (!options.help && options.matrix.empty())
    tonari::fail(Errc::argument,
                 "--matrix is missing: a folder that `tonari partition` has written");
  return options;
}

}  // namespace bench::spmv
