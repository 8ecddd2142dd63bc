# Finds the MPIs to build for and makes an imported target tonari::mpi_<name> for each.
#
# One MPI name is `openmpi` or `mpich`. Its wrapper is searched as mpicxx.<name> (Debian installs
# several MPIs side by side so), below TONARI_<NAME>_ROOT/bin if that is set, and as plain mpicxx
# where that belongs to this MPI.

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
  if(TONARI_${upper}_ROOT)
    find_program(TONARI_${upper}_${tool} NAMES ${tool} PATHS ${TONARI_${upper}_ROOT}/bin
        NO_DEFAULT_PATH)
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
  set(directories ${libraries})
  list(FILTER directories INCLUDE REGEX "^-L")
  list(TRANSFORM directories REPLACE "^-L" "")
  add_library(tonari_mpi_${mpi} INTERFACE)
  add_library(tonari::mpi_${mpi} ALIAS tonari_mpi_${mpi})
  target_include_directories(tonari_mpi_${mpi} SYSTEM INTERFACE ${includes})
  target_compile_definitions(tonari_mpi_${mpi} INTERFACE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  target_link_libraries(tonari_mpi_${mpi} INTERFACE ${libraries})
  string(TOUPPER ${mpi} upper)
  if(TONARI_${upper}_ROOT)  # not where the dynamic linker looks by itself
    foreach(directory IN LISTS directories)
      target_link_options(tonari_mpi_${mpi} INTERFACE -Wl,-rpath,${directory})
    endforeach()
  endif()
  set(TONARI_${upper}_LAUNCHER ${launcher} PARENT_SCOPE)
  set(TONARI_${upper}_WRAPPER ${wrapper} PARENT_SCOPE)
  set(TONARI_${upper}_FOUND TRUE PARENT_SCOPE)
endfunction()

set(TONARI_MPIS "")
set(tonari_wanted ${TONARI_MPI})
if(NOT tonari_wanted)
  set(tonari_wanted openmpi mpich)
endif()
foreach(mpi IN LISTS tonari_wanted)
  string(TOUPPER ${mpi} upper)
  tonari_add_mpi(${mpi})
  if(TONARI_${upper}_FOUND)
    list(APPEND TONARI_MPIS ${mpi})
    message(STATUS "tonari: building for ${mpi} (${TONARI_${upper}_WRAPPER})")
  elseif(TONARI_MPI)
    message(FATAL_ERROR
        "TONARI_MPI names ${mpi}, but there is no mpicxx.${mpi} or mpicxx of it; install it or set TONARI_${upper}_ROOT")
  endif()
endforeach()
list(SUBLIST TONARI_MPIS 0 1 TONARI_FIRST_MPI)
if(NOT TONARI_MPIS)
  message(WARNING "tonari: no MPI found; only the core and the command line's planning are built")
endif()

# What the scripts need to know about this build: one object per MPI.
set(tonari_entries "")
foreach(mpi IN LISTS TONARI_MPIS)
  string(TOUPPER ${mpi} upper)
  list(APPEND tonari_entries
      "    \"${mpi}\": {\"mpicxx\": \"${TONARI_${upper}_WRAPPER}\", \"mpiexec\": \"${TONARI_${upper}_LAUNCHER}\", \"bin\": \"${CMAKE_BINARY_DIR}/${mpi}/bin\"}")
endforeach()
list(JOIN tonari_entries ",\n" tonari_entries)
file(WRITE ${CMAKE_BINARY_DIR}/tonari-config.json
    "{\n  \"source\": \"${CMAKE_SOURCE_DIR}\",\n  \"mpis\": {\n${tonari_entries}\n  }\n}\n")

# tonari_mpi_executable(NAME sources... [MPIS names...]): builds NAME once per MPI, as
# <build>/<mpi>/bin/NAME; targets NAME_<mpi>. `make test` needs that of the first MPI, and what
# tonari_add_mpi_test runs.
function(tonari_mpi_executable name)
  cmake_parse_arguments(arg "" "" "MPIS;LIBRARIES" ${ARGN})
  if(NOT arg_MPIS)
    set(arg_MPIS ${TONARI_MPIS})
  endif()
  foreach(mpi IN LISTS arg_MPIS)
    add_executable(${name}_${mpi} ${arg_UNPARSED_ARGUMENTS})
    target_link_libraries(${name}_${mpi} PRIVATE tonari_${mpi} ${arg_LIBRARIES})
    set_target_properties(${name}_${mpi} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY
        ${CMAKE_BINARY_DIR}/${mpi}/bin)
  endforeach()
  if(TARGET tonari_tests AND TARGET ${name}_${TONARI_FIRST_MPI})
    add_dependencies(tonari_tests ${name}_${TONARI_FIRST_MPI})
  endif()
endfunction()

# The environment in which the launchers start ranks for root, and more of them than there are
# cores.
set(TONARI_ANY_RANKS OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
    OMPI_MCA_mpi_yield_when_idle=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    PRTE_MCA_hwloc_default_binding_policy=none)

# tonari_add_mpi_test(NAME program [RANKS 1 2 3 ...] [OTHERS 3 ...] [MORE 4 5 8 ...] [ARGS ...]
# [TIMEOUT seconds] [LABELS ...] [ENVIRONMENT ...]): one ctest per MPI and rank count of RANKS and
# MORE. `make test` runs those of RANKS under the first MPI, of them those of OTHERS under the other
# MPIs. The rest has the label `more` and runs in `make test-all`.
function(tonari_add_mpi_test name program)
  cmake_parse_arguments(arg "" "TIMEOUT" "RANKS;OTHERS;MORE;ARGS;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  foreach(mpi IN LISTS TONARI_MPIS)
    string(TOUPPER ${mpi} upper)
    set(quick ${arg_OTHERS})
    if(mpi STREQUAL TONARI_FIRST_MPI)
      set(quick ${arg_RANKS})
    endif()
    foreach(ranks IN LISTS arg_RANKS arg_MORE)
      set(labels mpi ${mpi} ${arg_LABELS})
      if(ranks IN_LIST quick)
        add_dependencies(tonari_tests ${program}_${mpi})
      else()
        list(APPEND labels more)
      endif()
      set(test ${name}.${mpi}.${ranks})
      add_test(NAME ${test} COMMAND ${TONARI_${upper}_LAUNCHER} -n ${ranks}
          $<TARGET_FILE:${program}_${mpi}> ${arg_ARGS})
      set_tests_properties(${test} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${labels}" PROCESSORS 2
          ENVIRONMENT
          "${TONARI_ANY_RANKS};TONARI_CACHE_DIR=${CMAKE_BINARY_DIR}/cache-${mpi};${arg_ENVIRONMENT}")
    endforeach()
  endforeach()
endfunction()
