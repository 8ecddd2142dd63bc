// SPDX-License-Identifier: BSD-3-Clause
// Tells `tonari run` that a program of MPI has loaded this library. Other processes load it, too,
// such as the `env` that then starts the program without it. Here the program initializes MPI.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/setting_table.hpp"
#include "preload/interpose.hpp"
#include "preload/loaded.hpp"
#include "preload/sites.hpp"

namespace tonari::preload {
namespace {

// Many processes, one file.
void make(const char* file) {
  if (access(file, F_OK) == 0) return;
  const int made = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (made >= 0) return (void)close(made);
  std::fprintf(stderr,
               "tonari: warning: TONARI_RUN_LOADED is '%s', which cannot be made (%s); it must be "
               "the name of a file in a folder that exists\n",
               file, std::strerror(errno));
}

template <class Function, class... Arguments>
int tell_and_begin(const Called<Function>& called, Arguments... arguments) {
  tell_loaded();
  return called.real(arguments...);
}

}  // namespace

void tell_loaded() {
  if (const auto file = in_environment(setting("TONARI_RUN_LOADED"))) make(file->c_str());
  expect_records();
}

TONARI_IN_FRONT_OF(MPI_Init, (int* argc, char*** argv), tell_and_begin(called, argc, argv));
TONARI_IN_FRONT_OF(MPI_Init_thread, (int* argc, char*** argv, int required, int* provided),
                   tell_and_begin(called, argc, argv, required, provided));

}  // namespace tonari::preload
