# SPDX-License-Identifier: BSD-3-Clause
# Which MPIs FFTW's MPI part works with. That it links says nothing: a shared library brings the MPI
# it was built for along, and then there are two in one program. So two ranks try a transform.

option(TONARI_FFTW_MPI "compare examples/fft3d with FFTW's MPI transform where that works" ON)
set(tonari_fftw_trial ${CMAKE_CURRENT_LIST_DIR}/fftw_trial.cpp)

# Sets TONARI_FFTW_MPI_<mpi>.
function(tonari_try_fftw_mpi mpi)
  if(DEFINED TONARI_FFTW_MPI_${mpi} OR NOT FFTW3_MPI_LIBRARY OR NOT TONARI_FFTW_MPI
      OR mpi STREQUAL abi)  # FFTW was built for one MPI
    return()
  endif()
  string(TOUPPER ${mpi} upper)
  set(program ${PROJECT_BINARY_DIR}/${mpi}/fftw_trial)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/${mpi})
  set(environment ${CMAKE_COMMAND} -E env OMPI_CXX=${CMAKE_CXX_COMPILER}
      MPICH_CXX=${CMAKE_CXX_COMPILER} ${TONARI_ANY_RANKS})
  execute_process(COMMAND ${environment} ${TONARI_${upper}_WRAPPER} -DOMPI_SKIP_MPICXX
      -DMPICH_SKIP_MPICXX -I${FFTW3_INCLUDE_DIR} ${tonari_fftw_trial} ${FFTW3_MPI_LIBRARY}
      ${FFTW3_LIBRARY} -o ${program} RESULT_VARIABLE rc OUTPUT_QUIET ERROR_QUIET)
  if(rc EQUAL 0)
    execute_process(COMMAND ${environment} ${TONARI_${upper}_LAUNCHER} -n 2 ${program}
        RESULT_VARIABLE rc TIMEOUT 60 OUTPUT_QUIET ERROR_QUIET)
  endif()
  set(works OFF)
  if(rc EQUAL 0)
    set(works ON)
  endif()
  message(STATUS "tonari: FFTW's MPI transform with ${mpi}: ${works}")
  set(TONARI_FFTW_MPI_${mpi} ${works} CACHE BOOL "FFTW's MPI part works with ${mpi}")
endfunction()

if(FFTW3_FOUND)
  foreach(mpi IN LISTS TONARI_MPIS)
    tonari_try_fftw_mpi(${mpi})
  endforeach()
endif()
