// SPDX-License-Identifier: BSD-3-Clause
#include "preload/progress.hpp"

#include <mpi.h>

#include <vector>

#include "base/lasting.hpp"
#include "preload/hook.hpp"

namespace tonari::preload {
namespace {

std::vector<Begun>& all_begun() { return lasting<std::vector<Begun>>(); }

// Tells whether the exchange is over.
bool is_over(const Begun& begun, int& code) {
  int complete = 0;
  code = tonari_test(begun.request, &complete);
  return code != TONARI_SUCCESS || complete;
}

// Returns how many have become complete, as the MPI wants to know.
int proceed() {
  if (all_begun().empty() || InTonari::now()) return 0;
  const InTonari now;
  int over = 0;
  for (std::size_t k = 0; k < all_begun().size();) {
    int code = TONARI_SUCCESS;
    const Begun begun = all_begun()[k];
    if (!is_over(begun, code)) {
      ++k;
      continue;
    }
    all_begun().erase(all_begun().begin() + static_cast<std::ptrdiff_t>(k));
    begun.complete(begun.who, code);
    ++over;
  }
  return over;
}

bool one_thread_at_a_time() {
  int level = MPI_THREAD_MULTIPLE;
  return PMPI_Query_thread(&level) == MPI_SUCCESS && level != MPI_THREAD_MULTIPLE;
}

}  // namespace

thread_local int InTonari::depth = 0;

const char* why_not_driven() {
  static const char* const why =
      !one_thread_at_a_time() ? "MPI_THREAD_MULTIPLE; ask for MPI_THREAD_SERIALIZED, in mpi4py by "
                                "mpi4py.rc.thread_level"
      : !hook_into_progress(proceed) ? "the MPI does not drive exchanges of others"
                                     : nullptr;
  return why;
}

bool mpi_drives_exchanges() { return !why_not_driven(); }

void drive(const Begun& begun) {
  all_begun().push_back(begun);
  (void)proceed();
}

}  // namespace tonari::preload
