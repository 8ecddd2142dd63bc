/* SPDX-License-Identifier: BSD-3-Clause */
/* tonari: sparse collective communication on MPI. The C interface.
 *
 *   Describe once who talks to whom and with which buffers. Get the fastest correct exchange on the
 *   MPI you have. Start it as often as you like.
 *
 *     tonari_neighborhood near;
 *     tonari_neighborhood_create_cart(cart, s, offsets, MPI_INFO_NULL, &near);
 *     tonari_request swap;
 *     tonari_alltoall_init(sendbuf, 8, MPI_DOUBLE, recvbuf, 8, MPI_DOUBLE, near, MPI_INFO_NULL,
 *                          &swap);
 *     for (...) {
 *       tonari_start(swap);
 *       compute_interior();
 *       tonari_wait(swap);
 *       compute_border();
 *     }
 *     tonari_request_free(&swap);
 *     tonari_neighborhood_free(&near);
 *
 * Conventions, for all functions unless said otherwise:
 *  - They return TONARI_SUCCESS or one of the TONARI_ERR_ codes. After an error,
 *    tonari_last_error() returns a sentence that says what to change.
 *  - Functions marked [collective] must be called by all ranks of the neighborhood's communicator,
 *    in the same order. What ranks have to agree on is checked there: if one rank passes a wrong
 *    argument, all ranks get the same code and sentence, and nothing has happened. There is one
 *    exception: if the handle itself is null on some ranks only, these return at once and cannot
 *    tell the others. One-shot calls have rules of their own: see "One-shot operations".
 *  - Output parameters are written on success only. Handles are null (TONARI_*_NULL) after they
 *    were freed.
 *  - A neighborhood and its requests may be used by one thread at a time. Different requests may be
 *    driven by different threads if MPI was initialized with MPI_THREAD_MULTIPLE. [collective]
 *    calls on objects made of one communicator must not run concurrently, since all of them share
 *    one duplicate of it: give each thread a communicator of its own. Requests of one-shot calls
 *    are completed and freed by the thread that makes the calls on their neighborhood.
 *  - Counts and displacements mean what they mean in MPI 4.1's neighborhood collectives. Counts are
 *    in elements of the type. Displacements of v forms are in elements (extents) of the type, and
 *    of w forms in bytes. Functions with _c at the end take counts of type MPI_Count
 *    (large_counts.h). tonari keeps no pointers to the arrays passed to init calls, only to the
 *    buffers themselves. Datatypes may be freed after init.
 *  - A child that a rank makes by fork() may free its copies of handles, also of active requests,
 *    or end by exit(); no other rank notices. It can do nothing else with them. What shared memory
 *    requests hold stays mapped in the child until it ends.
 */
#ifndef TONARI_H
#define TONARI_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers (docs/versioning.md). All of it is also one number for #if: 0.1.0 is
 * 100, and 1.2.3 would be 10203. */
#define TONARI_VERSION_MAJOR 0
#define TONARI_VERSION_MINOR 1
#define TONARI_VERSION_PATCH 0
#define TONARI_VERSION_NUMBER \
  (10000 * TONARI_VERSION_MAJOR + 100 * TONARI_VERSION_MINOR + TONARI_VERSION_PATCH)

#if defined(__GNUC__)
#define TONARI_API __attribute__((visibility("default")))
#else
#define TONARI_API
#endif

/* Error codes. Values are fixed; new ones are appended. */
enum {
  TONARI_SUCCESS = 0,
  /* null handle or pointer, negative count, wrong number of dimensions */
  TONARI_ERR_ARGUMENT = 1,
  /* the communicator has no topology to read, or a Cartesian one with more than 8 dimensions */
  TONARI_ERR_TOPOLOGY = 2,
  TONARI_ERR_MISMATCH = 3,  /* ranks disagree: offsets, sizes, operation, algorithm */
  TONARI_ERR_OVERFLOW = 4,  /* a size or displacement does not fit */
  TONARI_ERR_BUFFERS = 5,   /* send and receive blocks, or two receive blocks, overlap */
  TONARI_ERR_ACTIVE = 6,    /* started twice, or freed while active */
  TONARI_ERR_ALGORITHM = 7, /* unknown, or not applicable to this neighborhood */
  TONARI_ERR_MEMORY = 8,
  /* an MPI call failed, MPI is not initialized, or it is another than libtonari was built for */
  TONARI_ERR_MPI = 9,
  TONARI_ERR_INTERNAL = 10,
  TONARI_ERR_FILE = 11,
  TONARI_ERR_PROMISE = 12, /* the program breaks a promise made by an info key */
  /* another rank has ended, or has freed its part of what this one waits for; end the program, and
   * do not free the buffers before: the MPI may still read or write them */
  TONARI_ERR_PEER = 13
};

typedef struct tonari_neighborhood_s* tonari_neighborhood;
typedef struct tonari_request_s* tonari_request;
/* A null handle of a type, as C++ and C write it. */
#ifdef __cplusplus
#define TONARI_NULL_HANDLE(type) (static_cast<type>(nullptr))
#else
#define TONARI_NULL_HANDLE(type) ((type)0)
#endif
#define TONARI_NEIGHBORHOOD_NULL TONARI_NULL_HANDLE(tonari_neighborhood)
#define TONARI_REQUEST_NULL TONARI_NULL_HANDLE(tonari_request)

