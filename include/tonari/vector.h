/* tonari: distributed vectors for sparse linear algebra. The C interface; include
 * <tonari/vector.hpp> from C++, and <tonari/spmv.hpp> for products with sparse matrices.
 *
 *     // rank r owns x[first], ..., x[first + owned - 1] and needs x[indices[0]], x[indices[1]],
 *     ... tonari_vector vector;
 *     tonari_vector_create(comm, first, owned, needed, indices, MPI_INFO_NULL, &vector);
 *     tonari_request fill;
 *     tonari_vector_forward_init(vector, NULL, x, ghosts, MPI_INFO_NULL, &fill);
 *     for (...) {
 *       tonari_start(fill);
 *       compute_with(x);
 *       tonari_wait(fill);
 *       compute_with(ghosts);
 *     }
 *     tonari_request_free(&fill);
 *     tonari_vector_free(&vector);
 *
 * Every index has one owner; any rank may need the values of any indices. A forward exchange brings
 * the owners' values to all that need them. A reverse exchange brings contributions of all back to
 * the owners, which add them (or take the least, or the largest). PETSc calls this a scatter or a
 * star forest.
 *
 * Conventions are those of tonari.h. A vector may be used by one thread at a time, its requests as
 * tonari.h says.
 */
#ifndef TONARI_VECTOR_H
#define TONARI_VECTOR_H

#include <tonari/tonari.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tonari_vector_s* tonari_vector;
#define TONARI_VECTOR_NULL ((tonari_vector)0)

/* [collective over comm] Makes a vector of what each rank owns and needs.
 *  comm     any intracommunicator; duplicated, not kept.
 *  first, owned
 *           this rank owns the global indices first, ..., first + owned - 1. The ranges of all
 *           ranks together are 0, ..., N - 1, each index once (checked: the sentence names two
 *           ranks and their indices). They may lie in any order of ranks. Where owned is 0, first
 *           is ignored.
 *  needed, indices
 *           indices[0], ..., indices[needed - 1] are the global indices whose values this rank
 *           needs, in the order in which it wants them. Repeats are allowed, and so are own
 *           indices. Each value is sent once, however often it is needed. Read during the call
 *           only.
 *  info     MPI_INFO_NULL, or tonari_route (TONARI_ROUTE), the same on all ranks (checked):
 *             direct      (default) values go straight from their owner to the ranks that need them
 *             store-and-forward/N
 *                         hop by hop on a virtual mesh of ranks of N dimensions (1 to log2 of the
 *                         ranks; 1 is direct), in each of them at most once. A rank sends at most
 *                         the sum of (extent - 1) messages. At every hop each value travels once
 *                         for all behind it, and sums are added on the way. topology:N is its
 *                         earlier name.
 *             node        one copy of a value enters each node, and sums are added on the node
 *                         before one leaves it. The rank of a node through which a value goes
 *                         depends on the owner, so all ranks of the node share the work. It is
 *                         direct where there is one node.
 *             auto        what was remembered for this pattern. Otherwise direct,
 *                         store-and-forward/2 and node are timed at creation, and the fastest is
 *                         taken and remembered. Each is timed as init would tune it, up to
 *                         TONARI_TUNE_SECONDS for each hop. With tonari_tune=measure they are
 *                         always timed; with off or model it is direct.
 *  vector   owned by the caller, who frees it with tonari_vector_free.
 * Owners learn which ranks need what without an all-to-all over all ranks (Hoefler, Siebert and
 * Lumsdaine 2010, "Scalable Communication Protocols for Dynamic Sparse Data Exchange"). Ranks learn
 * all ranks' ranges: 16 bytes per rank.
 * Errors: ARGUMENT (ranges that overlap or leave a gap; an index out of range: the sentence names
 * rank, position and index), TOPOLOGY (an intercommunicator), MISMATCH, OVERFLOW, MEMORY, MPI. */
TONARI_API int tonari_vector_create(MPI_Comm comm, int64_t first, int64_t owned, int64_t needed,
                                    const int64_t indices[], MPI_Info info, tonari_vector* vector);

/* [collective] Requests made on it stay valid: the last of them frees what they share. Sets *vector
 * to null. */
TONARI_API int tonari_vector_free(tonari_vector* vector);

/* What a value is, and how values lie in memory. Start from {0} (all defaults but type). type,
 * components and vectors must be the same on all ranks (checked); strides need not be. */
typedef struct tonari_vector_values {
  /* of one component. Forward: any type whose bytes are contiguous. Reverse: see there. */
  MPI_Datatype type;
  int components; /* side by side for each index; 0 means 1 */
  int vectors;    /* exchanged at once, in the same messages; 0 means 1 */
  /* of values of `type` from one vector to the next; 0 means owned * components. Component c of own
   * index i of vector v is owned[v * owned_stride + i * components + c]. */
  int64_t owned_stride;
  int64_t ghost_stride; /* the same for ghosts; 0 means needed * components */
  int64_t reserved[8];  /* 0 */
} tonari_vector_values;

