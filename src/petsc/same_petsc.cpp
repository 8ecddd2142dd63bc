// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/same_petsc.hpp"

#include <petsc/private/sfimpl.h>

#include <array>
#include <string>

#include "petsc/sentences.hpp"

namespace tonari::petsc {
namespace {

constexpr const char* built_with =
#if defined(OPEN_MPI)
    "Open MPI";
#elif defined(MPICH_NAME) || defined(MPICH_VERSION)
    "MPICH";
#else
    "";
#endif

PetscErrorCode require_same_integers() {
  std::size_t bytes = 0;
  PetscFunctionBegin;
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &bytes));
  PetscCheck(bytes == sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_SUP,
             "libtonari_petsc was built for a PETSc whose indices have %d bits, but this one's "
             "have %d; build it for this PETSc",
             static_cast<int>(8 * sizeof(PetscInt)), static_cast<int>(8 * bytes));
  PetscFunctionReturn(success);
}

// Patch releases leave the insides alone.
PetscErrorCode require_same_version() {
  PetscInt major = 0, minor = 0, subminor = 0, release = 0;
  PetscFunctionBegin;
  PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, &release));
  PetscCheck(
      major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_SUP,
      "libtonari_petsc was built for PETSc %d.%d, but this is PETSc %d.%d; build it for "
      "this PETSc",
      PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, static_cast<int>(major), static_cast<int>(minor));
  PetscFunctionReturn(success);
}

PetscErrorCode require_same_mpi() {
  std::array<char, 16384> text{};  // MPI_MAX_LIBRARY_VERSION_STRING may be that of another MPI
  int length = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Get_library_version(text.data(), &length));
  const std::string version(text.data());
  PetscCheck(version.find(built_with) != std::string::npos, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "libtonari_petsc was built for %s, but the MPI of this program is %s; build it for "
             "that MPI",
             built_with, version.substr(0, version.find_first_of(",\n")).c_str());
  PetscFunctionReturn(success);
}

// PETSc may have been configured so that its objects have other members. Then these are elsewhere.
PetscErrorCode require_same_layout() {
  constexpr PetscInt roots = 5, leaves = 3;
  PetscSFNode root[leaves] = {{0, 4}, {0, 0}, {0, 2}};
  PetscSF sf = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscSFCreate(PETSC_COMM_SELF, &sf));
  PetscCall(PetscSFSetType(sf, PETSCSFBASIC));
  PetscCall(
      PetscSFSetGraph(sf, roots, leaves, nullptr, PETSC_COPY_VALUES, root, PETSC_COPY_VALUES));
  const bool same = sf->nroots == roots && sf->nleaves == leaves && sf->remote &&
                    sf->remote[0].index == 4 && sf->graphset && !sf->setupcalled && sf->data &&
                    sf->ops->BcastBegin && sf->ops->ReduceEnd && sf->vscat.from_n < 0;
  PetscCall(PetscSFDestroy(&sf));
  PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "libtonari_petsc was built for a PETSc that was configured in another way than this "
             "one; build it for this PETSc");
  PetscFunctionReturn(success);
}

}  // namespace

PetscErrorCode require_same_petsc() {
  PetscFunctionBegin;
  PetscCall(require_same_integers());
  PetscCall(require_same_version());
  PetscCall(require_same_mpi());
  PetscCall(require_same_layout());
  PetscFunctionReturn(success);
}

}  // namespace tonari::petsc