/* The sentence that belongs to the last error of the calling thread. It is never NULL, and valid
 * until the thread's next tonari call. */
TONARI_API const char* tonari_last_error(void);
/* For layers on top of this interface, such as tonari.hpp. What only this rank can see, and only
 * above C, must not leave the other ranks waiting: it takes part in the [collective] call, and all
 * ranks whom the call concerns get this code and sentence, with the rank's number in front.
 *
 *     tonari_refuse(TONARI_ERR_ARGUMENT, "`recv` has 11 elements; 4 blocks of 3 need 12");
 *     code = tonari_alltoall_init(send, 3, MPI_INT, recv, -1, MPI_INT, near, info, &request);
 *
 *  code      TONARI_ERR_..., of the next call of this thread that fails. TONARI_SUCCESS: nothing.
 *  sentence  is copied, up to 1023 characters. After another one for the same call it is ignored.
 * Give that call an argument that it refuses anyway. Local; may be called at any time. */
TONARI_API void tonari_refuse(int code, const char* sentence);
/* A few words for a code; never NULL; static. */
TONARI_API const char* tonari_error_string(int code);

/* The version of the library that the program runs with. It may be newer than the headers that the
 * program was compiled with. Each pointer may be NULL. Local; may be called at any time, also
 * before MPI_Init and after MPI_Finalize. Errors: none. */
TONARI_API int tonari_version(int* major, int* minor, int* patch);
/* The same as a word, such as "0.1.0"; never NULL; static. */
TONARI_API const char* tonari_version_string(void);

/* ---- Neighborhoods -------------------------------------------------------------------------- */

/* [collective] An isomorphic neighborhood (Träff et al. 2016, section 2: "Message-Combining
 * Algorithms for Isomorphic, Sparse Collective Communication"). Every rank R sends block i to
 * R + C^i and receives block i from R - C^i.
 *  cart     communicator with a Cartesian topology of d dimensions, d from 1 to 8, periodic or not
 *           in each. It is duplicated when the first object on it is made, and may be freed at any
 *           time.
 *  s        number of neighbors, >= 0.
 *  offsets  s * d integers: C^0, C^1, ... one after the other. The list is the same on every rank
 *           (checked). Offsets may repeat, be zero, and be larger than the grid. Along non-periodic
 *           dimensions a neighbor that does not exist is MPI_PROC_NULL: nothing is sent, and the
 *           receive block is left alone.
 *  info     MPI_INFO_NULL, or keys that all requests on this neighborhood inherit (see
 *           tonari_alltoall_init), and promises (see below).
 *  near     owned by the caller, who frees it with tonari_neighborhood_free.
 * Errors: ARGUMENT, TOPOLOGY, MISMATCH (names the first rank and offset that differ), OVERFLOW,
 * MPI; with tonari_schedule ALGORITHM and FILE, as in all calls that make a neighborhood. */
TONARI_API int tonari_neighborhood_create_cart(MPI_Comm cart, int s, const int offsets[],
                                               MPI_Info info, tonari_neighborhood* near);

/* [collective] Any directed graph: this rank receives block j from sources[j] and sends block i to
 * destinations[i]. Arguments are those of MPI_Dist_graph_create_adjacent, and lists mean what they
 * mean there (MPI 4.1, 8.5.4 and 8.6):
 *  comm     any intracommunicator; duplicated as above. It may have a Cartesian topology, and the
 *           lists may turn out to be the same offsets on all ranks. Then the planners for offsets
 *           are used.
 *  indegree, sources, outdegree, destinations
 *           this rank's lists. Repeated edges are fine: the k-th block sent to a rank is the k-th
 *           that it receives from here. So are edges to itself, empty lists, and MPI_PROC_NULL,
 *           whose block is not sent, or left alone. What one rank lists as a destination the other
 *           must list as a source, as often (checked; the sentence names both ranks).
 *  sourceweights, destweights
 *           MPI_UNWEIGHTED, or one weight per edge. Weights are read with
 *           cdag_exact_byte_communications only: bytes, the same at both ends.
 *  info, near
 *           as above.
 * Errors: ARGUMENT, TOPOLOGY, MISMATCH, MPI. */
TONARI_API int tonari_neighborhood_create_adjacent(MPI_Comm comm, int indegree, const int sources[],
                                                   const int* sourceweights, int outdegree,
                                                   const int destinations[], const int* destweights,
                                                   MPI_Info info, tonari_neighborhood* near);

/* [collective] The same where ranks know whom they send to, but not who sends to them: the library
 * finds the sources (as tonari_sparse_alltoallv in sparse.h does). tonari_neighborhood_degrees and
 * tonari_neighborhood_ranks tell them. They are ascending, and each is there as often as it lists
 * this rank. The k-th block that a rank sends here is the k-th from there.
 *  outdegree, destinations
 *           this rank's targets, as above.
 *  info     as above, without cdag_exact_byte_communications, since there are no weights.
 * Errors: ARGUMENT, TOPOLOGY, MISMATCH, MPI. */
TONARI_API int tonari_neighborhood_create_from_destinations(MPI_Comm comm, int outdegree,
                                                            const int destinations[], MPI_Info info,
                                                            tonari_neighborhood* near);

