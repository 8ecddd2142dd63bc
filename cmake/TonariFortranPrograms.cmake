# SPDX-License-Identifier: BSD-3-Clause
# Programs of this repository in Fortran (tests, an example), once per MPI that has modules for the
# Fortran compiler. Sets TONARI_FORTRAN_MPIS; it is empty where there is no such compiler.
include(CheckLanguage)
include(TonariFortran)

set(TONARI_FORTRAN_MPIS "")

# Beside the wrapper for C++, and called as it is.
function(tonari_fortran_wrapper mpi result)
  string(TOUPPER ${mpi} upper)
  cmake_path(GET TONARI_${upper}_WRAPPER PARENT_PATH bin)
  cmake_path(GET TONARI_${upper}_WRAPPER FILENAME name)
  string(REGEX REPLACE "^mpi(cxx|c\\+\\+|icpc|icpx)" "mpif90" name ${name})
  find_program(TONARI_${upper}_mpif90 NAMES ${name} PATHS ${bin} NO_DEFAULT_PATH)
  set(${result} ${TONARI_${upper}_mpif90} PARENT_SCOPE)
endfunction()

# tonari::fortran_mpi_<mpi>, if a program with both modules compiles with it.
function(tonari_add_fortran_mpi mpi)
  tonari_fortran_wrapper(${mpi} wrapper)
  if(NOT wrapper)
    return()
  endif()
  execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE shown OUTPUT_STRIP_TRAILING_WHITESPACE
      ERROR_QUIET)
  separate_arguments(shown)
  set(includes ${shown})
  list(FILTER includes INCLUDE REGEX "^-[IJ]")
  list(TRANSFORM includes REPLACE "^-[IJ]" "")
  list(REMOVE_DUPLICATES includes)
  set(libraries ${shown})
  list(FILTER libraries INCLUDE REGEX "^(-L|-l|/.*\\.(so|a)$)")
  set(CMAKE_REQUIRED_INCLUDES ${includes})
  set(CMAKE_REQUIRED_LIBRARIES ${libraries})
  include(CheckFortranSourceCompiles)
  string(CONCAT program "use mpi, only: MPI_BOTTOM\nuse mpi_f08, only: MPI_Init\n"
      "call MPI_Init\nend")
  check_fortran_source_compiles("${program}" TONARI_FORTRAN_WITH_${mpi} SRC_EXT F90)
  if(NOT TONARI_FORTRAN_WITH_${mpi})
    return()
  endif()
  add_library(tonari_fortran_mpi_${mpi} INTERFACE)
  target_include_directories(tonari_fortran_mpi_${mpi} SYSTEM INTERFACE ${includes})
  target_link_libraries(tonari_fortran_mpi_${mpi} INTERFACE ${libraries})
  list(APPEND TONARI_FORTRAN_MPIS ${mpi})
  set(TONARI_FORTRAN_MPIS ${TONARI_FORTRAN_MPIS} PARENT_SCOPE)
endfunction()

check_language(Fortran)
if(CMAKE_Fortran_COMPILER)
  enable_language(Fortran)
  foreach(mpi IN LISTS TONARI_MPIS)
    tonari_add_fortran_mpi(${mpi})
  endforeach()
endif()
if(TONARI_FORTRAN_MPIS)
  list(JOIN TONARI_FORTRAN_MPIS ", " listed)
  message(STATUS "tonari: Fortran for ${listed} (${CMAKE_Fortran_COMPILER})")
else()
  message(STATUS "tonari: no Fortran compiler found whose modules an MPI here has (Debian: \
gfortran); tests of the Fortran module are left out")
endif()
foreach(mpi IN LISTS TONARI_FORTRAN_MPIS)
  tonari_add_fortran(tonari_fortran_${mpi} ${PROJECT_SOURCE_DIR}/include tonari_${mpi}
      tonari_fortran_mpi_${mpi})
endforeach()

# tonari_fortran_executable(NAME sources...): as tonari_mpi_executable.
function(tonari_fortran_executable name)
  foreach(mpi IN LISTS TONARI_FORTRAN_MPIS)
    set(target ${name}_${mpi})
    add_executable(${target} ${ARGN})
    target_link_libraries(${target} PRIVATE tonari_fortran_${mpi} ${CMAKE_DL_LIBS})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} ENABLE_EXPORTS ON
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${mpi}/bin Fortran_MODULE_DIRECTORY
        ${CMAKE_CURRENT_BINARY_DIR}/${target}_modules)
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${target}_modules)
  endforeach()
endfunction()
