/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with arguments at the edge of the standard and beyond it, drawn from a seed. It prints what
 * each rank gets from each call: "right", "wrong" data, or the name of an error class. So two runs
 * can be compared: with a library in front of the MPI, and without.
 *
 *   arguments SEED CASES alone     wrong arguments are given by one rank, or by all
 *   arguments SEED CASES together  by all ranks: no MPI makes a rank wait for itself
 *   arguments SEED CASES legal     by none: for an MPI that ends the job at any error
 *
 * A call that the MPI itself does not survive is not made in the last two forms: "unknown". */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, ELEMENTS = 3, SLOT = 4, WORDS = MOST * SLOT };
#define UNTOUCHED (-7L)

typedef enum { ALLTOALL, ALLTOALLV, ALLTOALLW, ALLGATHER, ALLGATHERV, FORMS } form;
static const char* const form_names[] = {"alltoall", "alltoallv", "alltoallw", "allgather",
                                         "allgatherv"};
typedef enum { BLOCKING, BEGUN, MADE, IN_PLACE, WAYS } way;
static const char* const way_names[] = {"blocking", "begun", "made", "in-place"};

/* The first ones are legal, or so near to it that some MPI takes them. */
typedef enum {
  PLAIN,
  NO_BUFFER,
  NULL_TYPE_EMPTY,
  NO_BYTES,
  BACKWARDS,
  BOTTOM,
  UNCOMMITTED,
  SOME_EMPTY,
  LEGAL,
  NEGATIVE = LEGAL,
  NULL_TYPE,
  NULL_LIST,
  MARK,
  NULL_BUFFER,
  LONGER,
  TWISTS
} twist;
static const char* const twist_names[] = {
    "plain",     "no-buffer",   "null-type-empty", "no-bytes", "backwards",
    "bottom",    "uncommitted", "some-empty",      "negative", "null-type",
    "null-list", "mark",        "null-buffer",     "longer"};

typedef struct {
  form form;
  way way;
  twist twist;
  int sends, block, list, fresh; /* the twisted side, block and list; a communicator of its own */
  int odd;                       /* rank; -1: all */
} trial;

/* One side of a call. */
typedef struct {
  long words[WORDS];
  void* buffer;
  int count;
  MPI_Datatype type;
  int blocks, number[MOST], displs[MOST];
  MPI_Aint at[MOST];
  MPI_Datatype kinds[MOST];
  int *counts, *places; /* as they are given: maybe null */
  MPI_Aint* offsets;
  MPI_Datatype* types;
} side;

static int rank, ranks;
static MPI_Datatype nothing, uncommitted;

static unsigned draw(uint64_t* state, unsigned below) { /* Steele et al. 2014: SplitMix64 */
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (unsigned)((z ^ z >> 31) % below);
}

/* ---- who exchanges with whom: the ranks on both sides, or all. Without an edge back, a rank would
 * hear of what is wrong at the other end in a later call. */

static int degree(void) { return ranks > 2 ? 2 : 1; }
static int target(int i) { return (rank + (i ? ranks - 1 : 1)) % ranks; }
static int source(int i) { return (rank + (i ? 1 : ranks - 1)) % ranks; }