/* [collective] The neighborhood of a communicator with a Cartesian, graph or distributed-graph
 * topology. Blocks are in the order of MPI 4.1, 8.6. Cartesian communicators have two per
 * dimension, first the neighbor at -1, then the one at +1. What is sent towards -1 arrives as the
 * block from +1, also in periodic dimensions of one or two ranks.
 * Errors: ARGUMENT, TOPOLOGY, MISMATCH, MPI. */
TONARI_API int tonari_neighborhood_create_from_comm(MPI_Comm comm, MPI_Info info,
                                                    tonari_neighborhood* near);

/* Promises are keys in the info of a neighborhood (Hoefler and Schneider 2012, "Optimization
 * Principles for Collective Neighborhood Communications", section II). Their values are "true" or
 * "false" (default), the same on all ranks (checked). What a program promises is done ahead of time
 * and need not be asked again. A broken promise is the error TONARI_ERR_PROMISE, never wrong data.
 *  (none)   The topology is known. Schedules, trees and colors are planned once and kept. One-shot
 *           calls connect the neighbors once, and ask nobody from then on. Only if an algorithm, a
 *           channel or tonari_progress=thread is asked for, a one-shot call asks all ranks once
 *           whether an exchange that was prepared before can be used again. That is one reduction
 *           of about 250 bytes. Otherwise it prepares one, which takes a second question. It also
 *           takes an exchange of sizes, unless all blocks have one size, or the same sizes by
 *           number on all ranks of a grid.
 *  cdag_strict_communication
 *           Communication goes along the edges of the topology only: no block is forwarded over a
 *           rank that is no neighbor. So the MPI needs neither connections nor eager buffers
 *           between other ranks. Algorithms whose messages leave the edges are not used, and
 *           refused if they are asked for by name. Agreements among all ranks, where there are any,
 *           still take MPI's collectives. While the neighborhood is made, planning may ask ranks
 *           that are no neighbors. No exchange does.
 *  cdag_exact_byte_communications
 *           The sizes are known. The weight of an edge is the number of bytes of every block that
 *           travels along it, in an all-to-all as in an allgather. Weights are needed, not
 *           negative, and the same at both ends (checked: MISMATCH names both ranks and both
 *           weights). Offsets and Cartesian and graph communicators have none (ARGUMENT).
 *           Weights are int, as in MPI, so blocks of 2 GiB and more cannot be promised.
 *           Both collectives are planned and chosen when the neighborhood is made. Forwarding ranks
 *           learn the sizes there for what was chosen, so one-shot calls exchange no sizes. Nor do
 *           requests, with one exception: those that measure (tonari_tune auto and measure) let
 *           forwarding ranks learn the sizes for every other candidate, once on each neighborhood.
 *           An allgather whose edges are promised different sizes cannot keep the promise. An init
 *           with other sizes fails on all ranks, a one-shot call on the rank and its neighbors; the
 *           sentence names rank, block, and both sizes.
 *  cdag_static_buffers
 *           The buffers are known. All calls of one operation on this neighborhood have the same
 *           buffers, counts and types (alltoall, alltoallv, ... each for itself). The first call,
 *           one-shot or init, binds them, and they must stay as long as the neighborhood. Later
 *           one-shot calls of the operation make no collective call and allocate nothing.
 *           A rank that comes with other arguments takes part with the bound ones, so that the
 *           others are not held up. It returns PROMISE when the exchange is complete, and no
 *           request. An init with other arguments fails on all ranks. An exchange of an operation
 *           must be complete before the next is called: a call that comes too early completes both
 *           and returns ACTIVE.
 * These keys are no promises:
 *  tonari_schedule
 *           the name of a file that says which ranks pass on which blocks, as `tonari share
 *           --schedule` writes it. All requests and one-shot calls follow it, of all six
 *           operations, unless the info of a request names another tonari_algorithm; together with
 *           one in the info of the neighborhood it is an error (ALGORITHM). Every rank reads the
 *           file, and checks its part. A file that cannot be read, that is for another pattern, or
 *           that does not deliver every block once, is the error FILE. Files that differ between
 *           ranks are MISMATCH.
 *  tonari_connect_after (TONARI_CONNECT_AFTER)
 *           one-shot calls that go by plain messages before ranks connect (default 8); 0: ranks
 *           connect in the first one.
 */

/* [collective] Requests made on it stay valid: the last of them frees what they share. Sets *near
 * to null. */
TONARI_API int tonari_neighborhood_free(tonari_neighborhood* near);

/* Number of blocks this rank receives and sends in an all-to-all; each pointer may be NULL.
 * Local. */
TONARI_API int tonari_neighborhood_degrees(tonari_neighborhood near, int* indegree, int* outdegree);

/* Number of blocks this rank sends in an all-to-all. On isomorphic neighborhoods it is s, and also
 * what the rank receives. Local. */
TONARI_API int tonari_neighborhood_count(tonari_neighborhood near, int* s);

/* The rank to which send block i goes and the rank from which receive block i comes, MPI_PROC_NULL
 * if there is none. The arrays have outdegree and indegree ranks, or are NULL. Local. */
TONARI_API int tonari_neighborhood_ranks(tonari_neighborhood near, int targets[], int sources[]);

