/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the program `unmodified` share: what one rank has to do with its neighbors, and
 * payloads, which differ by rank, edge, element and round. With LARGE_COUNTS all calls are those
 * with counts of type MPI_Count (_c, MPI 4). */
#ifndef UNMODIFIED_H
#define UNMODIFIED_H

#include <mpi.h>

#ifdef LARGE_COUNTS
typedef MPI_Count count;
typedef MPI_Aint place;
#define WIDTH(name) name##_c
#else
typedef int count;
typedef int place;
#define WIDTH(name) name
#endif

enum { MOST_EDGES = 64, MOST_ELEMENTS = 4, ROUNDS = 14, GAP = 2, WHOLE = 63 };
enum { REGULAR = 4, STRIDE = 2 * MOST_ELEMENTS + GAP };
#define UNTOUCHED (-7L)

/* Of receive block j: from which rank, and which of the blocks that it sends; -1: from nobody. */
typedef struct {
  int rank, in, out;
  int source[MOST_EDGES], block[MOST_EDGES];
} edges;

/* ---- forms.c: the operations, each with blocks of its own lengths ---- */

typedef enum { ALLTOALL, ALLTOALLV, ALLTOALLW, ALLGATHER, ALLGATHERV, FORMS } form;

/* What one exchange needs until it is complete. */
typedef struct {
  long sent[MOST_EDGES * STRIDE], got[MOST_EDGES * STRIDE];
  count counts[MOST_EDGES], from_counts[MOST_EDGES];
  place displs[MOST_EDGES], from_displs[MOST_EDGES];
  MPI_Aint at[MOST_EDGES], from_at[MOST_EDGES];
  MPI_Datatype types[MOST_EDGES], from_types[MOST_EDGES], holes;
} flight;

void fail(const edges* e, const char* what, int block, int element, long is, long should);
void require(int rc, const char* what);
long payload(int rank, int edge, int element, int round);

void fill(const edges* e, form how, flight* f, int round);
void check(const edges* e, form how, flight* f, int round);
void finish(const edges* e, form how, flight* f, int round);
/* These prepare a flight: non-blocking, persistent. */
void begin(const edges* e, form how, flight* f, MPI_Comm c, int round, MPI_Request* r);
int has_persistent(void);
void make(const edges* e, form how, flight* f, MPI_Comm c, MPI_Request* r);
/* One blocking exchange, and so many rounds of all. */
void deliver(const edges* e, form how, MPI_Comm comm, int round);
void all_forms(const edges* e, MPI_Comm comm, int rounds);

/* ---- requests.c ---- */

void begun_on(const edges* e, MPI_Comm comm);
void persistent_on(const edges* e, MPI_Comm comm);
void progress(void);

/* ---- topologies.c ---- */

/* MPI_COMM_NULL on ranks that are left out. */
MPI_Comm grid(edges* e, int dims, const int* extents, const int* periods);
/* All ranks in a line, closed or not. */
MPI_Comm line(edges* e, int closed);
MPI_Comm graph(edges* e, int distinct);
/* All of them; `distinct`: only those in which no rank has a neighbor twice. */
void exchanges(int distinct, void (*use)(const edges* e, MPI_Comm comm));

/* ---- in_place.c ---- */

void in_place(void);

/* ---- finalize.c ---- */

void in_finalize(const char* when, int persistent);
/* After MPI_Finalize. */
int exchanged_in_finalize(void);

#endif
