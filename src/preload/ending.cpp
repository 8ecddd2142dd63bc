// SPDX-License-Identifier: BSD-3-Clause
// The end of MPI: neighborhoods end before it, on all ranks alike.
#include "preload/aside.hpp"
#include "preload/attribute.hpp"
#include "preload/interpose.hpp"

namespace tonari::preload {
namespace {

int finalize(const Called<int()>& called) {
  if (!all_calls_pass()) finalize_begins();
  return called.real();
}

}  // namespace

TONARI_IN_FRONT_OF(MPI_Finalize, (), finalize(called));

}  // namespace tonari::preload