/* ---- Persistent operations --------------------------------------------------------------------
 *
 * [collective] All six prepare an exchange that can then be started any number of times. Arguments
 * are those of MPI_Neighbor_<operation>_init. Block i of the send buffer goes to neighbor i, and
 * block i of the receive buffer comes from neighbor i. Blocks may differ in size from each other.
 * Block i must have the same number of bytes on the sending and the receiving rank (checked). Send
 * and receive types may differ. Between start and end of a group (group.h) they are collected.
 *  sendbuf  not written; must not be changed between start and completion.
 *  recvbuf  complete after wait or a successful test. Between start and completion blocks in it may
 *           hold data on its way to other ranks. Init touches neither buffer.
 *           Send and receive blocks, and two receive blocks, must not overlap (checked). Blocks of
 *           one array that interleave are fine.
 *  sendbuf, recvbuf
 *           may be memory of a GPU of CUDA, on each rank for itself and each side for itself. All
 *           blocks of a side then are on one device. They are staged through pinned memory of the
 *           host, which the request holds; tonari_request_describe says so.
 *  info     keys. They override those of the neighborhood, and are overridden by the environment
 *           variable in parentheses. Values must be the same on all ranks (checked, except for the
 *           timeout). A key that begins with tonari_ or cdag_ and does not exist is an ARGUMENT
 *           error. docs/settings.md lists all keys and variables; of those for these calls:
 *             tonari_algorithm (TONARI_ALGORITHM)
 *                 auto (default), linear, native, irecv; on isomorphic neighborhoods torus,
 *                 torus-direct, additive-basis, joint-basis; on graphs coloring, tree, node-aware,
 *                 common-neighborhood, store-and-forward, message-sharing, balanced. All except
 *                 auto, native and irecv may go on with a variant (balanced/both ends). What is
 *                 named runs wherever it is possible; tonari_request_describe says why it is not
 *                 expected to pay, if so.
 *             tonari_channel (TONARI_CHANNEL)
 *                 auto (default); p2p-typed (zero copy, Träff 2016, section 3.3); p2p-packed;
 *                 shared: between ranks of one node through shared memory, else p2p-packed;
 *                 onesided: by windows (MPI_Put); shared+onesided. If memory cannot be shared or
 *                 windows cannot be made, it is p2p-packed, and tonari_request_describe says why.
 *                 device-handles: blocks on devices of one node, from device to device; where it
 *                 cannot be, an error says why. Blocks of the host go as with auto.
 *             tonari_tune (TONARI_TUNE)
 *                 online (default): init measures nothing, and the first starts (up to about 330)
 *                 try what is promising on the program's own exchanges; auto: measure a pattern met
 *                 for the first time, within a small budget; both then remember; off: a fixed rule;
 *                 model: cost model only; measure: measure again, and longer. With online, a few of
 *                 these exchanges are complete only when all ranks have started them, and until
 *                 the decision the request holds the memory of up to eight exchanges. Later
 *                 requests of the pattern try what is expensive to connect, once each, beside the
 *                 winner. Grids, vectors, groups and blocks choose so, too. Exchanges in place, and
 *                 requests with a progress thread or cdag_static_buffers take auto instead;
 *                 one-shot calls use what was remembered, else the model.
 *             tonari_ports (TONARI_PORTS)
 *                 at most this many messages in each direction at a time; 0 (default): no limit.
 *             tonari_progress (TONARI_PROGRESS)
 *                 calls (default): in test and wait; thread: by a thread that the neighborhood's
 *                 requests with this key share, and so for grids, vectors and exchanges in place.
 *                 It needs MPI_THREAD_MULTIPLE (ARGUMENT else), and ends with the last of them.
 *             tonari_recv_view (no variable)
 *                 no (default); yes: blocks may stay where they arrive, see
 *                 tonari_request_recv_view. One-shot calls ignore it.
 *             tonari_ready (TONARI_READY)
 *                 how a sender learns that it may write to windows (Hoefler 2012, section II-C2):
 *                 auto (default); each: every receiver tells it; tree/N, N from 2 to 64: receivers
 *                 tell it together, by a tree of degree N.
 *             tonari_canary (TONARI_CANARY)
 *                 up to how many bytes a message tells by its own bytes that it is complete
 *                 (section II-C3); 0: never. Default: 512 in shared memory, 256 in windows. At most
 *                 1 MiB and 16 KiB are taken.
 *             tonari_timeout (TONARI_TIMEOUT)
 *                 seconds (default 10) after which a rank that waits checks whether the others of
 *                 its node still live. If not, test and wait return PEER. A rank that
 *                 waits for one that is merely slow goes on waiting.
 *  request  owned by the caller, who frees it with tonari_request_free.
 * Errors: ARGUMENT, MISMATCH (names rank, block and both sizes), OVERFLOW, BUFFERS, ALGORITHM,
 * MEMORY, PROMISE, MPI. */
TONARI_API int tonari_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                    tonari_neighborhood near, MPI_Info info,
                                    tonari_request* request);
TONARI_API int tonari_alltoallv_init(const void* sendbuf, const int sendcounts[],
                                     const MPI_Aint senddispls[], MPI_Datatype sendtype,
                                     void* recvbuf, const int recvcounts[],
                                     const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                     tonari_neighborhood near, MPI_Info info,
                                     tonari_request* request);
