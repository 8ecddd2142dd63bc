/* SPDX-License-Identifier: BSD-3-Clause */
/* tonari: distributed vectors for sparse linear algebra. The C interface; include
 * <tonari/vector.hpp> from C++, and <tonari/spmv.hpp> for products with sparse matrices.
 *
 *     // rank r owns x[first], ..., x[first + owned - 1] and needs x[indices[0]], ...
 *     tonari_vector vector;
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
 * Vectors are made of ranges of indices, as here; of ids in any order, with gaps
 * (tonari_vector_create_from_ids); of ids that ranks share (tonari_vector_create_shared); of lists
 * of neighbors (tonari_vector_create_from_neighbors); or of boxes, one on each rank of a Cartesian
 * grid of ranks (tonari_vector_create_box_nodes, tonari_vector_create_box_cells).
 *
 * Every index has one owner; any rank may need the values of any indices. A forward exchange brings
 * the owners' values to all that need them. A reverse exchange brings contributions of all back to
 * the owners, which add them (or take the least, or the largest). PETSc calls this a scatter or a
 * star forest. To combine is both, one after the other.
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
#define TONARI_VECTOR_NULL TONARI_NULL_HANDLE(tonari_vector)

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
 *             balanced, message-sharing
 *                         along the messages that this algorithm for graphs plans for all that
 *                         ranks have for each other; with a variant as in tonari_algorithm
 *                         (balanced/3 stages, balanced/2 stages price 5 words 1.25). At every hop
 *                         each value travels once, and sums are added on the way. Values and sums
 *                         are planned apart, so both have the messages that `tonari share` counts.
 *                         One rank plans for all up to 131,072 pairs of ranks that exchange values,
 *                         and 16,384 ranks. Beyond that, the ranks plan together, unless another
 *                         variant is named (balanced/both ends, message-sharing/levelled phase II).
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

/* [collective over comm] Makes a vector of the lists that a code has of its neighbors, without
 * global numbers: what it sends to each, and how many values come from each.
 *  owned    values that the array `owned` of the exchanges has room for. Places in it are
 *           0, ..., owned - 1; some may be sent to nobody.
 *  sends, destinations, sendcounts, send_indices
 *           list i, of `sends`, is for rank destinations[i] and has sendcounts[i] places in
 *           `owned`. The lists lie one behind the other in send_indices. A value may be in several
 *           lists, and several times in one.
 *  receives, sources, recvcounts, recv_places
 *           list j, of `receives`, is from rank sources[j] and has recvcounts[j] values. They go to
 *           `ghosts`, in the order in which they are sent: to recv_places, which has the lists one
 *           behind the other as send_indices does, or, if it is NULL, to ghosts[0], ghosts[1], ...
 *           With (x, x + owned) for (owned, ghosts) they are appended to the own values.
 *  info, vector, errors
 *           as above, and MISMATCH if a rank does not expect as many values from another as that
 *           one sends (checked for each pair: the sentence names both ranks and both counts).
 * A rank may be in a list several times, itself included. Its lists then count as one, in this
 * order. All arrays are read during the call only.
 *
 * Owned values and ghosts may lie anywhere in one array: (x, x) for (owned, ghosts), where
 * recv_places are places in x, too. They may even have places in common. What is sent is then what
 * was there at start. So a reverse exchange with x for both adds to each shared value what the
 * neighbors have there: a sum over elements, with the same lists for both sides.
 *
 * A reverse exchange sends from recv_places, and combines at send_indices. There a place may be in
 * several receive lists: it goes to all of them. Forward exchanges refuse that (ARGUMENT). */
TONARI_API int tonari_vector_create_from_neighbors(MPI_Comm comm, int64_t owned, int sends,
                                                   const int destinations[], const int sendcounts[],
                                                   const int send_indices[], int receives,
                                                   const int sources[], const int recvcounts[],
                                                   const int recv_places[], MPI_Info info,
                                                   tonari_vector* vector);

/* [collective over comm] Makes a vector of values that have numbers of any kind: a mesh with gaps
 * in its numbering, or one that was renumbered or moved between ranks.
 *  owned, owned_ids, owned_places
 *           this rank owns the values owned_ids[0], ..., owned_ids[owned - 1]: any numbers of 64
 *           bits, each on one rank only and once (checked: the sentence names the id and the
 *           ranks). Value k lies at owned_places[k] in the array `owned` of the exchanges, or at k
 *           if owned_places is NULL. No place may be there twice.
 *  needed, needed_ids, ghost_places
 *           the values that this rank needs, own ones and repeats allowed. Value k goes to
 *           ghost_places[k] in `ghosts`, or to k if ghost_places is NULL. For places that are there
 *           twice, and for one array for both, see tonari_vector_create_from_neighbors.
 *  info, vector, errors
 *           as for tonari_vector_create (ARGUMENT: an id with two owners, or one that is needed but
 *           owned by nobody: the sentence names rank, position and id).
 * Owners are found by a directory that all ranks share. A rank keeps about as many entries of it as
 * it owns ids. All arrays are read during the call only. */
