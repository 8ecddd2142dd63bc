# SPDX-License-Identifier: BSD-3-Clause
# Finds the MPIs to build for: sets TONARI_MPIS and makes a target tonari::mpi_<name> for each.
#
# TONARI_MPI names them: `openmpi`, `mpich`, `abi`. A wrapper is searched as mpicxx.<name> (Debian
# installs several MPIs side by side so), below TONARI_<NAME>_ROOT/bin if that is set, and as plain
# mpicxx where that belongs to this MPI. `abi` is the standard ABI of MPI 5.0: its wrapper is called
# mpicxx_abi, and what is built with it runs under every MPI that has the ABI. Without TONARI_MPI,
# and as a part of another project, there is one MPI: that of CMake's FindMPI.
#
# TONARI_ABI_OTHERS has more MPIs with that ABI, as <name>=<prefix>: tests run the same programs
# with prefix/bin/mpiexec and prefix/lib/libmpi_abi.so, too.
include(TonariMPIKind)

function(tonari_wrapper_kind wrapper result)
  execute_process(COMMAND ${wrapper} -showme:version OUTPUT_VARIABLE out ERROR_VARIABLE err
      RESULT_VARIABLE rc)
  if(rc EQUAL 0 AND "${out}${err}" MATCHES "Open MPI")
    set(${result} openmpi PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE out ERROR_QUIET RESULT_VARIABLE rc)
  if(rc EQUAL 0 AND "${out}" MATCHES "-l(pmpich|mpich|mpi)")
    set(${result} mpich PARENT_SCOPE)
    return()
  endif()
  set(${result} "" PARENT_SCOPE)
endfunction()

function(tonari_find_tool result mpi tool)
  string(TOUPPER ${mpi} upper)
  set(name ${tool})
  if(mpi STREQUAL abi AND tool STREQUAL mpicxx)
    set(name mpicxx_abi)
  endif()
  set(bin "")
  if(TONARI_ABI_mpicxx AND ((mpi STREQUAL abi AND tool STREQUAL mpiexec)
      OR (mpi STREQUAL mpich AND SKBUILD)))  # a wheel is for PyPI's MPICH, not for the machine's
    cmake_path(GET TONARI_ABI_mpicxx PARENT_PATH bin)
  elseif(TONARI_${upper}_ROOT)
    set(bin ${TONARI_${upper}_ROOT}/bin)
  endif()
  if(bin)
    find_program(TONARI_${upper}_${tool} NAMES ${name} PATHS ${bin} NO_DEFAULT_PATH)
  elseif(mpi STREQUAL abi)
    find_program(TONARI_${upper}_${tool} NAMES ${name})
  else()
    find_program(TONARI_${upper}_${tool} NAMES ${tool}.${mpi})
    if(NOT TONARI_${upper}_${tool})
      find_program(plain_${tool} NAMES ${tool})
      find_program(plain_mpicxx NAMES mpicxx)
      if(plain_mpicxx)
        tonari_wrapper_kind(${plain_mpicxx} kind)
        if(kind STREQUAL mpi)
          set(TONARI_${upper}_${tool} ${plain_${tool}} CACHE FILEPATH "" FORCE)
        endif()
      endif()
    endif()
  endif()
  set(${result} ${TONARI_${upper}_${tool}} PARENT_SCOPE)
endfunction()

