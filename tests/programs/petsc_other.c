/* SPDX-License-Identifier: BSD-3-Clause
 * Loaded in front of PETSc: says what another PETSc, or another MPI, would say. */
#include <mpi.h>
#include <petscsys.h>
#include <stdlib.h>
#include <string.h>

static int plays(const char* what) {
  const char* other = getenv("PETSC_OTHER");
  return other && strcmp(other, what) == 0;
}

PetscErrorCode PetscGetVersionNumber(PetscInt* major, PetscInt* minor, PetscInt* subminor,
                                     PetscInt* release) {
  if (major) *major = PETSC_VERSION_MAJOR;
  if (minor) *minor = plays("version") ? 99 : PETSC_VERSION_MINOR;
  if (subminor) *subminor = PETSC_VERSION_SUBMINOR;
  if (release) *release = 1;
  return 0;
}

PetscErrorCode PetscDataTypeGetSize(PetscDataType type, size_t* bytes) {
  *bytes = plays("indices") && type == PETSC_INT ? 2 * sizeof(PetscInt) : sizeof(PetscInt);
  return 0;
}

int MPI_Get_library_version(char* version, int* length) {
  if (!plays("mpi")) return PMPI_Get_library_version(version, length);
  strcpy(version, "Some MPI 1.2, of nobody\nand more");
  *length = (int)strlen(version);
  return MPI_SUCCESS;
}