TONARI_API int tonari_alltoallw_init(const void* sendbuf, const int sendcounts[],
                                     const MPI_Aint senddispls[], const MPI_Datatype sendtypes[],
                                     void* recvbuf, const int recvcounts[],
                                     const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                     tonari_neighborhood near, MPI_Info info,
                                     tonari_request* request);
/* The one send block goes to all neighbors. */
TONARI_API int tonari_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                     void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                     tonari_neighborhood near, MPI_Info info,
                                     tonari_request* request);
TONARI_API int tonari_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, const int recvcounts[],
                                      const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                      tonari_neighborhood near, MPI_Info info,
                                      tonari_request* request);
TONARI_API int tonari_allgatherw_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, const int recvcounts[],
                                      const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                      tonari_neighborhood near, MPI_Info info,
                                      tonari_request* request);

/* ---- One-shot operations ----------------------------------------------------------------------
 *
 * [collective] The same six as one-shot calls, with the arguments of MPI_Neighbor_<operation> and
 * MPI_Ineighbor_<operation>. The first form returns when the exchange is complete on this rank. The
 * second, with i, returns a request that is started already. Complete it with tonari_test or
 * tonari_wait, then free it; it cannot be started again. Any number may be in flight. As in MPI,
 * what one of them receives into must not be touched by the others.
 * All blocks for one rank travel in one message, straight to it, through shared memory on a node,
 * else by the MPI (Hoefler and Schneider 2012, section II: what does not depend on sizes and
 * buffers is set up before). Between nodes, short blocks of the regular forms may be combined
 * (tonari_tune; the call that connects then times both ways). The first calls on a neighborhood go
 * by the MPI, on a node too; the one after tonari_connect_after calls connects the neighbors. That
 * one and the first one are collective as all functions here; the first one reads the environment.
 * All others ask no other rank, and compare what they need to on the way:
 *  - If a rank passes wrong arguments, it and its neighbors (those it sends blocks to, or gets
 *    blocks from) return the same code and sentence. The others complete. Where a block has another
 *    size at its two ends, or these call all-to-all and allgather, both ends return MISMATCH. What
 *    the receive buffers of ranks with an error hold then is undefined.
 *  - Where no edge leads back, a sender may hear of its receiver's error in a later call. That call
 *    has exchanged its own blocks all the same.
 *  - A call that fails so waits for its neighbors like one that succeeds, also a non-blocking one
 *    whose own arguments are wrong. The error of a neighbor comes from tonari_test or tonari_wait.
 *  - The neighborhood can be used again afterwards, unless the error is PEER or MPI, or MISMATCH
 *    because some ranks' blocks were combined and others' were not, or an active request was freed.
 *  - Ranks that make a persistent request where others make a one-shot call are not told, except in
 *    the first call. As with MPI's own collectives, they may wait for ever.
 * A call with the counts, displacements and types of one of the last 16 allocates nothing and, on a
 * node whose ranks are connected, calls no MPI function, wherever its buffers are. If
 * tonari_algorithm, tonari_channel or tonari_progress=thread are asked for when a neighborhood's
 * first call is made, or with cdag_static_buffers, calls are agreed upon by all ranks as above.
 * With tonari_tune online, auto and measure such a call uses what was remembered, else the model. A
 * neighborhood keeps the last 8 exchanges so prepared. A call that comes again runs one that no
 * rank is using: it has the same operation, buffers, counts, displacements, and types of the same
 * layout.
 * Errors: as init; PROMISE. Where the exchange itself fails (MPI) ranks differ. */
TONARI_API int tonari_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                               void* recvbuf, int recvcount, MPI_Datatype recvtype,
                               tonari_neighborhood near);
TONARI_API int tonari_ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                tonari_neighborhood near, tonari_request* request);
TONARI_API int tonari_alltoallv(const void* sendbuf, const int sendcounts[],
                                const MPI_Aint senddispls[], MPI_Datatype sendtype, void* recvbuf,
                                const int recvcounts[], const MPI_Aint recvdispls[],
                                MPI_Datatype recvtype, tonari_neighborhood near);
TONARI_API int tonari_ialltoallv(const void* sendbuf, const int sendcounts[],
                                 const MPI_Aint senddispls[], MPI_Datatype sendtype, void* recvbuf,
                                 const int recvcounts[], const MPI_Aint recvdispls[],
                                 MPI_Datatype recvtype, tonari_neighborhood near,
                                 tonari_request* request);
TONARI_API int tonari_alltoallw(const void* sendbuf, const int sendcounts[],
                                const MPI_Aint senddispls[], const MPI_Datatype sendtypes[],
                                void* recvbuf, const int recvcounts[], const MPI_Aint recvdispls[],
                                const MPI_Datatype recvtypes[], tonari_neighborhood near);
TONARI_API int tonari_ialltoallw(const void* sendbuf, const int sendcounts[],
                                 const MPI_Aint senddispls[], const MPI_Datatype sendtypes[],
                                 void* recvbuf, const int recvcounts[], const MPI_Aint recvdispls[],
                                 const MPI_Datatype recvtypes[], tonari_neighborhood near,
                                 tonari_request* request);
