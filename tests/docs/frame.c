/* SPDX-License-Identifier: BSD-3-Clause */
/* What fragments in docs/ stand in: tests/python/test_docs.py puts a function for each in the place
 * of the first marker, and their names with them in that of the second. Arguments say which run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tonari/grid.h>
#include <tonari/group.h>
#include <tonari/sparse.h>
#include <tonari/tonari.h>
#include <tonari/vector.h>

static void check(int code) {
  if (code == TONARI_SUCCESS) return;
  fprintf(stderr, "%s\n", tonari_last_error());
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void compute_interior(void) {}
static void compute_border(void) {}
static void compute_slab(int slab) { (void)slab; }

static double out[1000], in[1000];
static int moore[26 * 3];

static void list_moore(void) {
  int n = 0;
  for (int code = 0; code < 27; ++code) {
    if (code == 13) continue; /* (0, 0, 0) */
    moore[n++] = code / 9 - 1;
    moore[n++] = code / 3 % 3 - 1;
    moore[n++] = code % 3 - 1;
  }
}

/*FUNCTIONS*/

static const struct {
  const char* name;
  void (*run)(MPI_Comm cart, tonari_neighborhood near, tonari_request swap);
} fragments[] = {/*NAMES*/};

/* In a file of this rank: a launcher mixes what ranks print, also within lines. */
static void done(const char* name) {
  int rank;
  char file[32];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(file, sizeof file, "done.%d", rank);
  FILE* const out_file = fopen(file, "a");
  if (!out_file) MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  fprintf(out_file, "%s\n", name);
  fclose(out_file);
}

static void run(const char* name, MPI_Comm cart, tonari_neighborhood near, tonari_request swap) {
  for (size_t k = 0; k < sizeof fragments / sizeof *fragments; ++k) {
    if (strcmp(fragments[k].name, name) != 0) continue;
    fragments[k].run(cart, near, swap);
    done(name);
    return;
  }
  fprintf(stderr, "there is no fragment %s\n", name);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks, dims[3] = {0, 0, 0}, periodic[3] = {1, 1, 1};
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 3, dims);
  MPI_Comm cart;
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periodic, 0, &cart);
  list_moore();
  for (int k = 1; k < argc; ++k) {
    tonari_neighborhood near;
    tonari_request swap;
    check(tonari_neighborhood_create_cart(cart, 26, moore, MPI_INFO_NULL, &near));
    check(tonari_alltoall_init(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, near, MPI_INFO_NULL, &swap));
    run(argv[k], cart, near, swap);
    check(tonari_request_free(&swap));
    check(tonari_neighborhood_free(&near));
  }
  MPI_Comm_free(&cart);
  MPI_Finalize();
  (void)compute_interior, (void)compute_border, (void)compute_slab;
  return EXIT_SUCCESS;
}
