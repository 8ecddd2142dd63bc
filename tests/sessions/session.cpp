// SPDX-License-Identifier: BSD-3-Clause
#include "sessions/session.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace sessions {
namespace {

using Handle = std::conditional_t<std::is_integral_v<MPI_Comm>, MPI_Comm, void*>;

template <class Function>
Function* function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

MPI_Group all_processes(Handle session) {
  using FromSet = int(Handle, const char*, MPI_Group*);
  MPI_Group group = MPI_GROUP_NULL;
  require(function<FromSet>("MPI_Group_from_session_pset")(session, "mpi://WORLD", &group) ==
              MPI_SUCCESS,
          "MPI_Group_from_session_pset fails");
  return group;
}

}  // namespace

void require(bool holds, const char* sentence) {
  if (holds) return;
  std::fprintf(stderr, "sessions: %s\n", sentence);
  std::exit(EXIT_FAILURE);
}

bool Session::supported() { return dlsym(RTLD_DEFAULT, "MPI_Session_init") != nullptr; }

Session::Session() {
  using Init = int(MPI_Info, MPI_Errhandler, Handle*);
  require(
      function<Init>("MPI_Session_init")(MPI_INFO_NULL, MPI_ERRORS_RETURN, &handle_) == MPI_SUCCESS,
      "MPI_Session_init fails");
}

Session::~Session() {
  require(function<int(Handle*)>("MPI_Session_finalize")(&handle_) == MPI_SUCCESS,
          "MPI_Session_finalize fails");
}

MPI_Comm Session::comm() const {
  using FromGroup = int(MPI_Group, const char*, MPI_Info, MPI_Errhandler, MPI_Comm*);
  MPI_Group group = all_processes(handle_);
  MPI_Comm made = MPI_COMM_NULL;
  require(function<FromGroup>("MPI_Comm_create_from_group")(
              group, "tonari.sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made) == MPI_SUCCESS,
          "MPI_Comm_create_from_group fails");
  MPI_Group_free(&group);
  return made;
}

}  // namespace sessions