TONARI_API int tonari_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                tonari_neighborhood near);
TONARI_API int tonari_iallgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                 tonari_neighborhood near, tonari_request* request);
TONARI_API int tonari_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, const int recvcounts[], const MPI_Aint recvdispls[],
                                 MPI_Datatype recvtype, tonari_neighborhood near);
TONARI_API int tonari_iallgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, const int recvcounts[],
                                  const MPI_Aint recvdispls[], MPI_Datatype recvtype,
                                  tonari_neighborhood near, tonari_request* request);
TONARI_API int tonari_allgatherw(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, const int recvcounts[], const MPI_Aint recvdispls[],
                                 const MPI_Datatype recvtypes[], tonari_neighborhood near);
TONARI_API int tonari_iallgatherw(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, const int recvcounts[],
                                  const MPI_Aint recvdispls[], const MPI_Datatype recvtypes[],
                                  tonari_neighborhood near, tonari_request* request);

/* Starts the exchange and returns at once. Every rank of the neighborhood must start it. Allocates
 * nothing, makes no collective call. With send blocks in memory of a GPU it returns when these are
 * packed into memory of the host; what writes them must be complete before.
 * Errors: ARGUMENT (null, or of a one-shot call), ACTIVE (already started), MPI. */
TONARI_API int tonari_start(tonari_request request);
/* The same with other buffers than the request was made with: a solver can exchange any of its
 * vectors with one request. It takes requests of the six operations, whose blocks then lie at the
 * displacements from these buffers that they had from those of init, and of vectors (vector.h), in
 * the order in which their init takes owned values and ghosts. Everything else is as at init.
 * The buffers stay bound: a later tonari_start uses those of the last start.
 *  sendbuf, recvbuf
 *           as for init. Where displacements were absolute (MPI_BOTTOM at init), they are added to
 *           what is given here.
 * Local; each rank chooses its buffers for itself. But either all ranks start an exchange by this
 * call or none, since MPI's own collective (tonari_algorithm=native) has its persistent form for
 * the buffers of init only.
 * New buffers cost a look at whether they overlap, and a few ns per copy. A start with a pair of
 * buffers that the request has not seen may allocate. Messages by MPI point to point that lie in
 * the buffers have persistent requests for eight pairs; with more, Isend and Irecv are used. Where
 * messages have derived datatypes over both buffers, those are made anew then.
 * A side in memory of a GPU stays on that device.
 * Errors: those of tonari_start; ARGUMENT (a buffer is NULL, or in other memory than at init; the
 * request is in place, or has tonari_recv_view or cdag_static_buffers), BUFFERS (they overlap).
 * Then nothing was started, and the buffers of before stay bound. As with any rank that does not
 * start, the others wait until it does, with buffers that are right. After MEMORY and MPI only free
 * the request. */
TONARI_API int tonari_start_with(tonari_request request, const void* sendbuf, void* recvbuf);
/* Start and wait in the order of a stream of a GPU, for requests with blocks in its memory. A start
 * takes the blocks when its stream has done all that it holds by then: what writes to send blocks,
 * and what reads receive blocks of the last exchange, must come before it in that stream. What the
 * stream of the wait gets afterwards sees what has come. So the program need not wait for the GPU:
 *
 *     pack_my_fields<<<..., stream>>>(out);
 *     tonari_start_on(swap, stream);
 *     compute_interior<<<..., stream>>>(...);
 *     tonari_wait_on(swap, stream);
 *     compute_border<<<..., stream>>>(in);
 *
 *  stream   a cudaStream_t or CUstream of the device that has the blocks. Not one that is captured.
 * tonari_start_on puts a copy of the blocks into the stream and returns at once. The host does not
 * wait for that copy: tests and waits ask whether it is complete, and begin the exchange between
 * ranks then. Only after tonari_start_with it returns when the blocks are copied.
 * tonari_wait_on blocks the host until the exchange between ranks is complete, which waits for the
 * stream of the start. It puts a copy to the receive blocks into its stream, and does not wait for
 * that. Where blocks go from device to device (tonari_channel=device-handles), neither waits.
 * Each may be used with tonari_start, tonari_wait and tonari_test in the place of the other one.
 * As with all requests, send blocks may be replaced after the wait: by what its stream gets then,
 * or by what comes behind that. tonari_start may pack in a stream of the library.
 * Where a rank has no receive block in memory of a GPU, tonari_wait_on is tonari_wait; where it has
 * no send block at all, tonari_start_on is tonari_start. Ranks choose for themselves.
 * Errors: those of tonari_start and tonari_wait; ARGUMENT (send blocks that the host reads: wait
 * for the stream, and call tonari_start; a stream of another device), ACTIVE (the stream is
 * captured). After these nothing has happened. */
TONARI_API int tonari_start_on(tonari_request request, void* stream);
TONARI_API int tonari_wait_on(tonari_request request, void* stream);
/* *flag becomes 1 if the exchange is complete (also if the request is null or was not started),
 * else 0. Never blocks.
 * Errors: PEER, MPI. After them only free the request, and soon: others may wait for it.
 * Exchanges proceed in test and wait, of this request or of another. A rank may have to forward
 * blocks of others, and long messages through shared memory and windows need both ends. So every
 * rank that started must go on to test or wait until completion before it waits for others by other
 * means, such as MPI_Barrier. With tonari_progress=thread they proceed by themselves, and wait
 * sleeps until they are complete. With windows a test may take as long as MPI_Win_flush. */