static MPI_Comm graph(void) {
  MPI_Comm comm;
  int to[2] = {target(0), target(1)}, from[2] = {source(0), source(1)};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree(), from, MPI_UNWEIGHTED, degree(), to,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

/* ---- arguments */

static int gathers(const trial* t) { return t->form == ALLGATHER || t->form == ALLGATHERV; }
static int regular(const trial* t) { return t->form == ALLTOALL || t->form == ALLGATHER; }
static long payload(int from, int to, int element) { return (from * 100L + to) * 100 + element; }

/* Elements in block i, on both of its ends. */
static int elements(const trial* t, int i) {
  const int none = t->twist == NO_BUFFER || t->twist == NULL_TYPE_EMPTY;
  if (t->way != IN_PLACE && t->form == ALLTOALLW && t->twist == NULL_TYPE_EMPTY)
    return i == t->block ? 0 : ELEMENTS;
  if (t->twist == SOME_EMPTY && !gathers(t) && !regular(t) && t->way != IN_PLACE)
    return i == t->block ? 0 : ELEMENTS;
  return none || t->twist == NO_BYTES ? 0 : ELEMENTS;
}

static void prepare(side* s, const trial* t, int blocks) {
  const int step = regular(t) ? elements(t, 0) : SLOT;
  s->buffer = s->words, s->blocks = blocks, s->count = elements(t, 0), s->type = MPI_LONG;
  for (int i = 0; i < blocks; ++i) {
    s->number[i] = elements(t, i), s->displs[i] = i * step, s->kinds[i] = MPI_LONG;
    s->at[i] = s->displs[i] * (MPI_Aint)sizeof(long);
  }
  s->counts = s->number, s->places = s->displs, s->offsets = s->at, s->types = s->kinds;
  for (int k = 0; k < WORDS; ++k) s->words[k] = UNTOUCHED;
}

static void use_type(side* s, MPI_Datatype type, int count) {
  s->type = type, s->count = count;
  for (int i = 0; i < s->blocks; ++i) s->kinds[i] = type, s->number[i] = count;
}

/* Displacements are counted from the end of the words. */
static void count_backwards(side* s) {
  s->buffer = s->words + WORDS;
  for (int i = 0; i < s->blocks; ++i)
    s->displs[i] -= WORDS, s->at[i] -= WORDS * (MPI_Aint)sizeof(long);
}

static void count_from_bottom(side* s) {
  for (int i = 0; i < s->blocks; ++i) MPI_Get_address(s->words + s->displs[i], &s->at[i]);
  s->buffer = MPI_BOTTOM;
}

static void lose_list(side* s, int list) {
  if (list == 0) s->counts = NULL;
  if (list == 1) s->places = NULL, s->offsets = NULL;
  if (list == 2) s->types = NULL;
}

static void twist_side(side* s, const trial* t) {
  const int block = t->block % s->blocks;
  switch (t->twist) {
    case NO_BUFFER:
      s->buffer = NULL;
      break;
    case NULL_TYPE_EMPTY:
      s->type = MPI_DATATYPE_NULL;
      for (int i = 0; i < s->blocks; ++i)
        if (s->number[i] == 0) s->kinds[i] = MPI_DATATYPE_NULL;
      break;
    case NO_BYTES:
      use_type(s, nothing, 2);
      break;
    case BACKWARDS:
      if (!regular(t) && s->blocks > 0) count_backwards(s);
      break;
    case BOTTOM:
      count_from_bottom(s);
      break;
    case UNCOMMITTED:
      s->type = uncommitted, s->kinds[block] = uncommitted;
      break;
    case SOME_EMPTY: /* where nothing is, the displacement means nothing */
      if (s->number[block] == 0) s->displs[block] = -12345678, s->at[block] = -1234567890123;
      break;
    case NEGATIVE:
      s->count = -1, s->number[block] = -1;
      break;
    case NULL_TYPE:
      s->type = MPI_DATATYPE_NULL, s->kinds[block] = MPI_DATATYPE_NULL;
      break;
    case NULL_LIST:
      lose_list(s, t->list);
      break;
    case MARK:
      s->buffer = MPI_IN_PLACE;
      break;
    case NULL_BUFFER:
      s->buffer = NULL;
      break;
    case LONGER:
      s->count = s->number[block] = ELEMENTS + 1;
      break;
    default:
      break;
  }
}

/* Where the side's arguments do not have what is twisted, another twist takes its place. */
static void adapt(trial* t) {
  const int lists = t->way == IN_PLACE || t->form != ALLGATHERV || !t->sends;
  if (t->way == IN_PLACE) {
    t->form = (form)(t->form % 3), t->sends = 0, t->fresh = 0;
    if (t->twist == BOTTOM || t->twist == MARK || t->twist == LONGER) t->twist = PLAIN;
  }
  if (t->twist == NULL_LIST && (regular(t) || !lists)) t->twist = NEGATIVE;
  if (t->twist == NULL_LIST && t->list == 2 && t->form != ALLTOALLW) t->list = 0;
  if (t->twist == BOTTOM && t->form != ALLTOALLW) t->twist = NO_BYTES;
  if (t->twist == BACKWARDS && (regular(t) || !lists)) t->twist = UNCOMMITTED;
  if (t->twist == LONGER) t->sends = 1;
  if (t->way == MADE && (t->twist >= NULL_LIST || t->form == ALLGATHERV))
    t->way = BLOCKING; /* MPIs look at starts only */
}

static trial drawn(unsigned seed) {
  uint64_t state = seed;
  trial t;
  t.form = (form)draw(&state, FORMS), t.way = (way)draw(&state, WAYS);
  t.twist = (twist)draw(&state, TWISTS);
  t.sends = (int)draw(&state, 2), t.block = (int)draw(&state, (unsigned)degree());
  t.list = (int)draw(&state, 3), t.fresh = draw(&state, 4) == 0;
  t.odd = draw(&state, 2) ? -1 : (int)draw(&state, (unsigned)ranks);
  adapt(&t);
  return t;
}

/* ---- calls */

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define INIT(...) CALL(MPI_Neighbor_, _init, __VA_ARGS__)
#else
#include <mpi-ext.h>
#define INIT(...) CALL(MPIX_Neighbor_, _init, __VA_ARGS__)
#endif
#define CALL(before, after, ...)                                                                  \
  (t->form == ALLTOALL ? before##alltoall##after(out->buffer, out->count, out->type, in->buffer,  \
                                                 in->count, in->type, __VA_ARGS__)                \
   : t->form == ALLTOALLV                                                                         \
       ? before##alltoallv##after(out->buffer, out->counts, out->places, out->type, in->buffer,   \
                                  in->counts, in->places, in->type, __VA_ARGS__)                  \
   : t->form == ALLTOALLW                                                                         \
       ? before##alltoallw##after(out->buffer, out->counts, out->offsets, out->types, in->buffer, \
                                  in->counts, in->offsets, in->types, __VA_ARGS__)                \
   : t->form == ALLGATHER                                                                         \
       ? before##allgather##after(out->buffer, out->count, out->type, in->buffer, in->count,      \
                                  in->type, __VA_ARGS__)                                          \
       : before##allgatherv##after(out->buffer, out->count, out->type, in->buffer, in->counts,    \
                                   in->places, in->type, __VA_ARGS__))

