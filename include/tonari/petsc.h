/* SPDX-License-Identifier: BSD-3-Clause */
/* tonari inside PETSc: a type of PetscSF, and so of VecScatter, whose exchanges go through tonari.
 * Functions of libtonari_petsc, which is built for one PETSc; docs/howto/petsc.md.
 *
 *     #include <petscksp.h>
 *     #include <tonari/petsc.h>
 *
 *     PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
 *     PetscCall(tonari_petsc_register());
 *     // ... and -sf_type tonari among the options
 *
 * Programs that are not changed load it: -dll_prepend /.../libtonari_petsc.so -sf_type tonari.
 */
#ifndef TONARI_PETSC_H
#define TONARI_PETSC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TONARI_PETSC_API __attribute__((visibility("default")))
#else
#define TONARI_PETSC_API
#endif

/* What functions of PETSc return. Include a header of PETSc before this one: without, it is the int
 * that it is made of. */
#ifdef PETSC_VERSION_MAJOR
#define TONARI_PETSC_CODE PetscErrorCode
#else
#define TONARI_PETSC_CODE int
#endif

/* Adds the type "tonari" to those that PetscSFSetType and -sf_type know. After PetscInitialize;
 * local; may be called again.
 * Returns 0, or an error of PETSc whose sentence says what to change: this PETSc has another
 * version, another MPI, indices of another length, or was configured in another way than the one
 * that the library was built for. Nothing has changed then. */
TONARI_PETSC_API TONARI_PETSC_CODE tonari_petsc_register(void);

/* Exchanges of star forests of this type that this process has begun, since it started: those that
 * tonari does, and those that it left to the type basic (the first two of each star forest; those
 * where basic has won the race; operations, units and memory that tonari has not). Local. */
TONARI_PETSC_API int64_t tonari_petsc_exchanges(void);
TONARI_PETSC_API int64_t tonari_petsc_passed_on(void);

#undef TONARI_PETSC_CODE

#ifdef __cplusplus
}
#endif
#endif