TONARI_API int tonari_vector_create_from_ids(MPI_Comm comm, int64_t owned,
                                             const int64_t owned_ids[], const int owned_places[],
                                             int64_t needed, const int64_t needed_ids[],
                                             const int ghost_places[], MPI_Info info,
                                             tonari_vector* vector);

/* [collective over comm] Gives values that have numbers of any kind consecutive ones: the nodes of
 * a mesh with gaps in its numbering, or one that was moved between ranks. Matrices and vectors can
 * be made with these (tonari_vector_create, and the rows of spmv.hpp).
 *  owned, owned_ids, needed, needed_ids
 *           as for tonari_vector_create_from_ids, and checked in the same way.
 *  first    this rank's values become the indices *first, ..., *first + owned - 1, in the order of
 *           owned_ids. Those of a lower rank come before.
 *  indices  indices[k] is what needed_ids[k] becomes. May be NULL if nothing is needed.
 * All arrays are read during the call only. Nothing is kept.
 * Errors: ARGUMENT (as there), TOPOLOGY, OVERFLOW, MEMORY, MPI. */
TONARI_API int tonari_vector_renumber(MPI_Comm comm, int64_t owned, const int64_t owned_ids[],
                                      int64_t needed, const int64_t needed_ids[], int64_t* first,
                                      int64_t indices[]);

/* [collective over comm] Makes a vector of values that several ranks have, such as the nodes of a
 * mesh whose elements are distributed. No rank has to know who else has a value, or to whom it
 * belongs.
 *  count, ids, places
 *           this rank has the values ids[0], ..., ids[count - 1]: any numbers of 64 bits, each once
 *           in the list of a rank. Value k lies at places[k] in the arrays of exchanges, or at k
 *           if places is NULL. No place may be there twice.
 *  info, vector, errors
 *           as for tonari_vector_create (ARGUMENT: an id that is twice in a list).
 * The lowest rank that has a value owns it, and the others need it. Give each exchange one array
 * for owned and ghosts: (x, x). A reverse exchange then combines all that ranks have of a value on
 * its owner, and a forward one brings the owner's value to all, so all have the same bits;
 * tonari_vector_combine does both.
 * All arrays are read during the call only. */
TONARI_API int tonari_vector_create_shared(MPI_Comm comm, int64_t count, const int64_t ids[],
                                           const int places[], MPI_Info info,
                                           tonari_vector* vector);

/* [collective over cart] Makes a vector of the nodes of a mesh that is cut into boxes of cells, one
 * on each rank. Boxes that touch in a face, an edge or a corner share the nodes there.
 *  cart     a Cartesian communicator of 1 to 5 dimensions: which boxes lie side by side, and in
 *           which dimensions the mesh is periodic. Duplicated, not kept.
 *  cells    cells of this rank's box, one number per dimension of cart, each at least 1. Ranks that
 *           lie side by side along one dimension have the same numbers in all others (checked for
 *           neighbors: the sentence names two ranks and their numbers). For elements of order p
 *           count p cells for each, so that all their points are nodes. Read during the call only.
 *  info, vector
 *           as for tonari_vector_create.
 * A box has cells[0] + 1 times cells[1] + 1 ... nodes. They lie in this order in the arrays of
 * exchanges, the last dimension fastest. Along a periodic dimension of one rank the first and the
 * last nodes are the same ones.
 * The lowest rank that has a node owns it, and there the first of its places; the others need it.
 * Exchanges are those of tonari_vector_create_shared: with (x, x) for owned and ghosts
 * tonari_vector_combine gives each box what all boxes have of its nodes, and a forward exchange
 * brings the owners' values to all.
 * Errors: TOPOLOGY (a communicator without such a topology), ARGUMENT, MISMATCH, and as for
 * tonari_vector_create. */
TONARI_API int tonari_vector_create_box_nodes(MPI_Comm cart, const int cells[], MPI_Info info,
                                              tonari_vector* vector);

