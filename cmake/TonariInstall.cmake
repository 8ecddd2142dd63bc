# Headers once; per MPI a library in lib/tonari/<mpi> and a pkg-config file tonari-<mpi>.pc. A
# program is compiled with the wrapper of its MPI:
#   mpicc program.c $(pkg-config --cflags --libs tonari-openmpi)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/tonari DESTINATION include)
foreach(mpi IN LISTS TONARI_MPIS)
  install(TARGETS tonari_${mpi} LIBRARY DESTINATION lib/tonari/${mpi})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/tonari.pc.in ${CMAKE_BINARY_DIR}/${mpi}/tonari-${mpi}.pc
      @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${mpi}/tonari-${mpi}.pc DESTINATION lib/pkgconfig)
endforeach()
