/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that has libtonari.so (its argument) in a plugin, and unloads that before MPI_Finalize:
 * MPI then still calls what the library has left with it. Says at its end whether a component of
 * Open MPI is still loaded. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <tonari/tonari.h>

#define FIND(name) __typeof__(name)* const name##_ = (__typeof__(name)*)dlsym(library, #name)

/* One exchange on a ring; nonzero unless the block of the rank before has come. */
static int exchange(void* library) {
  FIND(tonari_neighborhood_create_from_destinations);
  FIND(tonari_alltoall);
  FIND(tonari_neighborhood_free);
  int rank, ranks, got = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int next = (rank + 1) % ranks;
  tonari_neighborhood near;
  tonari_neighborhood_create_from_destinations_(MPI_COMM_WORLD, 1, &next, MPI_INFO_NULL, &near);
  tonari_alltoall_(&rank, 1, MPI_INT, &got, 1, MPI_INT, near);
  tonari_neighborhood_free_(&near);
  return got != (rank + ranks - 1) % ranks;
}

/* Whether a file with this in its name is mapped. */
static int is_loaded(const char* name) {
  char line[4096];
  int found = 0;
  FILE* const maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps)) found |= strstr(line, name) != NULL;
  if (maps) fclose(maps);
  return found;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  void* const library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!library) {
    fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: unload LIBRARY");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const int wrong = exchange(library);
  dlclose(library);
  MPI_Finalize();
  printf("%d\n", is_loaded("/mca_pmix_"));
  return wrong;
}