function(tonari_add_mpi mpi)
  tonari_find_tool(wrapper ${mpi} mpicxx)
  tonari_find_tool(launcher ${mpi} mpiexec)
  if(NOT wrapper OR NOT launcher)
    return()
  endif()
  if(mpi STREQUAL openmpi)
    execute_process(COMMAND ${wrapper} -showme:compile OUTPUT_VARIABLE compile
        OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${wrapper} -showme:link OUTPUT_VARIABLE link
        OUTPUT_STRIP_TRAILING_WHITESPACE)
  else()
    execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE shown OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(compile "${shown}")
    set(link "${shown}")
  endif()
  separate_arguments(compile)
  separate_arguments(link)
  # Only where headers and libraries are: the wrapper's optimization, debug and hardening flags are
  # the packager's business, not ours. The C++ bindings, gone from MPI since 3.0, are left out.
  set(includes ${compile})
  list(FILTER includes INCLUDE REGEX "^-I")
  list(TRANSFORM includes REPLACE "^-I" "")
  set(libraries ${link})
  list(FILTER libraries INCLUDE REGEX "^(-L|-l|/.*\\.(so|a)$)")
  list(FILTER libraries EXCLUDE REGEX "^-l(mpi_cxx|mpichcxx|mpicxx)$")
  if(mpi STREQUAL abi)  # one for all: not what an MPI has beside it, such as -lpmpi_abi
    list(FILTER libraries INCLUDE REGEX "^-L|^-lmpi_abi$")
  endif()
  set(definitions ${compile})
  list(FILTER definitions INCLUDE REGEX "^-DMPI_ABI$")
  set(directories ${libraries})
  list(FILTER directories INCLUDE REGEX "^-L")
  list(TRANSFORM directories REPLACE "^-L" "")
  add_library(tonari_mpi_${mpi} INTERFACE)
  add_library(tonari::mpi_${mpi} ALIAS tonari_mpi_${mpi})
  target_include_directories(tonari_mpi_${mpi} SYSTEM INTERFACE ${includes})
  target_compile_definitions(tonari_mpi_${mpi} INTERFACE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  target_compile_options(tonari_mpi_${mpi} INTERFACE ${definitions})
  target_link_libraries(tonari_mpi_${mpi} INTERFACE ${libraries})
  string(TOUPPER ${mpi} upper)
  if(mpi STREQUAL abi)
    # Programs find this MPI, unless LD_LIBRARY_PATH has another; the library takes the program's.
    set(TONARI_ABI_FOLDERS ${directories} PARENT_SCOPE)
    if(SKBUILD)  # the MPI of a wheel's build is gone afterwards: TONARI_ABI_RPATH
      set(directories "")
    endif()
    foreach(directory IN LISTS directories)
      target_link_options(tonari_mpi_${mpi} INTERFACE
          $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-Wl,--enable-new-dtags,-rpath,${directory}>)
    endforeach()
  elseif(TONARI_${upper}_ROOT)  # not where the dynamic linker looks by itself
    foreach(directory IN LISTS directories)
      target_link_options(tonari_mpi_${mpi} INTERFACE -Wl,-rpath,${directory})
    endforeach()
  endif()
  set(TONARI_${upper}_LAUNCHER ${launcher} PARENT_SCOPE)
  set(TONARI_${upper}_WRAPPER ${wrapper} PARENT_SCOPE)
  set(TONARI_${upper}_FOUND TRUE PARENT_SCOPE)
endfunction()

# The MPI that FindMPI finds, or that the project above has found already. Its name is its kind.
# GLOBAL: targets of that project that are linked with tonari see what it is linked with.
function(tonari_add_found_mpi)
  find_package(MPI QUIET COMPONENTS CXX GLOBAL)
  if(NOT MPI_CXX_FOUND)
    message(FATAL_ERROR "tonari: ${tonari_no_mpi}")
  endif()
  tonari_mpi_kind(CXX mpi)
  add_library(tonari_mpi_${mpi} INTERFACE)
  add_library(tonari::mpi_${mpi} ALIAS tonari_mpi_${mpi})
  target_link_libraries(tonari_mpi_${mpi} INTERFACE MPI::MPI_CXX)
  target_include_directories(tonari_mpi_${mpi} SYSTEM INTERFACE ${MPI_CXX_INCLUDE_DIRS})
  if(PROJECT_IS_TOP_LEVEL)  # another project may use MPI's old C++ bindings
    target_compile_definitions(tonari_mpi_${mpi} INTERFACE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  endif()
  # mpiexec.mpich belongs to mpicxx.mpich, whatever mpiexec is
  cmake_path(GET MPI_CXX_COMPILER PARENT_PATH bin)
  cmake_path(GET MPI_CXX_COMPILER EXTENSION LAST_ONLY suffix)
  find_program(launcher NAMES mpiexec${suffix} HINTS ${bin} NO_DEFAULT_PATH NO_CACHE)
  string(TOUPPER ${mpi} upper)
  set(TONARI_${upper}_LAUNCHER ${MPIEXEC_EXECUTABLE} PARENT_SCOPE)
  if(launcher)
    set(TONARI_${upper}_LAUNCHER ${launcher} PARENT_SCOPE)
  endif()
  set(TONARI_${upper}_WRAPPER ${MPI_CXX_COMPILER} PARENT_SCOPE)
  set(TONARI_MPIS ${mpi} PARENT_SCOPE)
endfunction()

set(TONARI_MPIS "")
if(TONARI_MPI STREQUAL none OR (SKBUILD AND NOT TONARI_MPI))
  message(STATUS "tonari: without MPI; only the core and the command line's planning are built")
elseif(TONARI_MPI AND PROJECT_IS_TOP_LEVEL)
  foreach(mpi IN LISTS TONARI_MPI)
    string(TOUPPER ${mpi} upper)
    tonari_add_mpi(${mpi})
    if(NOT TONARI_${upper}_FOUND)
      message(FATAL_ERROR
          "TONARI_MPI names ${mpi}, but there is no mpicxx.${mpi}, mpicxx_${mpi} or mpicxx of it; install it or set TONARI_${upper}_ROOT")
    endif()
    list(APPEND TONARI_MPIS ${mpi})
  endforeach()
else()
  tonari_add_found_mpi()
endif()
# How programs for an MPI are run: under it, and those for the standard ABI under others, too. Sets
# TONARI_<MPI>_RUNS, and for each of them TONARI_RUN_<name>_LAUNCHER and _LIBRARIES, a folder that
# the dynamic linker is to look into first.
function(tonari_add_runs mpi)
  string(TOUPPER ${mpi} upper)
  set(runs ${mpi})
  set(TONARI_RUN_${mpi}_LAUNCHER ${TONARI_${upper}_LAUNCHER} PARENT_SCOPE)
  set(TONARI_RUN_${mpi}_LIBRARIES "" PARENT_SCOPE)
  if(mpi STREQUAL abi)
    foreach(other IN LISTS TONARI_ABI_OTHERS)
      if(NOT other MATCHES "^([a-z0-9]+)=(.+)$")
        message(FATAL_ERROR
            "TONARI_ABI_OTHERS has '${other}'; it must be NAME=PREFIX, as intel=/opt/intel/mpi")
      endif()
      list(APPEND runs abi-${CMAKE_MATCH_1})
      set(TONARI_RUN_abi-${CMAKE_MATCH_1}_LAUNCHER ${CMAKE_MATCH_2}/bin/mpiexec PARENT_SCOPE)
      set(TONARI_RUN_abi-${CMAKE_MATCH_1}_LIBRARIES ${CMAKE_MATCH_2}/lib PARENT_SCOPE)
    endforeach()
  endif()
  set(TONARI_${upper}_RUNS ${runs} PARENT_SCOPE)
endfunction()

foreach(mpi IN LISTS TONARI_MPIS)
  tonari_add_runs(${mpi})
  string(TOUPPER ${mpi} upper)
  message(STATUS "tonari: building for ${mpi} (${TONARI_${upper}_WRAPPER})")
endforeach()
list(SUBLIST TONARI_MPIS 0 1 TONARI_FIRST_MPI)

# What the scripts need to know about this build: one object per MPI.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
set(tonari_entries "")
foreach(mpi IN LISTS TONARI_MPIS)
  string(TOUPPER ${mpi} upper)
  set(tonari_runs "")
  foreach(run IN LISTS TONARI_${upper}_RUNS)
    list(APPEND tonari_runs
        "\"${run}\": {\"mpiexec\": \"${TONARI_RUN_${run}_LAUNCHER}\", \"libraries\": \"${TONARI_RUN_${run}_LIBRARIES}\"}")
  endforeach()
  list(JOIN tonari_runs ", " tonari_runs)
  set(tonari_for_tests false)  # its programs are compiled with little optimization
  if(mpi IN_LIST TONARI_TESTED_MPIS OR TONARI_TESTED_PROGRAMS)
    set(tonari_for_tests true)
  endif()
  list(APPEND tonari_entries
      "    \"${mpi}\": {\"mpicxx\": \"${TONARI_${upper}_WRAPPER}\", \"mpiexec\": \"${TONARI_${upper}_LAUNCHER}\", \"bin\": \"${PROJECT_BINARY_DIR}/${mpi}/bin\", \"for_tests\": ${tonari_for_tests}, \"runs\": {${tonari_runs}}}")
endforeach()
list(JOIN tonari_entries ",\n" tonari_entries)
file(WRITE ${PROJECT_BINARY_DIR}/tonari-config.json
    "{\n  \"source\": \"${PROJECT_SOURCE_DIR}\",\n  \"mpis\": {\n${tonari_entries}\n  }\n}\n")
