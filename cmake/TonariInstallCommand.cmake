# SPDX-License-Identifier: BSD-3-Clause
# Installs the command line: the package with its extension, and bin/tonari, which finds them from
# where it lies itself.
set(package ${CMAKE_INSTALL_LIBDIR}/tonari/python)
install(TARGETS _tonari_core LIBRARY DESTINATION ${package})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/tonari DESTINATION ${package}
    PATTERN __pycache__ EXCLUDE)
if(NOT IS_ABSOLUTE ${package})
  tonari_way_to_prefix(${CMAKE_INSTALL_BINDIR} "$here" prefix)
  string(PREPEND package ${prefix}/)
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/tonari.in ${PROJECT_BINARY_DIR}/install/tonari @ONLY)
install(PROGRAMS ${PROJECT_BINARY_DIR}/install/tonari DESTINATION ${CMAKE_INSTALL_BINDIR})
