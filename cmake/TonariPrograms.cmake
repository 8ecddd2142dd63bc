# SPDX-License-Identifier: BSD-3-Clause
# Programs of this repository (tests, examples, benchmarks), once per MPI, and how they are run.

# For programs that compute with stencils: header code, so that their own flags decide how fast it
# is. The default build type has -O2.
add_library(tonari_native_options INTERFACE)
target_compile_options(tonari_native_options INTERFACE $<$<NOT:$<CONFIG:Debug>>:-O3>)
if(TONARI_NATIVE)
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-march=native TONARI_HAS_MARCH_NATIVE)
  check_cxx_compiler_flag(-mcpu=native TONARI_HAS_MCPU_NATIVE)
  if(TONARI_HAS_MARCH_NATIVE)
    target_compile_options(tonari_native_options INTERFACE -march=native)
  elseif(TONARI_HAS_MCPU_NATIVE)
    target_compile_options(tonari_native_options INTERFACE -mcpu=native)
  endif()
endif()

# What is built for the standard ABI serves few tests: only what these run is a part of `all`, where
# other MPIs have all programs.
function(tonari_build_on_demand target mpi)
  if(mpi STREQUAL abi AND NOT TONARI_FIRST_MPI STREQUAL abi)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# tonari_mpi_executable(NAME sources... [MPIS names...] [LATER]): builds NAME once per MPI, as
# <build>/<mpi>/bin/NAME; targets NAME_<mpi>. `make test` needs that of the first MPI, unless LATER,
# and what tonari_add_mpi_test runs.
function(tonari_mpi_executable name)
  cmake_parse_arguments(arg "LATER" "" "MPIS;LIBRARIES" ${ARGN})
  if(NOT arg_MPIS)
    set(arg_MPIS ${TONARI_MPIS})
  endif()
  foreach(mpi IN LISTS arg_MPIS)
    add_executable(${name}_${mpi} ${arg_UNPARSED_ARGUMENTS})
    target_link_libraries(${name}_${mpi} PRIVATE tonari_${mpi} ${arg_LIBRARIES})
    set_target_properties(${name}_${mpi} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY
        ${PROJECT_BINARY_DIR}/${mpi}/bin)
    tonari_build_on_demand(${name}_${mpi} ${mpi})
  endforeach()
  if(TARGET tonari_tests AND TARGET ${name}_${TONARI_FIRST_MPI} AND NOT arg_LATER)
    add_dependencies(tonari_tests ${name}_${TONARI_FIRST_MPI})
  endif()
endfunction()

# Seconds after which a test hangs: far more than any takes on a machine that is busy with other
# work, so that only a hang is told from it.
set(TONARI_PATIENCE 900)

# The environment in which the launchers start ranks for root, and more of them than there are
# cores: Open MPI, MPICH 5 and Intel MPI.
set(TONARI_ANY_RANKS OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
    OMPI_MCA_mpi_yield_when_idle=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    PRTE_MCA_hwloc_default_binding_policy=none MPIR_CVAR_CH4_PROGRESS_THROTTLE=1
    MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT=16 I_MPI_PIN=off I_MPI_THREAD_YIELD=2)

# In front of functions of the MPIs in all that tests start, unless they say otherwise (LD_PRELOAD).
# They are not linked with an MPI, so that they are harmless in front of another one. Programs with
# sanitizers must be loaded first, so those do without.
set(TONARI_TEST_ENVIRONMENT ${TONARI_ANY_RANKS})
if(TONARI_TESTS AND NOT TONARI_SANITIZE)
  set(patient keep_loaded)
  if(TARGET tonari_mpi_mpich)
    list(APPEND patient take_turns)
  endif()
  set(files "")
  foreach(part IN LISTS patient)
    add_library(tonari_${part} SHARED ${PROJECT_SOURCE_DIR}/tests/support/${part}.cpp)
    target_link_libraries(tonari_${part} PRIVATE ${CMAKE_DL_LIBS})
    set_target_properties(tonari_${part} PROPERTIES LIBRARY_OUTPUT_DIRECTORY
        ${PROJECT_BINARY_DIR}/tests/lib)
    if(TARGET tonari_tests)
      add_dependencies(tonari_tests tonari_${part})
    endif()
    list(APPEND files $<TARGET_FILE:tonari_${part}>)
  endforeach()
  if(TARGET tonari_take_turns)
    target_include_directories(tonari_take_turns SYSTEM PRIVATE
        $<TARGET_PROPERTY:tonari_mpi_mpich,INTERFACE_INCLUDE_DIRECTORIES>)
    target_compile_definitions(tonari_take_turns PRIVATE MPICH_SKIP_MPICXX=1)
  endif()
  list(JOIN files ":" files)
  list(APPEND TONARI_TEST_ENVIRONMENT LD_PRELOAD=${files})