/* [collective over cart] Makes a vector of the cells (elements) of such a mesh: each rank owns
 * those of its box, and needs cells of the boxes around it.
 *  cart, cells, info, vector
 *           as above. Own cells lie in this order in `owned`, the last dimension fastest.
 *  width    layers of cells that a box needs of each box beside it, at least 1; the same on all
 *           ranks (checked). Boxes that have a neighbor along a dimension have at least as
 *           many cells there.
 *  along    from which boxes: 1 those across faces only, 2 across edges, too, and so on; 0 from
 *           all. The same on all ranks (checked).
 * Ghosts are appended, so (x, x + cells[0] * cells[1] * ...) is usual for (owned, ghosts). First
 * come those across faces: of the lower side of dimension 0, its upper side, the lower side of
 * dimension 1, and so on. Then come edges, ordered by their dimensions, (0, 1), (0, 2), (1, 2), and
 * of these the sides, (lower, lower), (lower, upper), (upper, lower), (upper, upper). Then come
 * corners in the same way. Each of these parts has the last dimension fastest. Where there is no
 * neighbor, at a border that is not periodic, there are no ghosts.
 * If ghosts are to lie around the own cells in one array, see grid.h.
 * Errors: as above. */
TONARI_API int tonari_vector_create_box_cells(MPI_Comm cart, const int cells[], int width,
                                              int along, MPI_Info info, tonari_vector* vector);

/* [collective] The same five with counts and numbers of cells of type MPI_Count, and places of type
 * MPI_Aint, for arrays of 2^31 values or more. Ranks may mix both kinds. */
TONARI_API int tonari_vector_create_from_neighbors_c(
    MPI_Comm comm, int64_t owned, int sends, const int destinations[], const MPI_Count sendcounts[],
    const MPI_Aint send_indices[], int receives, const int sources[], const MPI_Count recvcounts[],
    const MPI_Aint recv_places[], MPI_Info info, tonari_vector* vector);
TONARI_API int tonari_vector_create_from_ids_c(MPI_Comm comm, int64_t owned,
                                               const int64_t owned_ids[],
                                               const MPI_Aint owned_places[], int64_t needed,
                                               const int64_t needed_ids[],
                                               const MPI_Aint ghost_places[], MPI_Info info,
                                               tonari_vector* vector);
TONARI_API int tonari_vector_create_shared_c(MPI_Comm comm, int64_t count, const int64_t ids[],
                                             const MPI_Aint places[], MPI_Info info,
                                             tonari_vector* vector);
TONARI_API int tonari_vector_create_box_nodes_c(MPI_Comm cart, const MPI_Count cells[],
                                                MPI_Info info, tonari_vector* vector);
TONARI_API int tonari_vector_create_box_cells_c(MPI_Comm cart, const MPI_Count cells[], int width,
                                                int along, MPI_Info info, tonari_vector* vector);

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
  int64_t reserved[8];  /* 0 (checked) */
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
 * Errors: ARGUMENT, BUFFERS, MISMATCH, OVERFLOW, ALGORITHM, MEMORY, MPI. */
TONARI_API int tonari_vector_forward_init(tonari_vector vector, const tonari_vector_values* values,
                                          const void* owned, void* ghosts, MPI_Info info,
                                          tonari_request* request);

/* [collective] Prepares a reverse exchange: owned[i] becomes owned[i] op all ghosts, on all ranks,
 * whose index is i.
 *  values   type: MPI_FLOAT, MPI_DOUBLE, MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG,
 *           MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG, MPI_SHORT, MPI_UNSIGNED_SHORT,
 *           MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_INT8_T to MPI_INT64_T and MPI_UINT8_T to
 *           MPI_UINT64_T; and MPI_C_FLOAT_COMPLEX and MPI_C_DOUBLE_COMPLEX for sums. Numbers of
 *           Fortran (MPI_DOUBLE_PRECISION, MPI_INTEGER8, ...) count as those of C with as many
 *           bytes. NULL: one vector of doubles.
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

/* [collective] Prepares both as one request: a reverse exchange, and then a forward one of what it
 * leaves. owned[i] becomes owned[i] op all ghosts, on all ranks, whose index is i, and so do these
 * ghosts. On a vector of shared values (tonari_vector_create_shared, _box_nodes), with (x, x) for
 * owned and ghosts, all ranks that have a value get what all of them have of it combined: the same
 * bits everywhere. Spectral element codes call this direct stiffness summation, or gather-scatter.
 *  values, op, info
 *           as for tonari_vector_reverse_init.
 *  owned, ghosts
 *           must not be touched between start and completion. In one array no place may be both
 *           (ARGUMENT).
 * tonari_start_with(request, owned, ghosts) exchanges other arrays.
 * Errors: as above. */