TONARI_API int tonari_test(tonari_request request, int* flag);
TONARI_API int tonari_wait(tonari_request request);
/* All of n requests; null and inactive ones are skipped. waitall makes them progress together, so
 * any order is fine.
 * If one of them fails (PEER, MPI) all of them can be freed, active or not; those that have not
 * failed themselves may also be waited for. What is freed while active is given up for all ranks.
 */
TONARI_API int tonari_startall(int n, const tonari_request requests[]);
TONARI_API int tonari_waitall(int n, const tonari_request requests[]);
/* Local. Sets *request to null. A null request is fine. Errors: ACTIVE (wait for it first; the
 * request stays valid), but not after PEER and MPI. */
TONARI_API int tonari_request_free(tonari_request* request);

/* Where receive block `block` (as the program numbers receive blocks) can be read after an exchange
 * is complete, until the request's next start. With tonari_recv_view=yes contiguous blocks that
 * came through shared memory stay where they arrived and are not copied to the receive buffer. The
 * address then changes from exchange to exchange. All other blocks are in the receive buffer, and
 * address points there; for a block with a datatype that is not contiguous, to the block's
 * displacement. What a view shows must not be written. Local; allocates nothing.
 *  bytes    of the block; may be NULL.
 * Errors: ARGUMENT (null, no such block), ACTIVE (not complete yet, or never started). */
TONARI_API int tonari_request_recv_view(tonari_request request, int block, const void** address,
                                        MPI_Count* bytes);

/* With TONARI_REPORT in the environment of all ranks, MPI_Finalize prints a table of all requests
 * and one-shot calls: to standard error (1) or into a file (its name).
 *
 * What was chosen, from what, and why: a text of a few lines, owned by the request, valid until it
 * is freed; where starts choose (tonari_tune=online) or the exchange is in place, until the next
 * such call. While the request runs, a last line says what it waits for, and is valid until the
 * next such call. NULL if request is null. */
TONARI_API const char* tonari_request_describe(tonari_request request);

/* The same in machine-readable form. Local. Strings are owned by the request, and valid until it is
 * freed, whatever later calls say. */
typedef struct {
  const char* algorithm; /* name, as in tonari_algorithm */
  const char* variant;   /* "" or what tells it from the algorithm's other variants */
  const char* channel;   /* as in tonari_channel, or mpi for native */
  /* "", or "immediate" (Isend and Irecv instead of persistent requests), "segments of 4000"
   * (bytes), "single copy", "ready tree of 4" (one-sided: its degree) */
  const char* channel_detail;
  const char* reason;       /* forced, fixed rule, model, measured, wisdom, online */
  double predicted_seconds; /* by the cost model; 0 if it was not asked */
  double init_seconds;      /* what init took on this rank, measuring included */
  /* of the winner: maximum over ranks, between lower quartile and median over rounds; 0 if it was
   * not measured. With the reason online: mean over ranks of the time in calls, once the starts
   * have decided. Until then the candidate in front is reported. */
  double measured_seconds;
  int messages;            /* messages this rank sends per exchange, through whatever channel */
  int rounds;              /* D */
  MPI_Count bytes;         /* bytes this rank sends per exchange */
  MPI_Count scratch_bytes; /* memory this request holds for packing and for blocks on their way */
  /* With the reason online, once the starts have decided: time that this rank has lost to finding
   * out, beyond what the winner would have taken at these starts; else 0. */
  double lost_seconds;
  /* The most ranks that share a core on any node of the communicator; 1: each has its own. */
  int64_t ranks_per_core;
  int64_t reserved[7]; /* 0 */
} tonari_request_info;
TONARI_API int tonari_request_get_info(tonari_request request, tonari_request_info* info);

/* ---- In place ------------------------------------------------------------------------------- */

