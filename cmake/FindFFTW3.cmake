# SPDX-License-Identifier: BSD-3-Clause
# FFTW 3 in double precision: target FFTW3::fftw3, if a program can be linked with it;
# FFTW3_MPI_LIBRARY, if there is the part for some MPI.
include(CheckCXXSourceCompiles)
include(FindPackageHandleStandardArgs)

find_path(FFTW3_INCLUDE_DIR fftw3.h)
find_library(FFTW3_LIBRARY fftw3)
find_library(FFTW3_MPI_LIBRARY fftw3_mpi)
mark_as_advanced(FFTW3_INCLUDE_DIR FFTW3_LIBRARY FFTW3_MPI_LIBRARY)

if(FFTW3_INCLUDE_DIR AND FFTW3_LIBRARY)
  if(NOT TARGET FFTW3::fftw3)
    add_library(FFTW3::fftw3 UNKNOWN IMPORTED)
    set_target_properties(FFTW3::fftw3 PROPERTIES IMPORTED_LOCATION ${FFTW3_LIBRARY}
        INTERFACE_INCLUDE_DIRECTORIES ${FFTW3_INCLUDE_DIR})
  endif()
  set(CMAKE_REQUIRED_LIBRARIES FFTW3::fftw3)
  check_cxx_source_compiles("#include <fftw3.h>\nint main() { fftw_cleanup(); }" TONARI_FFTW3_LINKS)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()

find_package_handle_standard_args(FFTW3 REQUIRED_VARS FFTW3_LIBRARY FFTW3_INCLUDE_DIR
    TONARI_FFTW3_LINKS)
