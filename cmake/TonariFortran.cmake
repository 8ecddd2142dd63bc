# SPDX-License-Identifier: BSD-3-Clause
# The Fortran module is compiled where it is used, since each compiler has modules of its own.

set(tonari_fortran_source ${CMAKE_CURRENT_LIST_DIR}/../include/tonari/fortran/tonari.F90)

# tonari_add_fortran(TARGET library mpi): a static library with the module. `mpi` is a target that
# brings the MPI of Fortran along, and `library` libtonari.
function(tonari_add_fortran target library mpi)
  add_library(${target} STATIC ${tonari_fortran_source})
  set(modules ${CMAKE_CURRENT_BINARY_DIR}/${target}_modules)
  set_target_properties(${target} PROPERTIES Fortran_MODULE_DIRECTORY ${modules}
      POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PUBLIC ${modules})
  target_link_libraries(${target} PUBLIC ${library} ${mpi})
endfunction()
