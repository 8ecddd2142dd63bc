# SPDX-License-Identifier: BSD-3-Clause
# find_package(tonari [COMPONENTS [openmpi|mpich|abi|mpi] [Fortran]]) makes the target
# tonari::tonari and sets tonari_MPI to the kind of MPI that it is for. With the component Fortran
# it also makes tonari::tonari_fortran, which compiles the Fortran module in the project.
#
# A prefix may hold a library per kind of MPI. The one for the project's MPI is taken, and linked
# with it: MPI::MPI_CXX of CMake's FindMPI, or MPI::MPI_C in a project without C++. Components say
# which kinds the project takes. Where it has not looked for an MPI before, and only one kind is in
# question, wrappers that carry its name are preferred: mpicxx.mpich, mpicxx_abi.
set(_tonari_wanted ${tonari_FIND_COMPONENTS})
list(REMOVE_ITEM _tonari_wanted Fortran)
if("Fortran" IN_LIST tonari_FIND_COMPONENTS AND NOT TARGET tonari::tonari_fortran)
  set(_tonari_fortran ON)
else()
  set(_tonari_fortran OFF)
endif()
if(TARGET tonari::tonari AND NOT _tonari_fortran)
  return()
endif()

include(${CMAKE_CURRENT_LIST_DIR}/TonariMPIKind.cmake)

# Its arguments become a sentence without a semicolon.
macro(_tonari_refuse)
  string(CONCAT tonari_NOT_FOUND_MESSAGE ${ARGV})
  set(tonari_FOUND FALSE)
  return()
endmacro()

file(GLOB _tonari_kinds RELATIVE ${CMAKE_CURRENT_LIST_DIR}
    ${CMAKE_CURRENT_LIST_DIR}/tonari-openmpi.cmake ${CMAKE_CURRENT_LIST_DIR}/tonari-mpich.cmake
    ${CMAKE_CURRENT_LIST_DIR}/tonari-abi.cmake ${CMAKE_CURRENT_LIST_DIR}/tonari-mpi.cmake)
list(TRANSFORM _tonari_kinds REPLACE "tonari-(.*)\\.cmake" "\\1")
list(JOIN _tonari_kinds ", " _tonari_listed)
foreach(_tonari_kind IN LISTS _tonari_wanted)
  if(NOT _tonari_kind IN_LIST _tonari_kinds)
    _tonari_refuse("tonari in ${CMAKE_CURRENT_LIST_DIR} was built for ${_tonari_listed}, and its "
        "components are these MPIs: there is no ${_tonari_kind}. (Another one is Fortran.)")
  endif()
endforeach()
if(_tonari_wanted)
  set(_tonari_kinds ${_tonari_wanted})
  list(JOIN _tonari_kinds ", " _tonari_listed)
endif()

if(CMAKE_CXX_COMPILER_LOADED)
  set(_tonari_language CXX)
elseif(CMAKE_C_COMPILER_LOADED)
  set(_tonari_language C)
else()
  _tonari_refuse("tonari reads mpi.h to tell which MPI there is: add C or CXX to project().")
endif()
if(_tonari_fortran AND NOT CMAKE_Fortran_COMPILER_LOADED)
  _tonari_refuse("its component Fortran compiles a module: add Fortran to project().")
endif()

# Before FindMPI looks for the first time: the wrapper that carries the name of the only kind.
list(LENGTH _tonari_kinds _tonari_count)
if(_tonari_count EQUAL 1 AND NOT DEFINED MPI_EXECUTABLE_SUFFIX AND NOT MPI_HOME
    AND NOT MPI_${_tonari_language}_COMPILER AND NOT TARGET MPI::MPI_${_tonari_language})
  set(_tonari_suffix .${_tonari_kinds})
  if(_tonari_kinds STREQUAL abi)
    set(_tonari_suffix _abi)
  endif()
  find_program(_tonari_wrapper mpicc${_tonari_suffix} NO_CACHE)
  if(_tonari_wrapper)
    set(MPI_EXECUTABLE_SUFFIX ${_tonari_suffix})
  endif()
  unset(_tonari_wrapper)
  unset(_tonari_suffix)
endif()
find_package(MPI QUIET COMPONENTS ${_tonari_language})
if(NOT MPI_${_tonari_language}_FOUND)
  _tonari_refuse("${tonari_no_mpi}")
endif()

tonari_mpi_kind(${_tonari_language} tonari_MPI)
if(NOT tonari_MPI IN_LIST _tonari_kinds)
  _tonari_refuse("the MPI of this project, ${MPI_${_tonari_language}_COMPILER}, is of the kind "
      "${tonari_MPI}, but tonari in ${CMAKE_CURRENT_LIST_DIR} is for ${_tonari_listed}: "
      "build tonari with that MPI, or name an mpicxx of the other by -DMPI_CXX_COMPILER.")
endif()
if(NOT TARGET tonari::tonari)
  include(${CMAKE_CURRENT_LIST_DIR}/tonari-${tonari_MPI}.cmake)
  set_property(TARGET tonari::tonari APPEND PROPERTY INTERFACE_LINK_LIBRARIES
      MPI::MPI_${_tonari_language})
endif()

if(_tonari_fortran)
  find_package(MPI QUIET COMPONENTS Fortran)
  if(NOT MPI_Fortran_FOUND)
    _tonari_refuse("no MPI was found whose modules the Fortran compiler, "
        "${CMAKE_Fortran_COMPILER}, can read: name its wrapper by -DMPI_Fortran_COMPILER.")
  endif()
  include(${CMAKE_CURRENT_LIST_DIR}/TonariFortran.cmake)
  get_target_property(_tonari_headers tonari::tonari INTERFACE_INCLUDE_DIRECTORIES)
  tonari_add_fortran(tonari_fortran "${_tonari_headers}" tonari::tonari MPI::MPI_Fortran)
  add_library(tonari::tonari_fortran ALIAS tonari_fortran)
  unset(_tonari_headers)
  set(tonari_Fortran_FOUND TRUE)
endif()