static int call_in_place(const trial* t, side* in) {
  int bytes[MOST];
  for (int i = 0; i < in->blocks; ++i) bytes[i] = (int)in->at[i];
  if (t->form == ALLTOALL)
    return MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in->buffer, in->count, in->type,
                        MPI_COMM_WORLD);
  if (t->form == ALLTOALLV)
    return MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in->buffer, in->counts,
                         in->places, in->type, MPI_COMM_WORLD);
  return MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in->buffer, in->counts,
                       in->offsets ? bytes : NULL, in->types, MPI_COMM_WORLD);
}

static int call(const trial* t, side* out, side* in, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  int rc;
  if (t->way == IN_PLACE) return call_in_place(t, in);
  if (t->way == BLOCKING) return CALL(MPI_Neighbor_, , comm);
  if (t->way == MADE) {
    rc = INIT(comm, MPI_INFO_NULL, &request);
    if (rc == MPI_SUCCESS) MPI_Request_free(&request);
    return rc;
  }
  rc = CALL(MPI_Ineighbor_, , comm, &request);
  return rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

static void fill(const trial* t, side* s) {
  for (int i = 0; i < s->blocks; ++i)
    for (int k = 0; k < ELEMENTS; ++k) {
      const int to = t->way == IN_PLACE ? i : gathers(t) ? 99 : target(i);
      if (elements(t, i) > 0) s->words[s->displs[i] + k] = payload(rank, to, k);
    }
}

static int is_right(const trial* t, const side* s) {
  for (int i = 0; i < s->blocks; ++i)
    for (int k = 0; k < elements(t, i); ++k) {
      const int from = t->way == IN_PLACE ? i : source(i);
      const int at = i * (regular(t) ? elements(t, 0) : SLOT) + k;
      if (s->words[at] != payload(from, gathers(t) ? 99 : rank, k)) return 0;
    }
  return 1;
}

static const char* name_of(int rc) {
  static char other[32];
  int class = MPI_SUCCESS;
  MPI_Error_class(rc, &class);
  if (class == MPI_ERR_COUNT) return "COUNT";
  if (class == MPI_ERR_TYPE) return "TYPE";
  if (class == MPI_ERR_ARG) return "ARG";
  if (class == MPI_ERR_BUFFER) return "BUFFER";
  if (class == MPI_ERR_TRUNCATE) return "TRUNCATE";
  if (class == MPI_ERR_OTHER) return "OTHER";
  snprintf(other, sizeof other, "class-%d", class);
  return other;
}

static const char* outcome(const trial* t, MPI_Comm comm) {
  static side out, in;
  const int all = t->way == IN_PLACE ? ranks : degree();
  prepare(&out, t, gathers(t) ? 1 : all), prepare(&in, t, all);
  fill(t, t->way == IN_PLACE ? &in : &out);
  if (t->odd < 0 || t->odd == rank) twist_side(t->sends ? &out : &in, t);
  if (t->twist == NO_BYTES) { /* both ends have elements then, and none has bytes */
    use_type(&out, nothing, 2), use_type(&in, nothing, 2);
  }
  const int rc = call(t, &out, &in, comm);
  if (rc != MPI_SUCCESS) return name_of(rc);
  return t->way == MADE || is_right(t, &in) ? "right" : "wrong";
}

/* ---- all trials */

/* Whether the MPI would crash, or exchange something by mistake. */
static int survives(const trial* t) {
#ifdef OPEN_MPI
  if (t->form == ALLGATHERV && t->twist == NEGATIVE) return t->sends || t->way == BLOCKING;
  return t->twist != NULL_BUFFER && t->twist != LONGER &&
         !(t->twist == NULL_LIST && t->form == ALLGATHERV);
#else
  return t->twist < NULL_LIST;
#endif
}

/* By every MPI, so that no rank waits in vain. */
static int accepted(twist t) { return t < LEGAL && t != NULL_TYPE_EMPTY && t != UNCOMMITTED; }

static void tell(int number, const trial* t, const char* mine) {
  char one[16] = "", all[MOST][16];
  snprintf(one, sizeof one, "%s", mine);
  PMPI_Gather(one, 16, MPI_CHAR, all, 16, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank > 0) return;
  printf("%d %s %s %s %s %d", number, form_names[t->form], way_names[t->way], twist_names[t->twist],
         t->sends ? "send" : "receive", t->odd);
  for (int r = 0; r < ranks; ++r) printf(" %s", all[r]);
  printf("\n"), fflush(stdout);
}

int main(int argc, char** argv) {
  const unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
  const int cases = argc > 2 ? atoi(argv[2]) : 100;
  const char* how = argc > 3 ? argv[3] : "alone";
  const int together = strcmp(how, "together") == 0, legal = strcmp(how, "legal") == 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Type_contiguous(0, MPI_LONG, &nothing), MPI_Type_commit(&nothing);
  MPI_Type_contiguous(1, MPI_LONG, &uncommitted);
  MPI_Comm shared = graph();
  for (int k = 0; k < cases; ++k) {
    trial t = drawn(seed * 100000u + (unsigned)k);
    MPI_Comm comm = t.fresh ? graph() : shared;
    if (together && !accepted(t.twist)) t.odd = -1;
    const int made = legal ? accepted(t.twist) : !together || survives(&t);
    tell(k, &t, made ? outcome(&t, comm) : "unknown");
    if (t.fresh) MPI_Comm_free(&comm);
  }
  MPI_Comm_free(&shared), MPI_Type_free(&nothing), MPI_Type_free(&uncommitted);
  MPI_Finalize();
  return 0;
}
