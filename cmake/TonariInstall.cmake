# SPDX-License-Identifier: BSD-3-Clause
# `make install` and `cmake --install`: headers; per kind of MPI a library, a pkg-config file and
# what find_package(tonari) reads, the component of that name; the command line where its extension
# is built. Nothing installed knows the prefix, so it may be moved, and a second MPI may join it by
# another build.
include(CMakePackageConfigHelpers)

set(tonari_package ${CMAKE_INSTALL_LIBDIR}/cmake/tonari)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tonariConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tonari DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/cmake/tonariConfig.cmake
    ${PROJECT_SOURCE_DIR}/cmake/TonariFortran.cmake
    ${PROJECT_SOURCE_DIR}/cmake/TonariMPIKind.cmake
    ${PROJECT_BINARY_DIR}/tonariConfigVersion.cmake DESTINATION ${tonari_package})

# From a folder of the installation to its prefix, or the prefix itself where the folder is given as
# an absolute path.
function(tonari_way_to_prefix folder here result)
  set(way ${CMAKE_INSTALL_PREFIX})
  if(NOT IS_ABSOLUTE ${folder})
    file(RELATIVE_PATH up /prefix/${folder} /prefix)
    string(REGEX REPLACE "/$" "" way ${here}/${up})
  endif()
  set(${result} ${way} PARENT_SCOPE)
endfunction()

tonari_way_to_prefix(${CMAKE_INSTALL_LIBDIR}/pkgconfig "\${pcfiledir}" pc_prefix)
foreach(mpi IN LISTS TONARI_MPIS)
  set(libraries ${CMAKE_INSTALL_LIBDIR}/tonari/${mpi})
  if(NOT PROJECT_IS_TOP_LEVEL)  # which has one MPI
    set(libraries ${CMAKE_INSTALL_LIBDIR})
  endif()
  install(TARGETS tonari_preload_${mpi} tonari_advise_${mpi} LIBRARY DESTINATION ${libraries}
      COMPONENT ${mpi})
  set(namelink)
  if(SKBUILD)
    set(namelink NAMELINK_SKIP)
  endif()
  if(SKBUILD AND NOT mpi STREQUAL abi)  # for the command line and tonari.mpi, not for find_package
    install(TARGETS tonari_${mpi} LIBRARY DESTINATION ${libraries} COMPONENT ${mpi} ${namelink})
    continue()
  endif()
  install(TARGETS tonari_${mpi} EXPORT tonari-${mpi} LIBRARY DESTINATION ${libraries}
      COMPONENT ${mpi} ${namelink})
  install(EXPORT tonari-${mpi} NAMESPACE tonari:: DESTINATION ${tonari_package} COMPONENT ${mpi})
  foreach(name IN LISTS TONARI_PETSCS)
    if(TONARI_PETSC_${name}_MPI STREQUAL mpi)
      install(TARGETS tonari_petsc_${name} LIBRARY DESTINATION ${libraries}/petsc-${name}
          COMPONENT ${mpi})
    endif()
  endforeach()
  set(pc_libdir ${libraries})
  set(pc_includedir ${CMAKE_INSTALL_INCLUDEDIR})
  foreach(folder pc_libdir pc_includedir)
    if(NOT IS_ABSOLUTE ${${folder}})
      string(PREPEND ${folder} "\${prefix}/")
    endif()
  endforeach()
  get_target_property(pc_library tonari_${mpi} OUTPUT_NAME)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/tonari.pc.in
      ${PROJECT_BINARY_DIR}/${mpi}/tonari-${mpi}.pc @ONLY)
  if(NOT SKBUILD)  # -l needs a link
    install(FILES ${PROJECT_BINARY_DIR}/${mpi}/tonari-${mpi}.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${mpi})
  endif()
endforeach()
