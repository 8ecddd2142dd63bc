# SPDX-License-Identifier: BSD-3-Clause
# What the build of tonari and find_package(tonari) both ask about the MPI that FindMPI has found.

set(tonari_no_mpi
    "no MPI was found: install one (Debian, Ubuntu: apt-get install libopenmpi-dev) and put its mpicxx on PATH, or name its compiler wrapper, -DMPI_CXX_COMPILER=/path/to/mpicxx.")

function(tonari_mpi_has language condition result)
  set(suffix_C c)
  set(suffix_CXX cpp)
  set(folder ${CMAKE_BINARY_DIR}/CMakeFiles/tonari)
  set(source ${folder}/mpi_kind.${suffix_${language}})
  file(WRITE ${source} "#include <mpi.h>\n${condition}\n")
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  try_compile(tonari_mpi_holds ${folder} ${source} LINK_LIBRARIES MPI::MPI_${language}
      COMPILE_DEFINITIONS -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
  set(${result} ${tonari_mpi_holds} PARENT_SCOPE)
  unset(tonari_mpi_holds CACHE)
endfunction()

# Sets result to the kind of the MPI that MPI::MPI_<language> belongs to, by its mpi.h: `abi` for
# the standard ABI of MPI 5.0, whatever the MPI; `openmpi`; `mpich`, also for Intel MPI, MVAPICH and
# Cray MPICH, whose binary interface is MPICH's; `mpi` for any other.
function(tonari_mpi_kind language result)
  set(asked "${MPI_${language}_COMPILER};${MPI_${language}_INCLUDE_DIRS}")
  if(NOT TONARI_MPI_KIND OR NOT TONARI_MPI_KIND_OF STREQUAL asked)
    set(kind mpi)
    # MPICH 4.3 has a draft of that ABI, with other constants.
    string(CONCAT standard "#if MPI_VERSION < 5\n#error\n#endif\n"
        "struct MPI_ABI_Comm;\nextern MPI_Comm a;\nextern struct MPI_ABI_Comm* a;")
    tonari_mpi_has(${language} "${standard}" standard_abi)
    tonari_mpi_has(${language} "#ifndef OPEN_MPI\n#error\n#endif" open_mpi)
    tonari_mpi_has(${language} "extern MPI_Comm a;\nextern int a;" handles_are_integers)
    if(standard_abi)
      set(kind abi)
    elseif(open_mpi)
      set(kind openmpi)
    elseif(handles_are_integers)
      set(kind mpich)
    endif()
    set(TONARI_MPI_KIND ${kind} CACHE INTERNAL "kind of MPI")
    set(TONARI_MPI_KIND_OF "${asked}" CACHE INTERNAL "of which mpicxx")
  endif()
  set(${result} ${TONARI_MPI_KIND} PARENT_SCOPE)
endfunction()
