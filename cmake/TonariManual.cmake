# SPDX-License-Identifier: BSD-3-Clause
# Manual pages and completions of the command line. Both are made from its help, so the extension
# is built first, and Python must have what the command line needs.
execute_process(COMMAND ${Python_EXECUTABLE} -c
    "import sys, typer, rich, numpy; sys.exit(sys.version_info < (3, 11))"
    RESULT_VARIABLE rc OUTPUT_QUIET ERROR_QUIET)
if(NOT rc EQUAL 0)
  message(STATUS
      "tonari: no manual pages: ${Python_EXECUTABLE} is not 3.11 or newer with typer, rich and numpy")
  return()
endif()

set(manual ${PROJECT_BINARY_DIR}/install/share)
file(GLOB_RECURSE manual_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/tonari/*.py)
set(manual_python ${CMAKE_COMMAND} -E env
    PYTHONPATH=${PROJECT_SOURCE_DIR}/python:$<TARGET_FILE_DIR:_tonari_core> ${Python_EXECUTABLE} -B)
add_custom_command(OUTPUT ${manual}/made
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual}
    COMMAND ${manual_python} -m tonari.manual ${manual}/man1
    COMMAND ${manual_python} -m tonari.completion ${manual}/completions
    COMMAND ${CMAKE_COMMAND} -E touch ${manual}/made
    DEPENDS _tonari_core ${manual_sources} COMMENT "Writing manual pages and completions" VERBATIM)
add_custom_target(tonari_manual ALL DEPENDS ${manual}/made)
if(TARGET tonari_tests)
  add_dependencies(tonari_tests tonari_manual)
endif()
install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${manual}/completions/ DESTINATION ${CMAKE_INSTALL_DATADIR})
