# SPDX-License-Identifier: BSD-3-Clause
# The three shares of `make test-all` as targets (tools/drawn-share.sh, docs/adr/0097): what `make
# test` runs, and all that `all` has, but for programs of tests that only another share runs
# (property TONARI_SHARE).

# Those of a folder and of what is below it.
function(tonari_targets_of_all folder result)
  set(found)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(left_out ${target} EXCLUDE_FROM_ALL)
    if(NOT left_out)
      list(APPEND found ${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    tonari_targets_of_all(${below} more)
    list(APPEND found ${more})
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

set(shares first others packages)
foreach(name IN LISTS shares)
  add_custom_target(tonari_share_of_${name})
  add_dependencies(tonari_share_of_${name} tonari_tests)
endforeach()
tonari_targets_of_all(${PROJECT_SOURCE_DIR} tonari_all)
foreach(target IN LISTS tonari_all)
  get_target_property(share ${target} TONARI_SHARE)
  get_target_property(type ${target} TYPE)
  foreach(name IN LISTS shares)
    if(NOT type STREQUAL INTERFACE_LIBRARY AND (NOT share OR share STREQUAL name))
      add_dependencies(tonari_share_of_${name} ${target})
    endif()
  endforeach()
endforeach()
