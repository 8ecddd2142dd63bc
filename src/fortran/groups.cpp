// SPDX-License-Identifier: BSD-3-Clause
#include "fortran/form.hpp"
#include "fortran/handles.hpp"
#include "tonari/group.h"

using namespace tonari;

extern "C" int tonari_fortran_group_start(int comm) { return tonari_group_start(comm_of(comm)); }

extern "C" int tonari_fortran_group_end(int form, int info, tonari_request* request) {
  return in_form(
      form, [&] { return tonari_group_run(info_of(info)); },
      [&] { return tonari_group_irun(info_of(info), request); },
      [&] { return tonari_group_end(info_of(info), request); });
}
