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

# tonari_mpi_executable(NAME sources... [MPIS names...] [LATER] [REPEATS] [DEMO]): builds NAME once
# per MPI, as <build>/<mpi>/bin/NAME; targets NAME_<mpi>. `make test` needs that of the first MPI,
# unless LATER, and what tonari_add_mpi_test runs. Those of TONARI_TESTED_MPIS compile soon, as
# their libraries do; what under these only REPEATS what other programs prove is for `make
# test-long`. With TONARI_TESTED_PROGRAMS all compile soon, but the DEMO for the first MPI, which is
# there already.
function(tonari_mpi_executable name)
  cmake_parse_arguments(arg "LATER;REPEATS;DEMO" "" "MPIS;LIBRARIES" ${ARGN})
  if(NOT arg_MPIS)
    set(arg_MPIS ${TONARI_MPIS})
  endif()
  foreach(mpi IN LISTS arg_MPIS)
    add_executable(${name}_${mpi} ${arg_UNPARSED_ARGUMENTS})
    set(libraries ${arg_LIBRARIES})
    if(mpi IN_LIST TONARI_TESTED_MPIS OR (TONARI_TESTED_PROGRAMS AND NOT arg_DEMO))
      # stencils would take long without any optimization
      set(level -Og)
      if(tonari_native_options IN_LIST libraries)
        set(level -O1)
      endif()
      list(REMOVE_ITEM libraries tonari_native_options)
      target_compile_options(${name}_${mpi} PRIVATE ${level} -g0)
    endif()
    target_link_libraries(${name}_${mpi} PRIVATE tonari_${mpi} ${libraries})
    set_target_properties(${name}_${mpi} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY
        ${PROJECT_BINARY_DIR}/${mpi}/bin)
    tonari_build_on_demand(${name}_${mpi} ${mpi})
    if(arg_REPEATS AND mpi IN_LIST TONARI_TESTED_MPIS)
      set_target_properties(${name}_${mpi} PROPERTIES EXCLUDE_FROM_ALL ON)
      if(TARGET tonari_long_tests)
        add_dependencies(tonari_long_tests ${name}_${mpi})
      endif()
    endif()
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

# A number below 256 that the name of a test draws.
function(tonari_draw_turn name turn)
  string(SHA256 digest ${name})
  string(SUBSTRING ${digest} 0 2 digest)
  math(EXPR drawn "0x${digest}")
  set(${turn} ${drawn} PARENT_SCOPE)
endfunction()

# Which of the numbers of ranks `more` a program runs on in `make test-all`: the most under the
# first MPI; under the others two, where messages are fast under every MPI, and another one by
# turns; and one rank under either, by turns. The name draws whose turn it is, so that over all
# programs each MPI meets each number (docs/adr/0088). Others also run on those of `ranks`. What
# takes long on many ranks (`heavy`) runs on many under the first MPI only.
function(tonari_share_counts name ranks more heavy first others)
  tonari_draw_turn(${name} turn)
  set(many ${more})
  list(FILTER many EXCLUDE REGEX "^[12]$")
  list(POP_BACK many of_first)
  set(of_others ${ranks})
  if(2 IN_LIST more)
    list(APPEND of_others 2)
  endif()
  list(LENGTH many length)
  if(length AND NOT heavy)
    math(EXPR at "${turn} % ${length}")
    list(GET many ${at} middle)
    list(APPEND of_others ${middle})
  endif()
  if(1 IN_LIST more)
    math(EXPR odd "${turn} / 16 % 2")
    if(odd)
      list(APPEND of_first 1)
    else()
      list(APPEND of_others 1)
    endif()
  endif()
  set(${first} ${of_first} PARENT_SCOPE)
  set(${others} ${of_others} PARENT_SCOPE)
endfunction()

# tonari_add_mpi_test(NAME program [RANKS 1 2 3 ...] [OTHERS 3 ...] [MORE 4 5 8 ...] [HEAVY]
# [REPEATS] [ABI_MORE 2 ...] [ABI_LONG 2 ...] [MPIS names...] [ARGS ...] [TIMEOUT seconds] [LABELS
# ...] [ENVIRONMENT ...]): one ctest per MPI (of MPIS, or all) and rank count of RANKS and MORE.
# `make test` runs those of RANKS under the first MPI, of them those of OTHERS under the other MPIs.
# The label `more` is for what `make test-all` runs: those of RANKS under the other MPIs, and of
# MORE what tonari_share_counts says; all, where there is one MPI or with EVERY_COUNT, and where
# there are no RANKS, but on 16 and 27 ranks under the first MPI or the others, as the name draws;
# none under the others where the program only REPEATS. The rest has the label `long`
# and runs in `make test-long`. The program for the standard ABI runs on ABI_MORE ranks in `make
# test-all` and on ABI_LONG in `make test-long`, under each MPI that has it. The label `others` is
# for what runs under another MPI than the first (tools/drawn-share.sh).
function(tonari_add_mpi_test name program)
  cmake_parse_arguments(arg "EVERY_COUNT;HEAVY;REPEATS" "TIMEOUT"
      "RANKS;OTHERS;MORE;ABI_MORE;ABI_LONG;MPIS;ARGS;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT ${TONARI_PATIENCE})
  endif()
  if(NOT arg_MPIS)
    set(arg_MPIS ${TONARI_MPIS})
  endif()
  set(of_first ${arg_MORE})
  set(of_others ${arg_RANKS} ${arg_MORE})
  set(several ${arg_MPIS})
  list(REMOVE_ITEM several abi)
  list(LENGTH several several)
  if(arg_RANKS AND several GREATER 1 AND NOT arg_EVERY_COUNT)
    tonari_share_counts(${name} "${arg_RANKS}" "${arg_MORE}" ${arg_HEAVY} of_first of_others)
  endif()
  if(NOT arg_RANKS AND several GREATER 1 AND NOT arg_EVERY_COUNT)
    tonari_draw_turn(${name} turn)
    math(EXPR odd "${turn} / 16 % 2")
    if(odd)
      list(FILTER of_others EXCLUDE REGEX "^(16|27)$")
    else()
      list(FILTER of_first EXCLUDE REGEX "^(16|27)$")
    endif()
  endif()
  if(arg_REPEATS)
    set(of_others)
  endif()
  foreach(mpi IN LISTS arg_MPIS)
    string(TOUPPER ${mpi} upper)
    set(counts ${arg_RANKS} ${arg_MORE})
    if(mpi STREQUAL TONARI_FIRST_MPI)
      set(quick ${arg_RANKS})
      set(more ${of_first})
    elseif(mpi STREQUAL abi)
      set(quick)
      set(more ${arg_ABI_MORE})
      set(counts ${arg_ABI_MORE} ${arg_ABI_LONG})
    else()
      set(quick ${arg_OTHERS})
      set(more ${of_others})
    endif()
    foreach(ranks IN LISTS counts)
      set(labels mpi ${mpi} ${arg_LABELS})
      if(NOT mpi STREQUAL TONARI_FIRST_MPI)
        list(APPEND labels others)
      endif()
      if(ranks IN_LIST quick)
        add_dependencies(tonari_tests ${program}_${mpi})
      elseif(ranks IN_LIST more)
        list(APPEND labels more)
      else()
        list(APPEND labels long)
        add_dependencies(tonari_long_tests ${program}_${mpi})
      endif()
      if(NOT long IN_LIST labels)
        set_target_properties(${program}_${mpi} PROPERTIES EXCLUDE_FROM_ALL OFF)
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