endif()

# tonari_add_mpi_test(NAME program [RANKS 1 2 3 ...] [OTHERS 3 ...] [MORE 4 5 8 ...] [ABI_MORE 2
# ...] [MPIS names...] [ARGS ...] [TIMEOUT seconds] [LABELS ...] [ENVIRONMENT ...]): one ctest per
# MPI (of MPIS, or all) and rank count of RANKS and MORE. `make test` runs those of RANKS under the
# first MPI, of them those of OTHERS under the other MPIs. The rest has the label `more` and runs in
# `make test-all`; so has the program for the standard ABI, on ABI_MORE ranks under each MPI that
# has it. Of MORE, all counts run under the first MPI only, and under the others one rank and the
# most, unless EVERY_COUNT is given (docs/adr/0087).
function(tonari_add_mpi_test name program)
  cmake_parse_arguments(arg "EVERY_COUNT" "TIMEOUT"
      "RANKS;OTHERS;MORE;ABI_MORE;MPIS;ARGS;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT ${TONARI_PATIENCE})
  endif()
  if(NOT arg_MPIS)
    set(arg_MPIS ${TONARI_MPIS})
  endif()
  foreach(mpi IN LISTS arg_MPIS)
    string(TOUPPER ${mpi} upper)
    set(quick ${arg_OTHERS})
    set(counts ${arg_RANKS} ${arg_MORE})
    if(mpi STREQUAL TONARI_FIRST_MPI)
      set(quick ${arg_RANKS})
    elseif(mpi STREQUAL abi)
      set(quick)
      set(counts ${arg_ABI_MORE})
    elseif(arg_MORE AND NOT arg_EVERY_COUNT AND TONARI_FIRST_MPI IN_LIST arg_MPIS)
      set(fewer ${arg_MORE})
      list(POP_BACK fewer most)
      list(FILTER fewer INCLUDE REGEX "^1$")
      set(counts ${arg_RANKS} ${fewer} ${most})
    endif()
    foreach(ranks IN LISTS counts)
      set(labels mpi ${mpi} ${arg_LABELS})
      set_target_properties(${program}_${mpi} PROPERTIES EXCLUDE_FROM_ALL OFF)
      if(ranks IN_LIST quick)
        add_dependencies(tonari_tests ${program}_${mpi})
      else()
        list(APPEND labels more)
      endif()
      foreach(run IN LISTS TONARI_${upper}_RUNS)
        set(test ${name}.${run}.${ranks})
        set(environment ${TONARI_TEST_ENVIRONMENT}
            TONARI_CACHE_DIR=${PROJECT_BINARY_DIR}/cache-${run}
            GTEST_OUTPUT=xml:${PROJECT_BINARY_DIR}/results/${test}.xml ${arg_ENVIRONMENT})
        if(TONARI_RUN_${run}_LIBRARIES)
          list(APPEND environment LD_LIBRARY_PATH=${TONARI_RUN_${run}_LIBRARIES})
        endif()
        # Two ranks of another MPI share a core that no such job has, if there is one. Those of
        # TONARI_ABI_OTHERS have both cores: Intel's never give one away while they wait.
        set(place)
        if(ranks EQUAL 2 AND run STREQUAL mpi AND NOT mpi STREQUAL TONARI_FIRST_MPI
            AND Python_Interpreter_FOUND)
          set(place ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/on_one_core.py
              ${PROJECT_BINARY_DIR}/cores)
        endif()
        add_test(NAME ${test} COMMAND ${place} ${TONARI_RUN_${run}_LAUNCHER} -n ${ranks}
            $<TARGET_FILE:${program}_${mpi}> ${arg_ARGS})
        # Ranks give their core away after a moment of waiting, so small jobs run side by side; of
        # jobs of many ranks some would wait for cores most of the time.
        set(processors 2)
        if(ranks LESS 4 AND run STREQUAL mpi)
          set(processors 1)
        endif()
        set_tests_properties(${test} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${labels}" PROCESSORS
            ${processors} ENVIRONMENT "${environment}")
      endforeach()
    endforeach()
  endforeach()
endfunction()
