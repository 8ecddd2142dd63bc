# SPDX-License-Identifier: BSD-3-Clause
# The Fortran module is compiled where it is used, since each compiler has modules of its own.

# tonari_add_fortran(TARGET headers library mpi): a static library with the module. `headers` is the
# folder beside whose headers the source lies, `library` is libtonari, and `mpi` a target that
# brings the MPI of Fortran along.
function(tonari_add_fortran target headers library mpi)
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${headers}/tonari/fortran/tonari.F90)
  set(modules ${CMAKE_CURRENT_BINARY_DIR}/${target}_modules)
  set_target_properties(${target} PROPERTIES Fortran_MODULE_DIRECTORY ${modules}
      POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PUBLIC ${modules})
  target_link_libraries(${target} PUBLIC ${library} ${mpi})
endfunction()
