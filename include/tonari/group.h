/* SPDX-License-Identifier: BSD-3-Clause */
/* tonari: many exchanges in one, with one message per neighbor. The C interface; include
 * <tonari/group.hpp> from C++.
 *
 *     tonari_group_start(comm);
 *     tonari_alltoall_init(out, 8, MPI_DOUBLE, in, 8, MPI_DOUBLE, near, MPI_INFO_NULL, NULL);
 *     tonari_vector_forward_init(vector, NULL, x, ghosts, MPI_INFO_NULL, NULL);
 *     tonari_grid_exchange_init(grid, 0, MPI_INFO_NULL, NULL);
 *     tonari_request all;
 *     tonari_group_end(MPI_INFO_NULL, &all);
 *     for (...) {
 *       tonari_start(all);
 *       compute_interior();
 *       tonari_wait(all);
 *     }
 *     tonari_request_free(&all);
 *
 * Conventions are those of tonari.h. A group belongs to the thread that starts it, as NCCL's does.
 */
#ifndef TONARI_GROUP_H
#define TONARI_GROUP_H

#include <tonari/tonari.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a group: until it is closed, calls of this thread that would make a persistent request are
 * collected instead. Those are the six of tonari.h, and all of vectors, grids and blocks: forward,
 * reverse, and those that combine. All other calls act as usual, but inits in place fail at once
 * (ARGUMENT).
 *  comm     any intracommunicator. Neighborhoods, vectors, grids and blocks of the group may be on
 *           others that have the same ranks in any order. It must live until the group is closed.
 * Three functions close a group: tonari_group_end makes a request, tonari_group_irun starts the
 * exchange at once, and tonari_group_run also waits for it.
 * In a group such a call
 *  - is local. What it would find wrong, and where ranks differ, the function that closes the group
 *    says on all ranks; the call itself returns SUCCESS.
 *  - makes no request: `request` may be NULL, and *request becomes TONARI_REQUEST_NULL.
 *  - takes no keys: `info` is MPI_INFO_NULL. Only grids read tonari_halo_neighbors there; of the
 *    ways to exchange ghosts they take tonari_halo=plan. Grids with mapped ghosts exchange beside
 *    the messages of the group: their ghosts are published, and messages to other nodes are their
 *    own. Copies take turns as ever (grid.h), so a group has one of each such grid.
 * All ranks make the same calls in the same order (checked).
 * Local. Errors: ARGUMENT, TOPOLOGY (an intercommunicator), ACTIVE (a group is open on this thread:
 * groups do not nest; tonari_group_end of that one will fail on all ranks). */
TONARI_API int tonari_group_start(MPI_Comm comm);

/* [collective over comm of tonari_group_start] Closes the group, and makes one request of all that
 * was collected: between two ranks there is one message for all calls, where an exchange goes
 * straight (a vector whose route has several hops has one for each hop). It is a request like all
 * others, but tonari_start_with and tonari_request_recv_view do not take it.
 *  info     keys of tonari_alltoall_init, for the exchange as a whole. Of what neighborhoods give
 *           their requests, only cdag_strict_communication counts: if one of them has it,
 *           messages go to neighbors of the group's calls only.
 *  request  as for tonari_alltoall_init. NULL gives the group up, which fails on all ranks.
 * No call may receive into memory that another one sends from or receives into, nor combine there
 * (checked: BUFFERS names both calls). Neighborhoods, vectors, grids and blocks must live until
 * here; all but grids may be freed afterwards.
 * Errors: those of the calls, whose number the sentence names, counted from 0; MISMATCH (ranks made
 * different calls); ARGUMENT (no group is open: this rank then returns at once, and cannot tell the
 * others). The group is closed in any case. */
TONARI_API int tonari_group_end(MPI_Info info, tonari_request* request);

/* [collective, as tonari_group_end] Closes the group, and exchanges at once, as ncclGroupEnd does,
 * for an exchange that comes once. What repeats should be a request: each of these calls prepares
 * everything anew, and that takes much longer than an exchange. Nothing is measured.
 *  irun: `request` is one of a non-blocking one-shot call: complete it by tonari_wait or
 *        tonari_test, then free it. It cannot be started again.
 *  run:  complete when it returns.
 * Errors: as tonari_group_end; also those of tonari_start and tonari_wait. */
TONARI_API int tonari_group_irun(MPI_Info info, tonari_request* request);
TONARI_API int tonari_group_run(MPI_Info info);

#ifdef __cplusplus
}
#endif
#endif
