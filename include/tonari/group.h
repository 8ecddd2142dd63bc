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

/* Opens a group: until tonari_group_end, calls of this thread that would make a persistent request
 * are collected instead. Those are the six of tonari.h, tonari_vector_forward_init and its sisters,
 * tonari_grid_exchange_init and tonari_grid_forward_init. All other calls act as usual, those on
 * blocks, too, but exchanges in place and reverse ones of grids cannot be collected (ARGUMENT).
 *  comm     any intracommunicator. Neighborhoods, vectors and grids of the group may be on others
 *           that have the same ranks in any order. It must live until tonari_group_end.
 * In a group such a call
 *  - is local. What it would find wrong, and where ranks differ, tonari_group_end says on all
 *    ranks; the call itself returns SUCCESS.
 *  - makes no request: `request` may be NULL, and *request becomes TONARI_REQUEST_NULL.
 *  - takes no keys: `info` is MPI_INFO_NULL. Only grids read tonari_halo_neighbors there; of the
 *    ways to exchange ghosts they take tonari_halo=plan, without mapped ghosts.
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
 * No call may receive into memory that another one sends from or receives into (checked: BUFFERS
 * names both calls). Neighborhoods, vectors and grids must live until here; vectors and
 * neighborhoods may be freed afterwards.
 * Errors: those of the calls, whose number the sentence names, counted from 0; MISMATCH (ranks made
 * different calls); ARGUMENT (no group is open: this rank then returns at once, and cannot tell the
 * others). The group is closed in any case. */
TONARI_API int tonari_group_end(MPI_Info info, tonari_request* request);

#ifdef __cplusplus
}
#endif
#endif