TONARI_API int tonari_vector_combine_init(tonari_vector vector, const tonari_vector_values* values,
                                          MPI_Op op, void* owned, void* ghosts, MPI_Info info,
                                          tonari_request* request);

/* [collective] The same as one-shot calls; complete when they return. Nothing is measured. The
 * first call of a direction connects the ranks that exchange values. It is collective as all
 * functions here, and reads the environment. Later calls ask no other rank. They allocate nothing
 * if types, components, vectors, strides and operation are those of one of the last 8 calls. Arrays
 * may lie elsewhere, but those whose rows are interleaved must keep their distance. On a node they
 * call no MPI function while nobody is late.
 *  - If a rank passes wrong arguments, it and those that get values from it, in any hop, return the
 *    same code and sentence; so do two ranks whose values differ in what must be the same. The
 *    others complete. What ranks with an error receive into then is undefined.
 *  - The vector can be used again afterwards, unless the error is PEER or MPI.
 *  - Ranks that call a forward exchange where others call another one are told in the first call
 *    only. As with MPI's own collectives, they may wait for ever.
 * If tonari_algorithm, tonari_channel or tonari_progress=thread are asked for by the environment,
 * each call asks all ranks once (one reduction), who then all get the same error. Errors: as
 * above; PEER. */
TONARI_API int tonari_vector_forward(tonari_vector vector, const tonari_vector_values* values,
                                     const void* owned, void* ghosts);
TONARI_API int tonari_vector_reverse(tonari_vector vector, const tonari_vector_values* values,
                                     MPI_Op op, const void* ghosts, void* owned);
TONARI_API int tonari_vector_combine(tonari_vector vector, const tonari_vector_values* values,
                                     MPI_Op op, void* owned, void* ghosts);

/* One of several fields that are exchanged together, each with arrays of its own. Start from {0}.
 */
typedef struct tonari_vector_field {
  tonari_vector_values values; /* {0}: one vector of doubles */
  void* owned;                 /* not written by forward exchanges */
  void* ghosts;                /* not written by reverse exchanges */
  int64_t reserved[4];         /* 0 (checked) */
} tonari_vector_field;

/* [collective] The same exchanges for several fields at once: one message from rank to rank has the
 * values of all fields.
 *  fields, field
 *           field[0], ..., field[fields - 1], at least one. The number of fields, and the shape of
 *           each (see tonari_vector_values), must be the same on all ranks (checked). The array is
 *           read during the call only. No field may overlap another.
 *  op       one for all fields.
 * All else is as above, for each field. */
TONARI_API int tonari_vector_forward_fields_init(tonari_vector vector, int fields,
                                                 const tonari_vector_field field[], MPI_Info info,
                                                 tonari_request* request);
TONARI_API int tonari_vector_reverse_fields_init(tonari_vector vector, int fields,
                                                 const tonari_vector_field field[], MPI_Op op,
                                                 MPI_Info info, tonari_request* request);
TONARI_API int tonari_vector_forward_fields(tonari_vector vector, int fields,
                                            const tonari_vector_field field[]);
TONARI_API int tonari_vector_reverse_fields(tonari_vector vector, int fields,
                                            const tonari_vector_field field[], MPI_Op op);
TONARI_API int tonari_vector_combine_fields_init(tonari_vector vector, int fields,
                                                 const tonari_vector_field field[], MPI_Op op,
                                                 MPI_Info info, tonari_request* request);
TONARI_API int tonari_vector_combine_fields(tonari_vector vector, int fields,
                                            const tonari_vector_field field[], MPI_Op op);

/* What was found, for one vector of one component. Local. */
typedef struct tonari_vector_facts {
  int64_t ghosts; /* different indices needed here and owned by others */
  /* messages that this rank receives, and sends, in a forward exchange, of all hops; in a reverse
   * one it is the other way round, unless sums are planned apart (balanced, message-sharing):
   * then tonari_request_get_info tells it */
  int sources, targets;
  int stages;          /* hops, as many as there are on any rank */
  int64_t values_sent; /* in a forward exchange, those passed on included */
  int64_t values_received;
  char route[24]; /* as in tonari_route, cut off if it is longer; what auto has chosen */
  /* values that the program's arrays must have room for; if it has listed places in `ghosts`, one
   * more than the largest of them */
  int64_t owned_length, ghost_length;
  int64_t reserved[6]; /* 0 */
} tonari_vector_facts;
TONARI_API int tonari_vector_get_facts(tonari_vector vector, tonari_vector_facts* facts);

#ifdef __cplusplus
}
#endif
#endif