/* [collective] Prepares a forward exchange: afterwards ghosts[k] is the owner's value of indices[k]
 * (with components and vectors: as above), for all k. It is a request like all others
 * (tonari_start, tonari_test, tonari_wait, tonari_request_free, tonari_request_describe,
 *  tonari_request_get_info). values   NULL: one vector of doubles.
 *  owned    not written; must not be changed between start and completion. May be NULL if this rank
 *           owns nothing.
 *  ghosts   must not be touched between start and completion: values pass through it on their way
 *           to other ranks. May be NULL if nothing is needed. Init touches neither. They must not
 *           overlap (checked), but may interleave: [owned | ghosts] as one array per vector is
 *           fine.
 *  info     keys of tonari_alltoall_init (tonari_algorithm, tonari_channel, tonari_tune, ...), for
 *           each hop of the route; tonari_recv_view is ignored.
 *           With tonari_progress=thread one thread drives all hops.
 * tonari_start_with(request, owned, ghosts) exchanges other arrays, whose values lie as `values`
 * says.
 * Start to completion allocates nothing. With several hops, values that pass through this rank go
 * on when it calls tonari_test or tonari_wait, or by that thread.
 * Errors: ARGUMENT, BUFFERS, MISMATCH, OVERFLOW (2 GiB or more between two ranks at once),
 * ALGORITHM, MEMORY, MPI. */
TONARI_API int tonari_vector_forward_init(tonari_vector vector, const tonari_vector_values* values,
                                          const void* owned, void* ghosts, MPI_Info info,
                                          tonari_request* request);

/* [collective] Prepares a reverse exchange: owned[i] becomes owned[i] op all ghosts, on all ranks,
 * whose index is i.
 *  values   type: MPI_FLOAT, MPI_DOUBLE, MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG,
 *           MPI_LONG_LONG, MPI_INT32_T, MPI_UINT32_T, MPI_INT64_T, MPI_UINT64_T; and
 *           MPI_C_FLOAT_COMPLEX and MPI_C_DOUBLE_COMPLEX for sums. NULL: one vector of doubles.
 *  op       MPI_SUM, MPI_MIN or MPI_MAX; the same on all ranks (checked).
 *  ghosts   not written; must not be changed between start and completion.
 *  owned    must not be touched between start and completion. What has to be added to own values
 *           that are computed meanwhile goes to an array of zeros.
 *  info     as above.
 * tonari_start_with(request, ghosts, owned) exchanges other arrays.
 * The order of additions is fixed, so results are repeatable bit by bit, whatever arrives first. A
 * rank first combines repeats in the order of its list. An owner first adds its own ghosts in the
 * order of its list. Then, hop by hop, it adds what comes from other ranks in ascending order of
 * these ranks. Different routes add in a different order.
 * Errors: as above. */
TONARI_API int tonari_vector_reverse_init(tonari_vector vector, const tonari_vector_values* values,
                                          MPI_Op op, const void* ghosts, void* owned, MPI_Info info,
                                          tonari_request* request);

/* [collective] The same as single calls; complete when they return. The first call with a type and
 * number of components and vectors prepares an exchange, which is kept with the vector, the last 8
 * of them. Later ones ask all ranks once whether they agree (one reduction), whatever buffers they
 * come with. Persistent requests need no agreement, and send from and receive into the program's
 * memory where indices lie in order. Nothing is measured. Errors: as above. */
TONARI_API int tonari_vector_forward(tonari_vector vector, const tonari_vector_values* values,
                                     const void* owned, void* ghosts);
TONARI_API int tonari_vector_reverse(tonari_vector vector, const tonari_vector_values* values,
                                     MPI_Op op, const void* ghosts, void* owned);

/* What was found, for one vector of one component. Local. */
typedef struct tonari_vector_facts {
  int64_t ghosts; /* different indices needed here and owned by others */
  /* messages that this rank receives, and sends, in a forward exchange, of all hops; in a reverse
   * one it is the other way round */
  int sources, targets;
  int stages;          /* hops, as many as there are on any rank */
  int64_t values_sent; /* in a forward exchange, those passed on included */
  int64_t values_received;
  char route[24]; /* as in tonari_route; what auto has chosen */
  int64_t reserved[8];
} tonari_vector_facts;
TONARI_API int tonari_vector_get_facts(tonari_vector vector, tonari_vector_facts* facts);

#ifdef __cplusplus
}
#endif
#endif