/* [collective over comm] All-to-all exchanges between all ranks of any intracommunicator, in which
 * what arrives takes the place of what was sent. Memory is bounded: no copy of the buffer exists
 * unless it fits into tonari_inplace_memory. Requests are started, tested, waited for and freed
 * like all others. With i in front of its name a call starts at once and cannot be started again.
 * The plain forms return when the exchange is complete on this rank. buf must not be touched in
 * between.
 *
 * The symmetric exchange is MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw with MPI_IN_PLACE. Block
 * j of buf goes to rank j and is overwritten by what rank j had for this rank, which must have the
 * same number of bytes (checked: MISMATCH names the pair). Types may differ between the ranks.
 * Blocks are swapped in pairs, in an order of Hofmann and Rünger 2013 ("In-Place Algorithms for the
 * Symmetric All-to-All Exchange with MPI"): section 3.1 (mpich-order), 3.2 (linear-shift) or 3.3
 * (hierarchical-sets, its halves cut along nodes).
 *
 * In the general exchange, alltoallv_inplace_general, send and receive counts and displacements
 * differ. Send blocks must not overlap each other, nor receive blocks; send and receive blocks may
 * overlap in any way. sendcounts[j] here equals recvcounts of this rank on rank j. Outside of the
 * receive blocks, what send blocks held is undefined afterwards; what belongs to no block is
 * untouched. Displacements count elements of `type`, whose elements must not overlap each other.
 * docs/explanation/in-place.md describes the algorithm, its bound, and why it ends.
 *
 * Errors besides the usual: BUFFERS if blocks that must not do overlap, or a type overlaps itself;
 * ARGUMENT for negative counts and displacements. Nothing has been moved then. Displacements are
 * not negative here: they are counted from buf.
 *
 * Info keys:
 *   tonari_inplace_memory (TONARI_INPLACE_MEMORY)
 *           bytes of temporary memory that this rank may use for blocks on their way, besides a few
 *           words per rank and chunk; default 1048576. 64K and 64KiB mean 65536; M, MiB, G and GiB
 *           go on likewise. It may differ between ranks. As many swaps overlap as fit. It is not
 *           exceeded, however small: 0 and 1 both mean a byte at a time. The words are not part of
 *           it: half a kilobyte for each partner, and in the general exchange more the smaller the
 *           budget. tonari_request_describe says how many bytes they took at most so far ("books").
 *   tonari_algorithm (TONARI_INPLACE_ALGORITHM)
 *           auto, mpich-order, linear-shift or hierarchical-sets
 *   tonari_channel (TONARI_CHANNEL)
 *           auto, shared (between ranks of a node), or p2p-packed; others are taken as the nearest
 *           of these
 *   tonari_tune (TONARI_TUNE)
 *           how an init of a symmetric exchange chooses what the two keys above leave open, MPI's
 *           own collective included. off and model: a fixed rule. auto (default): what is
 *           remembered; else it measures, on copies, if they fit into tonari_inplace_memory on all
 *           ranks; else the fixed rule. measure: as auto, but measure again, and longer, and where
 *           copies do not fit ON THE BUFFER ITSELF: its blocks are exchanged an even number of
 *           times, so init leaves it as it was unless it fails (MPI, PEER). No other thread may
 *           use it meanwhile. While init measures, it may hold tonari_inplace_memory three times:
 *           for copies, and for each channel. One-shot calls and the general exchange, which is
 *           done in one way only, measure nothing. The last symmetric one-shot exchange stays with
 *           the communicator, with its memory, until another takes its place. A call of the same
 *           form, counts, displacements, types and keys runs it on any buffer, after one reduction.
 *   tonari_timeout, tonari_progress
 *           as above. A rank that died is noticed where swaps go through shared memory; otherwise
 *           the MPI decides what happens. */
TONARI_API int tonari_alltoall_inplace_init(void* buf, int count, MPI_Datatype type, MPI_Comm comm,
                                            MPI_Info info, tonari_request* request);
TONARI_API int tonari_alltoallv_inplace_init(void* buf, const int counts[], const MPI_Aint displs[],
                                             MPI_Datatype type, MPI_Comm comm, MPI_Info info,
                                             tonari_request* request);
TONARI_API int tonari_alltoallw_inplace_init(void* buf, const int counts[], const MPI_Aint displs[],
                                             const MPI_Datatype types[], MPI_Comm comm,
                                             MPI_Info info, tonari_request* request);
TONARI_API int tonari_alltoallv_inplace_general_init(void* buf, const int sendcounts[],
                                                     const MPI_Aint senddispls[],
                                                     const int recvcounts[],
                                                     const MPI_Aint recvdispls[], MPI_Datatype type,
                                                     MPI_Comm comm, MPI_Info info,
                                                     tonari_request* request);
TONARI_API int tonari_ialltoall_inplace(void* buf, int count, MPI_Datatype type, MPI_Comm comm,
                                        MPI_Info info, tonari_request* request);
TONARI_API int tonari_ialltoallv_inplace(void* buf, const int counts[], const MPI_Aint displs[],
                                         MPI_Datatype type, MPI_Comm comm, MPI_Info info,
                                         tonari_request* request);
TONARI_API int tonari_ialltoallw_inplace(void* buf, const int counts[], const MPI_Aint displs[],
                                         const MPI_Datatype types[], MPI_Comm comm, MPI_Info info,
                                         tonari_request* request);
TONARI_API int tonari_ialltoallv_inplace_general(void* buf, const int sendcounts[],
                                                 const MPI_Aint senddispls[],
                                                 const int recvcounts[],
                                                 const MPI_Aint recvdispls[], MPI_Datatype type,
                                                 MPI_Comm comm, MPI_Info info,
                                                 tonari_request* request);
TONARI_API int tonari_alltoall_inplace(void* buf, int count, MPI_Datatype type, MPI_Comm comm,
                                       MPI_Info info);
TONARI_API int tonari_alltoallv_inplace(void* buf, const int counts[], const MPI_Aint displs[],
                                        MPI_Datatype type, MPI_Comm comm, MPI_Info info);
TONARI_API int tonari_alltoallw_inplace(void* buf, const int counts[], const MPI_Aint displs[],
                                        const MPI_Datatype types[], MPI_Comm comm, MPI_Info info);
TONARI_API int tonari_alltoallv_inplace_general(void* buf, const int sendcounts[],
                                                const MPI_Aint senddispls[], const int recvcounts[],
                                                const MPI_Aint recvdispls[], MPI_Datatype type,
                                                MPI_Comm comm, MPI_Info info);

#ifdef __cplusplus
}
#endif

#include <tonari/large_counts.h>

#endif
